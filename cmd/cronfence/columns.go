package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cronfence/cronfence/internal/ops"
)

// column is one of a table.
type column struct {
	name string
	// spare is when the column is left out of a table that is too wide: the highest goes
	// first, 0 stays.
	spare int
	// text is words that may be cut where the column is the last one.
	text bool
	// colour is that of a cell; nil is none.
	colour func(cell string) string
}

// columns writes an aligned table as its lines come: the first lines decide how wide a column
// is, and later ones that are wider push theirs out. On a narrow screen columns that can be
// spared are left out and the last one is cut.
type columns struct {
	out    io.Writer
	screen screen
	all    []column
	shown  []int // which of all
	widths []int // of all
	held   [][]string
	begun  bool
}

// sampled is how many lines decide the widths: no more than a page of what is listed, so that
// the first line is written before the second page is read.
const sampled = 50

func newColumns(out io.Writer, all ...column) *columns {
	return &columns{out: out, screen: screenOf(out), all: all}
}

// add writes a line, or holds it until the widths are known.
func (c *columns) add(cells ...string) error {
	for i, cell := range cells {
		cells[i] = ops.Printable(cell)
	}
	if c.begun {
		return c.write(cells, false)
	}
	if c.held = append(c.held, cells); len(c.held) < sampled {
		return nil
	}
	return c.flush()
}

// flush writes what is held. A table without lines has no header either.
func (c *columns) flush() error {
	if c.begun || len(c.held) == 0 {
		return nil
	}
	c.begun = true
	c.widths = make([]int, len(c.all))
	header := make([]string, len(c.all))
	for i, column := range c.all {
		header[i] = column.name
		c.widths[i] = utf8.RuneCountInString(column.name)
		for _, cells := range c.held {
			c.widths[i] = max(c.widths[i], utf8.RuneCountInString(orDash(cells[i])))
		}
	}
	c.choose()
	if err := c.write(header, true); err != nil {
		return err
	}
	for _, cells := range c.held {
		if err := c.write(cells, false); err != nil {
			return err
		}
	}
	c.held = nil
	return nil
}

const gap = 2 // between columns

// leastCut is how much of a cut column is shown at the least.
const leastCut = 30

// choose decides which columns are shown: as many as fit.
func (c *columns) choose() {
	for i := range c.all {
		c.shown = append(c.shown, i)
	}
	for c.screen.width > 0 && c.least() > c.screen.width {
		spare := -1
		for at, i := range c.shown {
			if c.all[i].spare > 0 && (spare < 0 || c.all[i].spare > c.all[c.shown[spare]].spare) {
				spare = at
			}
		}
		if spare < 0 {
			return
		}
		c.shown = slices.Delete(c.shown, spare, spare+1)
	}
}

// least is how wide the table is, with its last column cut where that is text.
func (c *columns) least() int {
	width := gap * (len(c.shown) - 1)
	for at, i := range c.shown {
		if at == len(c.shown)-1 && c.all[i].text {
			return width + min(c.widths[i], leastCut)
		}
		width += c.widths[i]
	}
	return width
}

func (c *columns) write(cells []string, header bool) error {
	var b strings.Builder
	column := 0
	for at, i := range c.shown {
		cell := orDash(cells[i])
		last := at == len(c.shown)-1
		if last && c.all[i].text && c.screen.width > 0 {
			cell = cut(cell, max(c.screen.width-column, leastCut))
		}
		colour := ""
		switch {
		case header:
			colour = bold
		case c.all[i].colour != nil:
			colour = c.all[i].colour(cell)
		}
		b.WriteString(c.screen.paint(colour, cell))
		column += utf8.RuneCountInString(cell)
		if !last {
			pad := max(0, c.widths[i]-utf8.RuneCountInString(cell)) + gap
			b.WriteString(strings.Repeat(" ", pad))
			column += pad
		}
	}
	if _, err := fmt.Fprintln(c.out, b.String()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func orDash(cell string) string {
	if cell == "" {
		return "-"
	}
	return cell
}

// cut shortens a text to a width, and shows that it did.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}

// outcomeColour is green for a success, red for what a person may have to see to, yellow for
// what did not run.
func outcomeColour(outcome string) string {
	switch outcome {
	case "Succeeded":
		return green
	case "Failed", "TimedOut", "Aborted", "LeaseLost", "Abandoned", "Missed":
		return red
	case "Skipped", "Coalesced", "Expired", "Replaced":
		return yellow
	}
	return ""
}

// stateColour is red for a job that is stuck, yellow for one that is held back.
func stateColour(state string) string {
	switch {
	case strings.Contains(state, "lease over"), strings.HasPrefix(state, "blocked"):
		return red
	case strings.Contains(state, "paused"), strings.Contains(state, "stopping"):
		return yellow
	}
	return ""
}
