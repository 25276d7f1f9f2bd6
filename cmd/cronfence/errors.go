package main

import (
	"errors"
	"fmt"
)

// The exit codes of every verb.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a command line that no verb understands.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usagef makes a usage error: one line that says what is wrong and what to do.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func exitCode(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitFailed
}
