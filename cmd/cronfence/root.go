package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "cronfence VERB",
		Short: "Scheduled jobs on AWS that never overlap themselves by accident",
		Long: `Scheduled jobs on AWS that never overlap themselves by accident and never report a
skipped tick as a good one.

Every verb but help and completion takes --json, and every one exits 0 when done, 1 when failed, 2 on wrong usage, 3 when refused.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return cmd.Help()
		},
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelpCommand())
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { writeManual(cmd) })
	root.AddCommand(newDevCommand(), newSimulateCommand(), newNextCommand(), newCostCommand(), newVersionCommand(), newCompletionCommand())
	root.AddCommand(newJobsCommand(), newStatusCommand(), newHistoryCommand(), newWhyCommand(), newReportCommand(),
		newLogsCommand(), newDoctorCommand())
	root.AddCommand(newRunCommand(), newBackfillCommand(), newPauseCommand(), newResumeCommand(), newReleaseCommand(), newUICommand())
	return root
}

func verbs(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// noArgs refuses arguments of a verb that takes flags only.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q; see `%s --help`", args[0], cmd.CommandPath())
	}
	return nil
}

// writeJSON writes the one document of a verb's --json.
func writeJSON(out io.Writer, v any) error { return encode(out, v, "  ") }

// writeLine writes one line of a verb's JSON Lines.
func writeLine(out io.Writer, v any) error { return encode(out, v, "") }

func encode(out io.Writer, v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	if err == nil {
		_, err = out.Write(escaped(b.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
