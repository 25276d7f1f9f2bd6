package asl

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Clock is the time an execution lives in.
type Clock interface {
	Now() time.Time
	// Sleep returns early with the context's error when the context ends.
	Sleep(ctx context.Context, d time.Duration) error
	// AfterFunc calls f in its own goroutine after d, unless stopped before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Task is one attempt of a Task state.
type Task struct {
	State    string
	Resource string
	Input    any // decoded JSON: what Parameters or Arguments made
	Timeout  time.Duration
	// Execution is the ARN of the execution that asks.
	Execution string
	// Token is the task token of a resource that ends in .waitForTaskToken: what the
	// context object had as $$.Task.Token. Its result is that with which it is answered.
	Token string
	// Submitted says that the called service has taken the request and the task now waits
	// for the end of the work (.sync) or for its token.
	Submitted func()
	// Beat says that the work is alive: HeartbeatSeconds begin anew.
	Beat func()
}

// Tasks runs the work of Task states.
type Tasks interface {
	// RunTask returns the task's result as decoded JSON with json.Number, or an *Error.
	// It returns soon after ctx ends, whatever becomes of the work; the result is then
	// ignored.
	RunTask(ctx context.Context, t Task) (any, error)
}

// Execution says what to run and with whom.
type Execution struct {
	ARN         string
	Name        string
	RoleARN     string
	MachineARN  string
	MachineName string
	Input       []byte
	Clock       Clock
	Tasks       Tasks
	Observe     func(Event) // may be nil; called from several goroutines
	// Hold keeps the execution before a state until it returns, as a service that is slow
	// does. It may be nil, and is called from several goroutines.
	Hold   func(ctx context.Context, state string)
	Random func() float64 // for retry jitter; nil takes a common source
}

// Result is how an execution ended. Exactly one of Output and Err is set, unless the
// context ended the execution: then neither is, and Run's error is the context's cause.
type Result struct {
	Output []byte
	Err    *Error
}

// ErrTimedOut is Run's error when the machine's own TimeoutSeconds were over. Such an
// execution has neither error nor cause.
var ErrTimedOut = errors.New("the state machine's timeout is over")

// Run runs the machine to its end. The error is the cause of ctx, or ErrTimedOut.
func (m *Machine) Run(ctx context.Context, e Execution) (Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if m.timeout > 0 {
		stop := e.Clock.AfterFunc(m.timeout, func() { cancel(ErrTimedOut) })
		defer stop()
	}
	if e.Random == nil {
		e.Random = rand.Float64
	}
	input, err := decodeJSON(e.Input)
	if err != nil {
		return Result{Err: runtimeError(m.graph.StartAt, "the input is no JSON: %v", err)}, nil
	}
	x := &execution{Execution: e, started: e.Clock.Now(), cancel: cancel, input: input}
	x.event("ExecutionStarted", "", nil)
	output, failed := x.runGraph(ctx, m.graph, input, frame{vars: newVariables(nil)})
	if ctx.Err() != nil {
		return x.interrupted(context.Cause(ctx))
	}
	if failed != nil {
		return x.failed(failed), nil
	}
	text, err := encodeJSON(output)
	if err != nil {
		return x.failed(runtimeError(m.graph.StartAt, "%v", err)), nil
	}
	x.event("ExecutionSucceeded", "", nil)
	return Result{Output: text}, nil
}

type execution struct {
	Execution
	started time.Time
	input   any
	cancel  context.CancelCauseFunc
	events  atomic.Int64
}

// fatalError ends an execution from whatever branch it happens in: it is the cause with
// which the execution's context is cancelled.
type fatalError struct{ err *Error }

func (e fatalError) Error() string { return e.err.Error() }

func (x *execution) interrupted(cause error) (Result, error) {
	var fatal fatalError
	switch {
	case errors.As(cause, &fatal):
		return x.failed(fatal.err), nil
	case errors.Is(cause, ErrTimedOut):
		x.event("ExecutionTimedOut", "", nil)
		return Result{}, ErrTimedOut
	}
	x.event("ExecutionAborted", "", nil)
	return Result{}, cause
}

func (x *execution) failed(e *Error) Result {
	x.event("ExecutionFailed", "", e)
	return Result{Err: e}
}

func (x *execution) event(kind, state string, e *Error) {
	x.observe(Event{Type: kind, State: state, Error: e})
}

func (x *execution) observe(e Event) {
	if x.events.Add(1) == MaxEvents {
		x.cancel(fatalError{&Error{Name: ErrNameRuntime, Cause: "the execution reached the maximum of 25000 history events"}})
	}
	if x.Observe != nil {
		e.At = x.Clock.Now()
		x.Observe(e)
	}
}

// runGraph runs states from the start until one ends. When ctx ends, the result means
// nothing and the caller must look at ctx.
func (x *execution) runGraph(ctx context.Context, g *graph, input any, f frame) (any, *Error) {
	for name := g.StartAt; ; {
		if ctx.Err() != nil {
			return nil, nil
		}
		s := g.States[name]
		if x.Hold != nil {
			if x.Hold(ctx, name); ctx.Err() != nil {
				return nil, nil
			}
		}
		v := &visit{x: x, state: s, raw: input, frame: f}
		v.entered()
		output, next, failed := v.run(ctx)
		if ctx.Err() != nil {
			return nil, nil
		}
		if failed == nil {
			failed = tooLarge(name, output)
		}
		if failed != nil {
			if failed.fatal() {
				x.cancel(fatalError{failed})
			}
			return nil, failed
		}
		v.exited()
		if next == "" {
			return output, nil
		}
		name, input = next, output
	}
}

// maxData is how much data goes from one state to the next at most, in bytes of JSON.
const maxData = 256 << 10

func tooLarge(state string, output any) *Error {
	text, err := encodeJSON(output)
	if err != nil || len(text) <= maxData {
		return nil
	}
	return &Error{Name: ErrNameDataLimit, Cause: fmt.Sprintf("The state/task '%s' returned a result with a size exceeding the maximum number of bytes service limit.", state)}
}
