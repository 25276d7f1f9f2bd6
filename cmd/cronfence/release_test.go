package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
)

// Release says what it is about to stop, and stops it for a yes alone.
func TestReleaseTakesOnlyAYesForOne(t *testing.T) {
	w := newTown(t)
	w.lived()
	terminal := asking
	t.Cleanup(func() { asking = terminal })
	asking = func(*cobra.Command) bool { return true }
	answer := func(text string, flags ...string) (string, error) {
		var errOut bytes.Buffer
		root := newRootCommand()
		root.SetArgs(append([]string{"release", "cleanup", "--reason", "hangs", "--dev", w.url}, flags...))
		root.SetIn(strings.NewReader(text))
		root.SetOut(io.Discard)
		root.SetErr(&errOut)
		err := root.ExecuteContext(t.Context())
		return errOut.String(), err
	}
	for _, no := range []string{"", "n\n", "nay\n", "\n", "cleanup\n"} {
		asked, err := answer(no)
		if exitCode(err) != exitRefused || !strings.Contains(asked, "run cleanup-20260907T020000Z-1 of tick") || w.Guard("cleanup").Mark != nil {
			t.Errorf("answer %q: %v, asked %q", no, err, asked)
		}
	}
	if asked, err := answer("Yes\n"); err != nil || !strings.Contains(asked, "Go on? [y/N]") || w.Guard("cleanup").Run != nil {
		t.Errorf("yes: %v, %q", err, asked)
	}
	if asked, err := answer("y\n"); exitCode(err) != exitRefused || strings.Contains(asked, "Go on?") {
		t.Errorf("nothing to release: %v, asked %q", err, asked)
	}
}

// meanwhile is a person who takes so long to answer that something happens.
type meanwhile struct {
	io.Reader
	happens func()
}

func (m *meanwhile) Read(p []byte) (int, error) {
	if m.happens != nil {
		m.happens()
		m.happens = nil
	}
	return m.Reader.Read(p)
}

func TestReleaseStopsNoOtherRunThanItToldOf(t *testing.T) {
	w := newTown(t)
	w.lived()
	terminal := asking
	t.Cleanup(func() { asking = terminal })
	asking = func(*cobra.Command) bool { return true }
	const job = "cleanup"
	told, errOut := w.Guard(job).Run.ID, new(bytes.Buffer)
	root := newRootCommand()
	root.SetArgs([]string{"release", job, "--reason", "hangs", "--dev", w.url})
	root.SetIn(&meanwhile{strings.NewReader("y\n"), func() { // it ends, and the next tick has the guard
		w.Runs.End(told, machine.Succeeded, "")
		if _, err := w.Settle(w.StatusEvent(told)); err != nil {
			t.Error(err)
		}
		w.At("02:02:00")
		w.Tick(testworld.Minutely(job), "02:02")
	}})
	root.SetOut(io.Discard)
	root.SetErr(errOut)
	err := root.ExecuteContext(t.Context())
	now := w.Guard(job)
	if now.Run == nil || now.Run.ID == told || now.Mark != nil {
		t.Fatalf("guard %+v: want the next run left alone", now)
	}
	if want := "run " + told + " does not hold the guard of job " + job + ": run " + now.Run.ID + " does"; exitCode(err) != exitRefused || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, asked %q: want a refusal that names both runs", err, errOut)
	}
	at := " --dev " + w.url
	expect(t, "release "+job+" --run "+told+" --reason hangs --yes"+at, 3, "", "and is left alone")
	expect(t, "release "+job+" --run "+now.Run.ID+" --reason hangs --yes"+at, 0, now.Run.ID, "")
}
