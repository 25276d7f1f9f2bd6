package main

import (
	"bytes"

	"github.com/spf13/cobra"
)

// outputOf runs a verb with those flags and returns all that it wrote.
func outputOf(cmd *cobra.Command, args ...string) (string, error) {
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}
