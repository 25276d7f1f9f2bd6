package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/clock"
	"github.com/cronfence/cronfence/internal/localcloud/lambdaapi"
	"github.com/cronfence/cronfence/internal/localcloud/process"
	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// dispatcher is the built function, run as Lambda runs it: a process with a Runtime API.
type dispatcher struct {
	program  string
	lambda   *lambdaapi.Server
	endpoint string // of the emulator
	table    string
	starts   int
}

func newDispatcher(t *testing.T, cloud rig.Cloud) *dispatcher {
	t.Helper()
	program := filepath.Join(t.TempDir(), "bootstrap")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "lambda.norpc", "-o", program, "../../functions/dispatcher")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the dispatcher: %v\n%s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := lambdaapi.NewServer(clock.New(time.Now(), 1), listener)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := server.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return &dispatcher{program: program, lambda: server, endpoint: cloud.Endpoint}
}

// death is when the process is killed: at its nth request, before that is sent on or after it
// took effect and before the answer comes back. Zero: never.
type death struct {
	request int
	after   bool
}

func (d death) String() string {
	switch {
	case d.request == 0:
		return "not killed"
	case d.after:
		return fmt.Sprintf("killed after request %d", d.request)
	}
	return fmt.Sprintf("killed before request %d", d.request)
}

// deliver runs a new process for one event, to its end or to its death. It returns the
// requests that the process sent, the last one perhaps in vain.
func (d *dispatcher) deliver(t *testing.T, event schema.TickEvent, when death) (requests []string) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	p := &proxy{target: d.endpoint, when: when, kill: func() { cancel(process.ErrKilled) }, dead: make(chan struct{})}
	server := httptest.NewServer(p)
	defer server.Close()
	var log bytes.Buffer
	d.starts++
	name := fmt.Sprint("dispatcher-", d.starts)
	if err := d.lambda.Add(lambdaapi.Function{Name: name, ARN: "arn:" + name, Timeout: time.Minute, Program: &lambdaapi.Program{
		Path: d.program, Dir: t.TempDir(), Out: &log, Env: []string{
			"AWS_ENDPOINT_URL=" + server.URL, "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=moto", "AWS_SECRET_ACCESS_KEY=secret",
			"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull, "AWS_LAMBDA_FUNCTION_NAME=" + name,
			schema.EnvScheduler + "=" + scheduler, schema.EnvTable + "=" + d.table,
		},
	}}); err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := d.lambda.Invoke(ctx, name, payload)
	close(p.dead)
	if killed := ctx.Err() != nil; killed != (when.request > 0) || killed != (err != nil) {
		t.Fatalf("%v: the process sent %v and answered %s (%v)\n%s", when, p.sent(), answer, err, &log)
	}
	return p.sent()
}

// proxy passes requests on to the emulator until it kills the process that sends them.
type proxy struct {
	target string
	when   death
	kill   func()
	dead   chan struct{} // closed when the process is gone

	mu       sync.Mutex
	requests []string
}

func (p *proxy) sent() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.requests = append(p.requests, rig.Operation(r))
	last := len(p.requests) == p.when.request
	p.mu.Unlock()
	if last && !p.when.after {
		p.kill()
		<-p.dead
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	// Not in the request's context: what was sent arrives, whatever becomes of its sender.
	out, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, p.target+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	out.Header = r.Header
	resp, err := http.DefaultClient.Do(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	if last {
		p.kill()
		<-p.dead
		return
	}
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body) // nobody is left to tell
}
