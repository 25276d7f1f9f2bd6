package job

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Why a run's context ended, from context.Cause. Do returns them joined to the work's error.
var (
	// ErrDeadline: the run had its maximum run time.
	ErrDeadline = errors.New("the run had its maximum run time")
	// ErrLeaseLost: the guard is no longer this run's, or cannot be read for longer than the
	// lease last seen; or the task token is no longer good.
	ErrLeaseLost = errors.New("the run no longer holds its job's guard")
	// ErrStop: a newer tick asks the run to end. The cause is a *StopError.
	ErrStop = errors.New("the run is asked to stop")
)

// StopError is a stop request: the run may go on until Until and should end before.
type StopError struct {
	ByTick string    // the tick that is to run next
	Until  time.Time // the run is stopped from then on
}

// Error names the tick that is to run next and the time that is left.
func (e *StopError) Error() string {
	return fmt.Sprintf("%v: for tick %s, until %s", ErrStop, e.ByTick, e.Until.UTC().Format(time.RFC3339))
}

// Unwrap makes errors.Is(err, ErrStop) true.
func (e *StopError) Unwrap() error { return ErrStop }

// ErrFenced says that a write was refused for its fence: a newer run was here, or the run has
// lost its guard. Adapters return it as a *FencedError. It never helps to try again: the run
// is over.
var ErrFenced = errors.New("write refused for its fence")

// FencedError is a write refused for its fence.
type FencedError struct {
	Fence int64  // the run's own
	Seen  int64  // the newer one; 0 when it is not known
	Why   string // what else is known where Seen is not; may be empty
}

// Error names the run's own fence and, where it is known, the newer one.
func (e *FencedError) Error() string {
	switch {
	case e.Seen != 0:
		return fmt.Sprintf("write with fence %d refused: fence %d has been seen here", e.Fence, e.Seen)
	case e.Why != "":
		return fmt.Sprintf("write with fence %d refused: %s", e.Fence, e.Why)
	}
	return fmt.Sprintf("write with fence %d refused", e.Fence)
}

// Unwrap makes errors.Is(err, ErrFenced) true.
func (e *FencedError) Unwrap() error { return ErrFenced }

// errorName is the error name with which a run ends in its state machine, and so its
// outcome: Replaced, LeaseLost, TimedOut; empty for the work's own error, which is Failed.
func errorName(err error) string {
	switch {
	case errors.Is(err, ErrLeaseLost), errors.Is(err, ErrFenced):
		return schema.ErrorLeaseLost
	case errors.Is(err, ErrStop):
		return schema.ErrorStop
	case errors.Is(err, ErrDeadline):
		return schema.ErrorMaxRunTime
	}
	return ""
}

// maxMessage is how much of an error a Lambda function returns, in bytes: Step Functions keeps
// 32 KB of it as JSON.
const maxMessage = 16 << 10

// named gives err the form that keeps its name through the Lambda runtime: a plain value,
// for a pointer or a wrapped error would be named after its Go type.
func named(err error) error {
	if err == nil {
		return nil
	}
	if own, ok := err.(messages.InvokeResponse_Error); ok { //nolint:errorlint // the runtime looks at the value itself
		own.Message = cut(own.Message, maxMessage)
		return own
	}
	name, message := errorName(err), err.Error()
	if name == "" && len(message) <= maxMessage {
		return err
	}
	return messages.InvokeResponse_Error{Type: cmp.Or(name, typeName(err)), Message: cut(message, maxMessage)}
}

// typeName is what the Lambda runtime calls an error that says nothing else.
func typeName(err error) string {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}
