//go:build unix

package lambdaapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/cronfence/cronfence/internal/localcloud/clock"
	"github.com/cronfence/cronfence/internal/localcloud/lambdaapi"
)

// TestMain is also the program that the tests run as a function's bootstrap.
func TestMain(m *testing.M) {
	switch os.Getenv("PROGRAM") {
	case "function":
		fmt.Println("started")
		lambda.Start(behave)
	case "broken":
		os.Exit(3)
	}
	os.Exit(m.Run())
}

type order struct{ Do string }

func behave(o order) (map[string]any, error) {
	switch o.Do {
	case "fail":
		return nil, errors.New("no")
	case "exit":
		os.Exit(4)
	case "hang":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("pid", os.Getpid())
		select {}
	}
	return map[string]any{"mine": os.Getenv("MINE")}, nil
}

// lines is what functions write.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// pid is the process number that a hanging function writes.
func (l *lines) pid(t *testing.T) int {
	t.Helper()
	_, rest, _ := strings.Cut(l.String(), "pid ")
	pid, err := strconv.Atoi(strings.Fields(rest + " none")[0])
	if err != nil {
		t.Fatalf("no process number in %q", l.String())
	}
	return pid
}

func program(t *testing.T, kind string, timeout time.Duration, out *lines) lambdaapi.Function {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return lambdaapi.Function{Name: "f", ARN: "arn:f", Timeout: timeout, Program: &lambdaapi.Program{
		Path: self, Dir: t.TempDir(), Env: []string{"PROGRAM=" + kind, "MINE=yes"}, Out: out,
	}}
}

func TestAFunctionRunsAsBuilt(t *testing.T) {
	out := &lines{}
	s := newServer(t, 1, program(t, "function", time.Minute, out))
	if got, err := s.Invoke(t.Context(), "f", []byte(`{}`)); err != nil || string(got) != `{"mine":"yes"}` {
		t.Fatalf("got %s, %v", got, err)
	}
	if _, err := s.Invoke(t.Context(), "f", []byte(`{"do":"fail"}`)); errorType(err) != "errorString" {
		t.Errorf("got %v", err)
	}
	if got := out.String(); !strings.HasPrefix(got, "[f] started\n") {
		t.Errorf("it wrote %q", got)
	}
}

func TestAProcessThatEndsIsAnError(t *testing.T) {
	s := newServer(t, 1, program(t, "function", time.Minute, &lines{}))
	if _, err := s.Invoke(t.Context(), "f", []byte(`{"do":"exit"}`)); errorType(err) != "Runtime.ExitError" || !strings.Contains(err.Error(), "exit status 4") {
		t.Errorf("got %v", err)
	}
	if _, err := s.Invoke(t.Context(), "f", []byte(`{}`)); err != nil {
		t.Errorf("the next invocation gets no new process: %v", err)
	}
}

func TestAProgramThatDoesNotStart(t *testing.T) {
	s := newServer(t, 1, program(t, "broken", time.Minute, &lines{}))
	if _, err := s.Invoke(t.Context(), "f", []byte(`{}`)); errorType(err) != "Runtime.ExitError" {
		t.Errorf("got %v", err)
	}
}

// As on AWS the environment is killed with the invocation that takes too long.
func TestATimeoutKillsTheProcess(t *testing.T) {
	out := &lines{}
	s := newServer(t, 1, program(t, "function", 500*time.Millisecond, out))
	ended := make(chan struct{})
	_, err := s.InvokeWatched(t.Context(), "f", []byte(`{"do":"hang"}`), lambdaapi.Watch{Working: func(n int) {
		if n < 0 {
			close(ended)
		}
	}})
	if errorType(err) != "Sandbox.Timedout" {
		t.Errorf("got %v", err)
	}
	<-ended
	if pid := out.pid(t); !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		t.Errorf("process %d is still there", pid)
	}
}

func TestCloseEndsTheProcesses(t *testing.T) {
	out := &lines{}
	s := lambdaapi.NewServer(clock.New(noon, 1), loopback(t))
	if err := s.Add(program(t, "function", time.Hour, out)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := s.Invoke(ctx, "f", []byte(`{"do":"hang"}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if pid := out.pid(t); !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		t.Errorf("process %d is left behind", pid)
	}
}

func errorType(err error) string {
	var failed *lambdaapi.FunctionError
	if errors.As(err, &failed) {
		return failed.Type
	}
	return ""
}
