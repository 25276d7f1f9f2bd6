package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// columns writes an aligned table as its lines come: the first lines decide how wide a column
// is, and later ones that are wider push theirs out.
type columns struct {
	out    io.Writer
	header []string
	widths []int
	held   [][]string
	begun  bool
}

// sampled is how many lines decide the widths.
const sampled = 100

func newColumns(out io.Writer, header ...string) *columns {
	return &columns{out: out, header: header}
}

// add writes a line, or holds it until the widths are known.
func (c *columns) add(cells ...string) error {
	if c.begun {
		return c.write(cells)
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
	c.widths = make([]int, len(c.header))
	all := append([][]string{c.header}, c.held...)
	for _, cells := range all {
		for i, cell := range cells {
			c.widths[i] = max(c.widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, cells := range all {
		if err := c.write(cells); err != nil {
			return err
		}
	}
	c.held = nil
	return nil
}

func (c *columns) write(cells []string) error {
	var b strings.Builder
	for i, cell := range cells {
		if cell == "" {
			cell = "-"
		}
		if i == len(cells)-1 {
			b.WriteString(cell)
			break
		}
		fmt.Fprintf(&b, "%-*s  ", c.widths[i], cell)
	}
	if _, err := fmt.Fprintln(c.out, b.String()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}
