package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job"
)

// newRun is a run that begins now and has ten minutes.
func newRun() job.Run {
	return job.Run{Job: "cleanup", Tick: "2026-09-07T02:00:00Z", ID: "r", Fence: 7, Deadline: time.Now().Add(10 * time.Minute), Interval: 15 * time.Minute}
}

// untilDone works until it is told to stop.
func untilDone(ctx context.Context, _ job.Run) error {
	<-ctx.Done()
	return ctx.Err()
}

// guardAfter answers as held until d has passed, and then as f does.
func guardAfter(d time.Duration, f func() (job.GuardState, error)) job.Guard {
	change := time.Now().Add(d)
	return func(context.Context, job.Run) (job.GuardState, error) {
		if time.Now().Before(change) {
			return job.GuardState{Held: true, LeaseUntil: time.Now().Add(2 * time.Minute)}, nil
		}
		return f()
	}
}

func says(s job.GuardState) func() (job.GuardState, error) {
	return func() (job.GuardState, error) { return s, nil }
}

func TestTheContextEndsWhenTheRunShould(t *testing.T) {
	stop := &job.StopError{ByTick: "2026-09-07T02:15:00Z"}
	for name, c := range map[string]struct {
		guard func() (job.GuardState, error)
		want  error
		after time.Duration
		named string
	}{
		"deadline":         {nil, job.ErrDeadline, 10 * time.Minute, schema.ErrorMaxRunTime},
		"another's":        {says(job.GuardState{}), job.ErrLeaseLost, 70 * time.Second, schema.ErrorLeaseLost},
		"marked":           {says(job.GuardState{Held: true, Marked: true}), job.ErrLeaseLost, 70 * time.Second, schema.ErrorLeaseLost},
		"asked to stop":    {says(job.GuardState{Held: true, Stop: stop}), job.ErrStop, 70 * time.Second, schema.ErrorStop},
		"lease out, ours":  {says(job.GuardState{Held: true, LeaseUntil: began}), job.ErrDeadline, 10 * time.Minute, schema.ErrorMaxRunTime},
		"cannot be read":   {func() (job.GuardState, error) { return job.GuardState{}, errors.New("denied") }, job.ErrLeaseLost, 180 * time.Second, schema.ErrorLeaseLost},
		"passing trouble ": {flaky(), job.ErrDeadline, 10 * time.Minute, schema.ErrorMaxRunTime},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var options []job.Option
				if c.guard != nil {
					options = append(options, job.WithGuard(guardAfter(65*time.Second, c.guard)))
				}
				start := time.Now()
				err := job.Do(t.Context(), newRun(), untilDone, options...)
				if !errors.Is(err, c.want) || !errors.Is(err, context.Canceled) {
					t.Errorf("%v: want %v and the work's own error", err, c.want)
				}
				if took := time.Since(start); took != c.after {
					t.Errorf("ended after %v: want %v", took, c.after)
				}
			})
		})
	}
}

// flaky fails every second time.
func flaky() func() (job.GuardState, error) {
	var n atomic.Int32
	return func() (job.GuardState, error) {
		if n.Add(1)%2 == 0 {
			return job.GuardState{}, errors.New("throttled")
		}
		return job.GuardState{Held: true, LeaseUntil: time.Now().Add(2 * time.Minute)}, nil
	}
}

func TestARunThatIsOverDoesNotBegin(t *testing.T) {
	work := func(context.Context, job.Run) error { t.Error("it works"); return nil }
	lost := job.WithGuard(func(context.Context, job.Run) (job.GuardState, error) { return job.GuardState{}, nil })
	if err := job.Do(t.Context(), newRun(), work, lost); !errors.Is(err, job.ErrLeaseLost) {
		t.Errorf("lost guard: %v", err)
	}
	run := newRun()
	run.Deadline = time.Now().Add(-time.Second)
	if err := job.Do(t.Context(), run, work); !errors.Is(err, job.ErrDeadline) {
		t.Errorf("past its deadline: %v", err)
	}
}

// A reading that hangs must hide neither the deadline nor the next reading.
func TestAReadingThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		guard := func(ctx context.Context, _ job.Run) (job.GuardState, error) {
			if first {
				first = false
				<-ctx.Done()
				return job.GuardState{}, ctx.Err()
			}
			return job.GuardState{}, nil
		}
		start := time.Now()
		err := job.Do(t.Context(), newRun(), untilDone, job.WithGuard(guard), job.WithPoll(20*time.Second))
		if took := time.Since(start); !errors.Is(err, job.ErrLeaseLost) || took != 25*time.Second {
			t.Errorf("%v after %v: want the lost lease after 25s", err, took)
		}
	})
}

func TestWorkThatEndsByItselfIsNoFailureOfItsContext(t *testing.T) {
	own := errors.New("no disk")
	for _, want := range []error{nil, own} {
		if err := job.Do(t.Context(), newRun(), func(context.Context, job.Run) error { return want }); err != want { //nolint:errorlint // the very same
			t.Errorf("got %v, want %v as it is", err, want)
		}
	}
}

// pausedClock stands still and then jumps, as for a process that was frozen.
type pausedClock struct {
	now   atomic.Int64
	sleep chan struct{}
}

func (c *pausedClock) Now() time.Time { return time.UnixMilli(c.now.Load()) }

func (c *pausedClock) Sleep(ctx context.Context, _ time.Duration) error {
	select {
	case <-c.sleep:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestAFrozenRunMeetsItsDeadlineWhenItWakesUp(t *testing.T) {
	c := &pausedClock{sleep: make(chan struct{})}
	c.now.Store(began.UnixMilli())
	run := newRun()
	run.Deadline = began.Add(time.Minute)
	err := job.Do(t.Context(), run, func(ctx context.Context, run job.Run) error {
		c.now.Store(began.Add(time.Hour).UnixMilli())
		if run.Budget.More(ctx) {
			t.Error("there is budget left an hour later")
		}
		select {
		case c.sleep <- struct{}{}:
		case <-ctx.Done(): // it looked just now
		}
		<-ctx.Done()
		return ctx.Err()
	}, job.WithClock(c))
	if !errors.Is(err, job.ErrDeadline) {
		t.Errorf("%v: want the deadline", err)
	}
}

func TestAHandlersErrorTellsTheStateMachineHowTheRunEnded(t *testing.T) {
	input := json.RawMessage(fmt.Sprintf(`{"job":"j","tick":"t","run":"r","fence":7,"deadline":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339)))
	own := errors.New("no disk")
	for name, c := range map[string]struct {
		work error
		want string
	}{
		"stop":    {&job.StopError{}, schema.ErrorStop},
		"fenced":  {fmt.Errorf("write: %w", &job.FencedError{Fence: 1, Seen: 2}), schema.ErrorLeaseLost},
		"failure": {own, ""},
		"success": {nil, ""},
	} {
		err := job.Handler(func(context.Context, job.Run) error { return c.work })(t.Context(), input)
		if c.want == "" {
			if err != c.work { //nolint:errorlint // the very same
				t.Errorf("%s: got %v, want %v as it is", name, err, c.work)
			}
			continue
		}
		// The Lambda runtime looks for exactly this, unwrapped.
		if e, ok := err.(messages.InvokeResponse_Error); !ok || e.Type != c.want { //nolint:errorlint // see above
			t.Errorf("%s: got %#v, want type %s", name, err, c.want)
		}
	}
	if err := job.Handler(untilDone)(t.Context(), json.RawMessage(`{}`)); err == nil {
		t.Error("no run object: want an error")
	}
}

func TestATimeThatWouldLookAllTheTimeIsRefused(t *testing.T) {
	work := func(context.Context, job.Run) error { t.Error("it works"); return nil }
	for says, option := range map[string]job.Option{"WithPoll 0s": job.WithPoll(0), "WithBeat -1s": job.WithBeat(-time.Second)} {
		if err := job.Do(t.Context(), newRun(), work, option); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: want an error that says %q", err, says)
		}
	}
}

type diskError struct{ text string }

func (e *diskError) Error() string { return e.text }

// Beyond what Step Functions keeps, the name would be lost with the text.
func TestAHandlersLongErrorIsCutAndKeepsItsName(t *testing.T) {
	input := json.RawMessage(fmt.Sprintf(`{"job":"j","tick":"t","run":"r","fence":7,"deadline":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339)))
	long := strings.Repeat("é", 1<<19)
	for want, work := range map[string]error{
		schema.ErrorLeaseLost: fmt.Errorf("%s: %w", long, job.ErrFenced),
		"diskError":           &diskError{long},
		"Own":                 messages.InvokeResponse_Error{Type: "Own", Message: long},
	} {
		err := job.Handler(func(context.Context, job.Run) error { return work })(t.Context(), input)
		e, ok := err.(messages.InvokeResponse_Error) //nolint:errorlint // the Lambda runtime looks for exactly this
		if !ok || e.Type != want || len(e.Message) != 16<<10 || !utf8.ValidString(e.Message) {
			t.Errorf("got %T, %.60v: want type %s and 16 KB", err, err, want)
		}
	}
}
