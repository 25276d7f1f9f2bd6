package main

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/cronfence/cronfence/internal/ops"
)

// printer keeps from a terminal what would move its cursor, colour it, ring it or turn its text
// around. All that a command writes goes through one: much of it - reasons, errors, what a job
// wrote - is by others. Each Write has to be of whole characters.
type printer struct {
	io.Writer
	colour bool // lets through the colours that type screen paints
}

// painted are the sequences of screen.paint.
var painted = regexp.MustCompile("\x1b\\[(?:0|" + strings.Join([]string{red, green, yellow, bold}, "|") + ")m")

func (w printer) Write(p []byte) (int, error) {
	if plain(p) {
		return w.Writer.Write(p)
	}
	var b bytes.Buffer
	rest := string(p)
	for w.colour {
		at := painted.FindStringIndex(rest)
		if at == nil {
			break
		}
		b.WriteString(ops.PrintableLines(rest[:at[0]]) + rest[at[0]:at[1]])
		rest = rest[at[1]:]
	}
	b.WriteString(ops.PrintableLines(rest))
	if _, err := w.Writer.Write(b.Bytes()); err != nil {
		return 0, err //nolint:wrapcheck // a writer's error is the caller's to name
	}
	return len(p), nil
}

// plain tells whether there is nothing but visible ASCII, line ends and tabs.
func plain(p []byte) bool {
	for _, c := range p {
		if (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// escaped writes what no terminal should get as JSON's escapes: the document means the same.
func escaped(document []byte) []byte {
	if plain(document) {
		return document
	}
	var b bytes.Buffer
	for _, r := range string(document) {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}
