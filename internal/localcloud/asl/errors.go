package asl

import (
	"errors"
	"fmt"
	"slices"
)

// Error names of the language itself.
const (
	ErrNameAll             = "States.ALL"
	ErrNameTimeout         = "States.Timeout"
	ErrNameHeartbeat       = "States.HeartbeatTimeout"
	ErrNameTaskFailed      = "States.TaskFailed"
	ErrNameRuntime         = "States.Runtime"
	ErrNameDataLimit       = "States.DataLimitExceeded"
	ErrNameNoChoiceMatched = "States.NoChoiceMatched"
	ErrNameResultPath      = "States.ResultPathMatchFailure"
	ErrNameIntrinsic       = "States.IntrinsicFailure"
	ErrNameQuery           = "States.QueryEvaluationError"
)

// Error is how a state or an execution fails. Name and Cause may both be empty: a Fail
// state needs neither, and a timeout has no cause.
type Error struct {
	Name  string
	Cause string
	// Nameless says that a task token was answered with a failure that has no error: a
	// Catch then sees nulls, where it sees empty texts after a Fail state without any.
	Nameless bool
}

func (e *Error) Error() string {
	if e.Cause == "" {
		return e.Name
	}
	return e.Name + ": " + e.Cause
}

// output is what a Catch sees. AWS writes both fields, empty or not.
func (e *Error) output() map[string]any {
	if e.Nameless {
		return map[string]any{"Error": nil, "Cause": nil}
	}
	return map[string]any{"Error": e.Name, "Cause": e.Cause}
}

// fatal tells whether the error ends the execution whatever its Catch says.
func (e *Error) fatal() bool { return e.Name == ErrNameRuntime || e.Name == ErrNameDataLimit }

// matches tells whether an ErrorEquals list of a Retry or Catch takes the error.
func (e *Error) matches(names []string) bool {
	if e.fatal() {
		return false
	}
	if slices.Contains(names, e.Name) || slices.Contains(names, ErrNameAll) {
		return true
	}
	return e.Name != ErrNameTimeout && e.Name != ErrNameHeartbeat && slices.Contains(names, ErrNameTaskFailed)
}

// runtimeError is what no Catch can hold: the definition does not fit its data.
func runtimeError(state, format string, args ...any) *Error {
	cause := fmt.Sprintf(format, args...)
	return &Error{Name: ErrNameRuntime, Cause: fmt.Sprintf("An error occurred while executing the state '%s'. %s", state, cause)}
}

// asError gives an error of the data flow its name: one that carries a name keeps it,
// everything else is States.Runtime.
func asError(state string, err error) *Error {
	var named *Error
	if errors.As(err, &named) {
		return named
	}
	return runtimeError(state, "%v", err)
}
