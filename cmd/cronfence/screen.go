package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/cronfence/cronfence/internal/ops"
)

// screen is what people's output may take for granted. The zero value is a file or a pipe: as
// wide as need be, without colours.
type screen struct {
	width  int // in columns; 0 is no limit
	colour bool
}

// screenOf looks at where output goes. COLUMNS says how wide it is, in a pipe too; NO_COLOR and
// a dumb terminal turn colours off.
func screenOf(out io.Writer) screen {
	var s screen
	if f, ok := underlying(out).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			s.width = width
		}
		s.colour = colourful(os.Getenv)
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.width = n
	}
	return s
}

// colourful tells whether a terminal is to show colours.
func colourful(env func(string) string) bool { return env("NO_COLOR") == "" && env("TERM") != "dumb" }

// underlying is what the command's own writers write to.
func underlying(out io.Writer) io.Writer {
	for {
		switch w := out.(type) {
		case *counted:
			out = w.Writer
		case printer:
			out = w.Writer
		case pipeWriter:
			out = w.Writer
		default:
			return out
		}
	}
}

// counted counts what is written.
type counted struct {
	io.Writer
	n int
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += n
	return n, err
}

// isTerminal tells whether a person can answer.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// The colours, as ANSI has them.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
)

// paint colours a text, made fit for one line, for a screen that shows colours.
func (s screen) paint(colour, text string) string {
	text = ops.Printable(text)
	if !s.colour || colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// wrap makes text fit for a terminal and breaks it between words so that no line is wider than the screen; lines after the
// first are indented. A word that is too long stays whole, so that it can be copied.
func (s screen) wrap(text string, indent int) string {
	text = ops.Printable(text)
	if s.width <= 0 {
		return text
	}
	var b strings.Builder
	column := indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > s.width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
