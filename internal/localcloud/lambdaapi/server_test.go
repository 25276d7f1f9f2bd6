package lambdaapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"go.uber.org/goleak"

	"github.com/cronfence/cronfence/internal/localcloud/clock"
	"github.com/cronfence/cronfence/internal/localcloud/lambdaapi"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

var noon = time.Date(2026, 9, 7, 12, 0, 0, 0, time.UTC)

func newServer(t *testing.T, speed float64, functions ...lambdaapi.Function) *lambdaapi.Server {
	t.Helper()
	s := lambdaapi.NewServer(clock.New(noon, speed), loopback(t))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t)
	})
	for _, f := range functions {
		if err := s.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestAnswersCrossAsBytes(t *testing.T) {
	type event struct{ Number json.Number }
	s := newServer(t, 1, lambdaapi.Function{Name: "echo", ARN: "arn:echo", Handler: func(ctx context.Context, e event) (map[string]any, error) {
		lc, _ := lambdacontext.FromContext(ctx)
		return map[string]any{"got": e.Number, "arn": lc.InvokedFunctionArn, "text": "<a>"}, nil
	}})
	got, err := s.Invoke(t.Context(), "echo", []byte(`{"number":12345678901234567890}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"arn":"arn:echo","got":12345678901234567890,"text":"<a>"}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestErrorsHaveTheNamesThatStepFunctionsSees(t *testing.T) {
	typed := messages.InvokeResponse_Error{Type: schema.ErrorLeaseLost, Message: "taken over"}
	for _, tt := range []struct {
		name, wantType, wantMessage string
		handler                     func() error
	}{
		{"typed value", "Cronfence.LeaseLost", "taken over", func() error { return typed }},
		{"pointer to it", "InvokeResponse_Error", "", func() error { return &typed }},
		{"wrapped", "wrapError", "", func() error { return fmt.Errorf("beat: %w", typed) }},
		{"plain", "errorString", "no", func() error { return errors.New("no") }},
		{"panic with text", "string", "ouch", func() error { panic("ouch") }},
		{"panic with a typed value", "Cronfence.LeaseLost", "taken over", func() error { panic(typed) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, 1, lambdaapi.Function{Name: "f", Handler: tt.handler})
			for range 2 { // the instance survives
				_, err := s.Invoke(t.Context(), "f", []byte(`{}`))
				var failed *lambdaapi.FunctionError
				if !errors.As(err, &failed) {
					t.Fatalf("got %v, want a function error", err)
				}
				if failed.Type != tt.wantType || (tt.wantMessage != "" && failed.Message != tt.wantMessage) {
					t.Errorf("got type %q and message %q, want %q and %q", failed.Type, failed.Message, tt.wantType, tt.wantMessage)
				}
				if !strings.Contains(failed.Payload, `"errorType":"`+tt.wantType+`"`) {
					t.Errorf("payload %s does not hold the error's type", failed.Payload)
				}
			}
		})
	}
}

func TestConcurrentInvocationsRunSideBySide(t *testing.T) {
	const n = 8
	var running, most atomic.Int64
	arrived := make(chan struct{}, n)
	release := make(chan struct{})
	s := newServer(t, 1)
	err := s.Add(lambdaapi.Function{Name: "f", Handler: func() error {
		arrived <- struct{}{}
		<-release
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			_, err := s.InvokeWatched(t.Context(), "f", []byte(`{}`), lambdaapi.Watch{Working: func(n int) {
				most.Store(max(most.Load(), running.Add(int64(n))))
			}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for range n {
		<-arrived
	}
	close(release)
	wg.Wait()
	if most.Load() != n || running.Load() != 0 {
		t.Errorf("at most %d ran at once and %d still run, want %d and none", most.Load(), running.Load(), n)
	}
}

func TestTheTimeoutIsLocalTime(t *testing.T) {
	deadlines := make(chan time.Duration, 1)
	s := newServer(t, 600, lambdaapi.Function{Name: "slow", Timeout: time.Minute, Handler: func(ctx context.Context) error {
		at, _ := ctx.Deadline()
		deadlines <- at.Sub(noon)
		<-ctx.Done()
		time.Sleep(20 * time.Millisecond) // answers late: the loop must survive that
		return ctx.Err()
	}})
	began := time.Now()
	_, err := s.Invoke(t.Context(), "slow", []byte(`{}`))
	var failed *lambdaapi.FunctionError
	if !errors.As(err, &failed) || failed.Type != "Sandbox.Timedout" {
		t.Errorf("got %v, want Sandbox.Timedout", err)
	}
	if real := time.Since(began); real < 90*time.Millisecond || real > 3*time.Second {
		t.Errorf("a minute at speed 600 took %v", real)
	}
	if at := <-deadlines; at < time.Minute || at > 2*time.Minute {
		t.Errorf("the handler's deadline is %v after the clock's start, want about 1m", at)
	}
}

func TestOnlyStoppableWorkEndsWithItsCaller(t *testing.T) {
	for _, stoppable := range []bool{true, false} {
		t.Run(fmt.Sprint("stoppable ", stoppable), func(t *testing.T) {
			arrived, ended := make(chan struct{}), make(chan struct{})
			s := newServer(t, 1, lambdaapi.Function{Name: "f", Stoppable: stoppable, Handler: func(ctx context.Context) error {
				close(arrived)
				<-ctx.Done()
				close(ended)
				return nil
			}})
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-arrived; cancel() }()
			if _, err := s.Invoke(ctx, "f", []byte(`{}`)); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want the context's error", err)
			}
			select {
			case <-ended:
				if !stoppable {
					t.Error("the function was stopped, as no Lambda function can be")
				}
			case <-time.After(100 * time.Millisecond):
				if stoppable {
					t.Error("the work goes on without its caller")
				}
			}
		})
	}
}

func TestCloseCancelsWhatRuns(t *testing.T) {
	s := lambdaapi.NewServer(clock.New(noon, 1), loopback(t))
	arrived := make(chan struct{})
	if err := s.Add(lambdaapi.Function{Name: "f", Handler: func(ctx context.Context) error {
		close(arrived)
		<-ctx.Done()
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error)
	go func() {
		_, err := s.Invoke(context.Background(), "f", []byte(`{}`))
		answered <- err
	}()
	<-arrived
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	<-answered
	if _, err := s.Invoke(t.Context(), "f", nil); err == nil {
		t.Error("a closed server still runs functions")
	}
	goleak.VerifyNone(t)
}

func TestUnknownFunctionsAreNamed(t *testing.T) {
	s := newServer(t, 1)
	_, err := s.Invoke(t.Context(), "nobody", nil)
	if !errors.Is(err, lambdaapi.ErrNoFunction) || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("got %v", err)
	}
}

// loopback listens on a free port of 127.0.0.1.
func loopback(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestInvocationsSideBySideGetTheirOwnAnswers(t *testing.T) {
	s := newServer(t, 1, lambdaapi.Function{Name: "echo", Handler: func(_ context.Context, text string) (string, error) { return text, nil }})
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			event := []byte(strconv.Quote(strings.Repeat(strconv.Itoa(i), 2000)))
			for range 200 {
				if answer, err := s.Invoke(t.Context(), "echo", event); err != nil || !bytes.Equal(answer, event) {
					t.Errorf("%v: asked %.9s..., got %.9s...", err, event, answer)
					return
				}
			}
		})
	}
	all.Wait()
}

// Work that nobody waits for any more goes on, as in Lambda, and how it ends is told.
func TestTheEndOfWorkThatWasLeftIsTold(t *testing.T) {
	leave, release, late := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	s := newServer(t, 1, lambdaapi.Function{Name: "f", Handler: func() error {
		close(leave)
		<-release
		return messages.InvokeResponse_Error{Type: "Cronfence.LeaseLost", Message: "the write is refused"}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-leave; cancel() }()
	watch := lambdaapi.Watch{Late: func(failed error) { late <- failed }}
	if _, err := s.InvokeWatched(ctx, "f", []byte(`{}`), watch); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(release)
	if err := <-late; err == nil || err.Error() != "Cronfence.LeaseLost: the write is refused" {
		t.Errorf("got %v", err)
	}
}
