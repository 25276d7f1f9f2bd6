package bench

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// tick is an event of EventBridge Scheduler for a job that is due now.
const tick = `{"job":"cleanup","tick":%q,"spec":{"version":"1.0","scheduler":"shop","job":"cleanup","schedule":"cron(* * * * ? *)",` +
	`"machine":"arn:aws:states:eu-west-1:123456789012:stateMachine:shop_cleanup","overlap":"skip","leaseSeconds":120,` +
	`"maxRunSeconds":45,"machineTimeoutSeconds":75,"startDeadlineSeconds":900},"delivery":{"executionId":"e","attempt":"1","scheduleArn":"a"}}`

// functions are those whose cold start is measured, the two that they are measured against first.
var functions = []string{"hello", "bare", "dispatcher", "heartbeat", "settler", "sentinel"}

// ColdStart is what each function's takes, in coldstart.json.
type ColdStart struct {
	Setting
	Samples   int        `json:"samples"` // of each function
	Functions []Function `json:"functions"`
}

// Function is the median of one function's cold starts, and what is deployed of it on arm64.
type Function struct {
	Name   string  `json:"name"`
	Millis float64 `json:"milliseconds"`
	CPU    float64 `json:"cpuMilliseconds"`
	Binary int64   `json:"binaryBytes"`
	Zip    int64   `json:"zipBytes"`
}

func (c *ColdStart) table() string {
	rows := [][]string{}
	hello, bare := c.Functions[0], c.Functions[1]
	for _, f := range c.Functions {
		times := func(of, all float64) string { return fmt.Sprintf("%.2f", of/all) }
		rows = append(rows, []string{
			f.Name, fmt.Sprintf("%.1f ms", f.Millis), times(f.Millis, hello.Millis), times(f.Millis, bare.Millis),
			fmt.Sprintf("%.1f ms", f.CPU), times(f.CPU, hello.CPU), times(f.CPU, bare.CPU),
			fmt.Sprintf("%.1f MB", float64(f.Binary)/(1<<20)), fmt.Sprintf("%.1f MB", float64(f.Zip)/(1<<20)),
		})
	}
	return fmt.Sprintf("%s. Medians of %d.\n\n", c.Setting, c.Samples) +
		tabulate([]string{"", "time", "x hello", "x bare", "CPU time", "x hello", "x bare", "binary (arm64)", "zip"}, rows)
}

func (c *ColdStart) broken() []string {
	const timesHello = 1.3
	millis := map[string]float64{}
	for _, f := range c.Functions {
		millis[f.Name] = f.Millis
	}
	var b bounds
	b.atMost("dispatcher's cold start, as a multiple of hello's,", millis["dispatcher"]/millis["hello"], timesHello)
	return b
}

// BenchmarkColdStart is the time from the start of a process to its first answer over the Lambda
// runtime API. The functions are built as they are deployed, and take turns, so that whatever
// else the machine does meets them alike. The dispatcher's first answer includes a claim and a
// start, which a server on loopback answers at once; hello and bare ask nobody. It reports the
// medians, of the time and of the process's own CPU time, which a busy machine changes less.
func BenchmarkColdStart(b *testing.B) {
	dir := b.TempDir()
	for _, name := range functions {
		build(b, name, runtime.GOARCH, filepath.Join(dir, name))
	}
	all := ColdStart{Setting: begin()}
	took, worked := map[string][]time.Duration{}, map[string][]time.Duration{}
	for b.Loop() {
		for _, name := range functions {
			wall, cpu := coldStart(b, filepath.Join(dir, name))
			took[name], worked[name] = append(took[name], wall), append(worked[name], cpu)
		}
	}
	all.LoadAfter, all.Samples = load(), b.N
	for _, name := range functions {
		f := Function{Name: name, Millis: median(took[name]), CPU: median(worked[name])}
		b.ReportMetric(f.Millis, name+"-ms")
		b.ReportMetric(f.CPU, name+"-cpu-ms")
		all.Functions = append(all.Functions, f)
	}
	if !*record {
		return
	}
	for i := range all.Functions {
		f := &all.Functions[i]
		f.Binary, f.Zip = sizes(b, f.Name, filepath.Join(dir, "bootstrap"))
	}
	write(b, "cold start", &all)
}

// median is in milliseconds.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}

// build builds a function as the constructs do.
func build(b *testing.B, name, architecture, program string) {
	b.Helper()
	pkg := "../functions/" + name
	if name == "hello" || name == "bare" {
		pkg = "./" + name
	}
	cmd := exec.Command("go", "build", "-tags", "lambda.norpc,timetzdata", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", program, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+architecture)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("build %s: %v\n%s", name, err, out)
	}
}

// sizes are those of a function as it is deployed, plain and zipped.
func sizes(b *testing.B, name, program string) (binary, zipped int64) {
	b.Helper()
	build(b, name, "arm64", program)
	text, err := os.ReadFile(program)
	if err != nil {
		b.Fatal(err)
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	file, err := w.Create("bootstrap")
	if err == nil {
		_, err = file.Write(text)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		b.Fatal(err)
	}
	return int64(len(text)), int64(archive.Len())
}

// coldStart starts the program, hands it one event and waits for its answer, whatever it is.
func coldStart(b *testing.B, program string) (wall, cpu time.Duration) {
	b.Helper()
	answered := make(chan time.Time, 1)
	handed := false
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(w http.ResponseWriter, r *http.Request) {
		if handed {
			<-r.Context().Done()
			return
		}
		handed = true
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", "1")
		w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(15*time.Second).UnixMilli()))
		_, _ = fmt.Fprintf(w, tick, time.Now().UTC().Truncate(time.Minute).Format(time.RFC3339))
	})
	mux.HandleFunc("POST /2018-06-01/runtime/", func(w http.ResponseWriter, r *http.Request) {
		now := time.Now()
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusAccepted)
		answered <- now
	})
	mux.HandleFunc("POST /{$}", func(w http.ResponseWriter, r *http.Request) { // DynamoDB and Step Functions
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, `{"executionArn":"arn","startDate":1}`)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()

	cmd := exec.Command(program)
	address := listener.Addr().String()
	cmd.Env = []string{
		"AWS_LAMBDA_RUNTIME_API=" + address, "AWS_ENDPOINT_URL=http://" + address, "AWS_REGION=eu-west-1",
		"AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret", "AWS_LAMBDA_FUNCTION_NAME=" + filepath.Base(program),
		"CRONFENCE_SCHEDULER=shop", "CRONFENCE_TABLE=shop", "CRONFENCE_GROUP=cronfence-shop",
	}
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	end := func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	select {
	case at := <-answered:
		end()
		return at.Sub(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	case <-time.After(time.Minute):
		end()
		b.Fatalf("%s did not answer: %s", program, log.String())
		return 0, 0
	}
}
