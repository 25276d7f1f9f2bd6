package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
)

// failure is the document of a verb that was refused or failed before it had one of its own.
type failure struct {
	Kind    string `json:"kind"` // refused, unknown-job, invalid or failed
	Refused bool   `json:"refused"`
	Message string `json:"message"`
}

func failureOf(err error) failure {
	f := failure{Kind: "failed", Message: err.Error()}
	var refused *guard.Refusal
	var unknown *ops.UnknownJobError
	var invalid *ops.InvalidError
	switch {
	case errors.As(err, &refused):
		f.Kind, f.Refused = "refused", true
	case errors.As(err, &unknown):
		f.Kind = "unknown-job"
	case errors.As(err, &invalid):
		f.Kind = "invalid"
	}
	return f
}

// documented has a verb's --json write one document however it ends: programs that read it need
// not read the errors too. One who writes JSON Lines writes as many as there are.
func documented(cmd *cobra.Command, do func() error) error {
	out := &counted{Writer: cmd.OutOrStdout()}
	cmd.SetOut(out)
	err := do()
	var usage usageError
	if err == nil || out.n > 0 || errors.As(err, &usage) {
		return err
	}
	if writeErr := writeJSON(out, failureOf(err)); writeErr != nil {
		return writeErr
	}
	return err
}
