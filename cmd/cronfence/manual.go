package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// manualWidth is how wide a manual is where nobody says, and at the most.
const manualWidth = 80

const exitStatus = `0 when done, 1 when failed, 2 on wrong usage, 3 when refused: the job is held, or paused. One
line on standard error says why and what to do.`

// writeManual writes a verb's help in the sections of a manual page, or the verbs there are.
func writeManual(cmd *cobra.Command) {
	out := cmd.OutOrStdout()
	s := screenOf(out)
	s.width = min(cmp.Or(s.width, manualWidth), 120)
	m := manual{out: out, screen: s}
	cmd.InitDefaultHelpFlag()
	if !cmd.HasParent() {
		m.root(cmd)
		return
	}
	m.section("NAME", cmd.CommandPath()+" - "+cmd.Short)
	use := "cronfence " + cmd.Use
	if cmd.HasAvailableLocalFlags() {
		use += " [flags]"
	}
	m.section("SYNOPSIS", use)
	m.section("DESCRIPTION", cmd.Long)
	m.heading("FLAGS")
	m.verbatim(cmd.LocalFlags().FlagUsagesWrapped(s.width))
	m.section("EXIT STATUS", exitStatus)
	m.heading("EXAMPLES")
	m.verbatim(indented(cmd.Example))
}

type manual struct {
	out    io.Writer
	screen screen
	begun  bool
}

func (m *manual) root(cmd *cobra.Command) {
	m.section("NAME", "cronfence - "+cmd.Short)
	m.section("SYNOPSIS", "cronfence VERB [flags]")
	m.section("DESCRIPTION", cmd.Long)
	m.heading("VERBS")
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			m.verbatim(fmt.Sprintf("  %-12s%s\n", c.Name(), m.screen.wrap(c.Short, 14)))
		}
	}
	m.section("SEE ALSO", "`cronfence help VERB` has a verb's flags and examples.")
}

func (m *manual) heading(name string) {
	if m.begun {
		m.verbatim("\n")
	}
	m.begun = true
	m.verbatim(m.screen.paint(bold, name) + "\n")
}

// section fills a text's paragraphs to the width; they are separated by empty lines.
func (m *manual) section(name, text string) {
	m.heading(name)
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			m.verbatim("\n")
		}
		if strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ") { // a table
			m.verbatim("  " + strings.ReplaceAll(paragraph, "\n", "\n  ") + "\n")
			continue
		}
		m.verbatim("  " + m.screen.wrap(paragraph, 2) + "\n")
	}
}

func (m *manual) verbatim(text string) { _, _ = io.WriteString(m.out, text) }

// indented sets examples, which begin with two spaces already, in lines.
func indented(text string) string { return strings.TrimRight(text, "\n") + "\n" }
