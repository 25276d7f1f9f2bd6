package bench

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// tick is an event of EventBridge Scheduler for a job that is due now.
const tick = `{"job":"cleanup","tick":%q,"spec":{"version":"1.0","scheduler":"shop","job":"cleanup","schedule":"cron(* * * * ? *)",` +
	`"machine":"arn:aws:states:eu-west-1:123456789012:stateMachine:shop_cleanup","overlap":"skip","leaseSeconds":120,` +
	`"maxRunSeconds":45,"machineTimeoutSeconds":75,"startDeadlineSeconds":900},"delivery":{"executionId":"e","attempt":"1","scheduleArn":"a"}}`

// BenchmarkColdStart is the time from the start of a process to its first answer over the Lambda
// runtime API. The functions are built as they are deployed, and take turns, so that whatever
// else the machine does meets them alike. The dispatcher's first answer includes a claim and a
// start, which a server on loopback answers at once; hello and bare ask nobody. It reports the
// medians, of the time and of the process's own CPU time, which a busy machine changes less.
func BenchmarkColdStart(b *testing.B) {
	dir := b.TempDir()
	names := []string{"hello", "bare", "dispatcher", "heartbeat", "settler", "sentinel"}
	for _, name := range names {
		pkg := "../functions/" + name
		if name == "hello" || name == "bare" {
			pkg = "./" + name
		}
		build := exec.Command("go", "build", "-tags", "lambda.norpc,timetzdata", "-trimpath", "-ldflags", "-s -w -buildid=", "-o", filepath.Join(dir, name), pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	took, worked := map[string][]time.Duration{}, map[string][]time.Duration{}
	for b.Loop() {
		for _, name := range names {
			wall, cpu := coldStart(b, filepath.Join(dir, name))
			took[name], worked[name] = append(took[name], wall), append(worked[name], cpu)
		}
	}
	for what, of := range map[string]map[string][]time.Duration{"": took, "cpu-": worked} {
		median := func(name string) time.Duration { slices.Sort(of[name]); return of[name][len(of[name])/2] }
		hello := median("hello")
		for _, name := range names {
			b.ReportMetric(float64(median(name).Microseconds())/1000, name+"-"+what+"ms")
			b.ReportMetric(float64(median(name))/float64(hello), what+name+"/hello")
		}
	}
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
