package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// hints are the commands that a text names, between backquotes.
var hints = regexp.MustCompile("`cronfence ([a-z]+)[^`]*`")

// operating are the verbs that ask a scheduler.
var operating = []string{"jobs", "status", "history", "why", "report", "logs", "doctor", "run", "backfill", "pause", "resume", "release"}

// here has the commands that a text names ask the scheduler that this one asks, so that they
// can be copied.
func here(cmd *cobra.Command, text string) string {
	flags := whereFlags(cmd)
	if flags == "" {
		return text
	}
	return hints.ReplaceAllStringFunc(text, func(hint string) string {
		verb := hints.FindStringSubmatch(hint)[1]
		if !slices.Contains(operating, verb) || strings.Contains(hint, " --dev ") || strings.Contains(hint, " --scheduler ") || strings.HasSuffix(hint, "--help`") {
			return hint
		}
		return strings.TrimSuffix(hint, "`") + flags + "`"
	})
}

// whereFlags are the flags that say which scheduler is asked, as they were given.
func whereFlags(cmd *cobra.Command) (flags string) {
	for _, name := range []string{"scheduler", "dev"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			flags += " --" + name + " " + f.Value.String()
		}
	}
	return flags
}

// hinted is an error whose commands can be copied.
type hinted struct {
	error
	text string
}

// Error returns the text.
func (e hinted) Error() string { return e.text }

func (e hinted) Unwrap() error { return e.error }

func hint(cmd *cobra.Command, err error) error {
	if err == nil || whereFlags(cmd) == "" {
		return err
	}
	return hinted{err, here(cmd, err.Error())}
}
