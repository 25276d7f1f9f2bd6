//go:build unix

package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func run(ctx context.Context, t *testing.T, line string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	h := &Handler{Job: "cleanup", Line: line, Env: os.Environ(), Out: &out, Wait: 300 * time.Millisecond}
	_, err := h.Handle(ctx, json.RawMessage(`{"job":"cleanup"}`))
	return out.String(), err
}

func TestTheCommandGetsTheRunAndItsLinesAreNamed(t *testing.T) {
	got, err := run(t.Context(), t, `echo "$CRONFENCE_RUN"; echo two >&2; printf three`)
	if err != nil {
		t.Fatal(err)
	}
	if want := "[cleanup] {\"job\":\"cleanup\"}\n[cleanup] two\n[cleanup] three\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnExitStatusIsATypedError(t *testing.T) {
	_, err := run(t.Context(), t, "exit 3")
	var typed messages.InvokeResponse_Error
	if !errors.As(err, &typed) || typed.Type != ErrorFailed || !strings.Contains(typed.Message, "exit status 3") {
		t.Errorf("got %v", err)
	}
}

func TestSIGTERMIsTheStop(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	got, err := run(ctx, t, `trap 'echo stopping; exit 0' TERM; sleep 30 & wait`)
	if err == nil || !strings.Contains(got, "stopping") {
		t.Errorf("got %q, %v; want the trap's line and an error", got, err)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	for _, tt := range []struct{ name, line string }{
		{"deaf to SIGTERM", `trap '' TERM; sleep 30 & echo $! >"$PIDFILE"; wait; sleep 30`},
		{"ended with a child in the background", `sleep 30 & echo $! >"$PIDFILE"; exit 0`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			t.Setenv("PIDFILE", file)
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, _ = run(ctx, t, tt.line)
			if d := time.Since(began); d > 5*time.Second {
				t.Errorf("ending took %v", d)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			if !gone(pid) {
				t.Errorf("process %d is still there", pid)
			}
		})
	}
}

// Whether a child in the background keeps the output open says nothing of the command.
func TestExitStatus0IsSuccessWhateverIsLeftRunning(t *testing.T) {
	for _, line := range []string{`sleep 30 & echo done; exit 0`, `sleep 30 >/dev/null 2>&1 & echo done`} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		got, err := run(ctx, t, line)
		if err != nil || ctx.Err() != nil || got != "[cleanup] done\n" {
			t.Errorf("%s: got %q, %v", line, got, err)
		}
		cancel()
	}
}

// A group that is stopped has its grace also when the shell that leads it ends first.
func TestAChildHasTheGrace(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	got, err := run(ctx, t, `sh -c 'trap "sleep 0.1; echo tidied; exit" TERM; sleep 30 & wait' & wait`)
	if err == nil || !strings.Contains(got, "tidied") {
		t.Errorf("got %q, %v", got, err)
	}
}

// gone waits a little for a killed process to be collected by whoever inherited it.
func gone(pid int) bool {
	for range 100 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func zombie(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(stat), ") Z ")
}
