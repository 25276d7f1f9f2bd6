package ops

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job/notes"
)

// Notes reads the progress notes of a tick: package job/notes' List over a table.
type Notes func(ctx context.Context, job, tick string) ([]notes.Note, error)

// notesTimeout bounds the reading: an explanation does not wait longer for a courtesy.
const notesTimeout = 3 * time.Second

// readNotes begins to read a tick's notes, beside what else has to be read. The returned
// function waits for them; stop gives them up.
func (d *Direct) readNotes(ctx context.Context, job, tick string) (wait func() ([]notes.Note, error), stop context.CancelFunc) {
	list := d.Notes // read here: who gave up waiting may go on to change it
	if list == nil {
		return func() ([]notes.Note, error) { return nil, nil }, func() {}
	}
	ctx, stop = context.WithTimeout(ctx, notesTimeout)
	var found []notes.Note
	var failed error
	read := make(chan struct{})
	go func() {
		defer close(read)
		found, failed = list(ctx, job, tick)
	}()
	return func() ([]notes.Note, error) {
		select {
		case <-read:
			return found, failed
		case <-ctx.Done():
			return nil, fmt.Errorf("no answer within %v", notesTimeout)
		}
	}, stop
}

// addNotes tells what the runs of a tick noted. Notes that cannot be read are no reason to
// explain nothing.
func (x *Explanation) addNotes(found []notes.Note, err error) {
	if err != nil {
		x.Sentences = append(x.Sentences, fmt.Sprintf("Its progress notes could not be read: %v.", err))
		return
	}
	for _, n := range found {
		n.Name, n.Run, n.Text = Printable(n.Name), Printable(n.Run), PrintableLines(n.Text)
		x.Notes = append(x.Notes, n)
		by := ""
		if x.Entry != nil && n.Run != x.Entry.Run {
			by = " by run " + n.Run
		}
		x.Sentences = append(x.Sentences, fmt.Sprintf("Its note %q, written at %s%s: %s", n.Name, schema.MillisOf(n.At), by, n.Text))
	}
}

// Printable makes text that others wrote fit to be shown in one line of a terminal: blanks for
// line ends and tabs, U+FFFD for all else that is no visible character.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ReplacementChar
	}, text)
}

// PrintableLines is Printable but for line ends and tabs, which JSON shows as \n and \t.
func PrintableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for j := range cells {
			cells[j] = Printable(cells[j])
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}
