package main

import (
	"errors"
	"fmt"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
)

// The exit codes of every verb.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	// exitRefused: what was asked for cannot be done now - the job is held, or paused.
	exitRefused = 3
)

// usageError is a command line that no verb understands.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usagef makes a usage error: one line that says what is wrong and what to do.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func exitCode(err error) int {
	var usage usageError
	var refused *guard.Refusal
	var invalid *ops.InvalidError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage), errors.As(err, &invalid):
		return exitUsage
	case errors.As(err, &refused):
		return exitRefused
	}
	return exitFailed
}
