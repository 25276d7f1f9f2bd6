package asl

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// trial is one execution in virtual time, and what was seen of it.
type trial struct {
	Result
	err    error
	took   time.Duration
	mu     sync.Mutex
	events []Event
}

// work is what a task does, by its state's name.
type work map[string]func(context.Context, Task) (any, error)

func (w work) RunTask(ctx context.Context, t Task) (any, error) {
	do := w[t.State]
	if do == nil {
		return nil, fmt.Errorf("no work for state %q", t.State)
	}
	return do(ctx, t)
}

// takes works for d of virtual time and ends early with its context.
func takes(d time.Duration) func(context.Context, Task) (any, error) {
	return func(ctx context.Context, t Task) (any, error) {
		if err := (bubbleClock{}).Sleep(ctx, d); err != nil {
			return nil, err
		}
		return map[string]any{"did": t.State}, nil
	}
}

// failsAfter fails with a named error after d.
func failsAfter(d time.Duration, name, cause string) func(context.Context, Task) (any, error) {
	return func(ctx context.Context, t Task) (any, error) {
		if err := (bubbleClock{}).Sleep(ctx, d); err != nil {
			return nil, err
		}
		return nil, &Error{Name: name, Cause: cause}
	}
}

func try(t *testing.T, definition, input string, tasks Tasks) *trial {
	t.Helper()
	return tryFor(t, definition, input, tasks, 0)
}

// tryFor stops the execution after limit, if that is not 0.
func tryFor(t *testing.T, definition, input string, tasks Tasks, limit time.Duration) *trial {
	t.Helper()
	m, err := Parse([]byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	x := &trial{}
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		if limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, limit)
			defer cancel()
		}
		began := time.Now()
		x.Result, x.err = m.Run(ctx, Execution{
			ARN: "arn:e", Name: "e", MachineARN: "arn:m", MachineName: "m", Input: []byte(input),
			Clock: bubbleClock{}, Tasks: tasks, Random: func() float64 { return 0.5 },
			Observe: func(e Event) { x.mu.Lock(); x.events = append(x.events, e); x.mu.Unlock() },
		})
		x.took = time.Since(began)
	})
	return x
}

// entered lists the states that were entered.
func (x *trial) entered() []string {
	var names []string
	for _, e := range x.events {
		if len(e.Type) > 12 && e.Type[len(e.Type)-12:] == "StateEntered" {
			names = append(names, e.State)
		}
	}
	return names
}

func (x *trial) count(kind string) int {
	n := 0
	for _, e := range x.events {
		if e.Type == kind {
			n++
		}
	}
	return n
}

func (x *trial) wantOutput(t *testing.T, want string) {
	t.Helper()
	if x.err != nil || x.Err != nil || !sameJSON(x.Output, []byte(want)) {
		t.Errorf("got output %s, error %v, %v; want output %s", x.Output, x.Err, x.err, want)
	}
}

func (x *trial) wantError(t *testing.T, name string) {
	t.Helper()
	if x.err != nil || x.Err == nil || x.Err.Name != name {
		t.Errorf("got output %s, error %v, %v; want error %s", x.Output, x.Err, x.err, name)
	}
}

func (x *trial) wantTook(t *testing.T, want time.Duration) {
	t.Helper()
	if x.took != want {
		t.Errorf("took %v, want %v", x.took, want)
	}
}

func (x *trial) wantNever(t *testing.T, state string) {
	t.Helper()
	if slices.Contains(x.entered(), state) {
		t.Errorf("state %q was entered", state)
	}
}
