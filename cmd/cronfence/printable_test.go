package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/cronfence/cronfence/pkg/guard"
)

// evil clears the screen, rings, goes back to the line's begin, turns text around and adds a row.
const evil = "\x1b[2J\x1b[31m\a\r\u202e\u009b31m\nTICK 2026 Succeeded fake"

func wellBehaved(t *testing.T, what, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			t.Errorf("%s: %U in %q", what, r, text)
			return
		}
	}
	if strings.Contains(text, "\nTICK 2026") {
		t.Errorf("%s: a line of another's making: %q", what, text)
	}
}

func TestNoTextOfOthersReachesTheTerminalAsItIs(t *testing.T) {
	w := newTown(t)
	w.lived()
	held, err := w.Store.Guard(t.Context(), "cleanup")
	if err != nil {
		t.Fatal(err)
	}
	p := guard.PauseJob(*held, guard.Pause{By: evil, Why: evil, At: held.Run.At}, "evil") // of a version that let it in
	if err := w.Store.Commit(t.Context(), *p.Commit); err != nil {
		t.Fatal(err)
	}
	w.At("02:02:00")
	w.Tick(*held.Spec, "02:02")
	for _, line := range []string{
		"status cleanup", "history cleanup", "jobs", "why cleanup 2026-09-07T02:02:00Z", "logs cleanup", "doctor", "report",
		"run cleanup", "run cleanup --dry-run", "release cleanup --reason hangs --dry-run",
		"status cleanup --json", "history cleanup --json", "why cleanup 2026-09-07T02:02:00Z --json", "logs cleanup --json",
	} {
		_, out, errOut := command(t, append(strings.Fields(line), "--dev", w.url)...)
		wellBehaved(t, line, out)
		wellBehaved(t, line+" (errors)", errOut)
	}
	_, _, errOut := command(t, "why", "cleanup", evil)
	wellBehaved(t, "why", errOut)
}

func TestJSONKeepsWhatIsNotShown(t *testing.T) {
	var b bytes.Buffer
	if err := writeLine(&b, evil+"\U000e0001 ä"); err != nil {
		t.Fatal(err)
	}
	wellBehaved(t, "document", b.String())
	var got string
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got != evil+"\U000e0001 ä" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestPrinterLetsThroughOnlyItsOwnColours(t *testing.T) {
	s := screen{colour: true}
	text := s.paint(red, "bad"+evil) + " \x1b[2J\n"
	for _, colour := range []bool{true, false} {
		var b bytes.Buffer
		if _, err := (printer{&b, colour}).Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); strings.Contains(got, "\x1b[2J") || strings.Contains(got, "\x1b") != colour {
			t.Errorf("colour %v: %q", colour, got)
		}
	}
}
