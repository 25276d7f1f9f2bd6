package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const (
	// completionTimeout is how long a person waits for the names of jobs at the most.
	completionTimeout = 3 * time.Second
	maxCompleted      = 500 // names
)

// completeJobs completes the names of the scheduler's jobs. What fails is silent: a completion
// has nowhere to say it.
func (o *operated) completeJobs(takes []argument) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(takes) == 0 || len(args) > 0 && !takes[0].repeated {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		op, err := o.open(ctx, io.Discard)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []cobra.Completion
		for j, err := range op.Jobs(ctx) {
			if err != nil || len(names) == maxCompleted {
				break
			}
			if strings.HasPrefix(j.Job, begun) && !slices.Contains(args, j.Job) {
				names = append(names, cobra.CompletionWithDesc(j.Job, j.StateText()))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlag completes a flag's values, which are few.
func completeFlag[T ~string](cmd *cobra.Command, flag string, values ...T) {
	var all []cobra.Completion
	for _, v := range values {
		all = append(all, string(v))
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag
	}
}
