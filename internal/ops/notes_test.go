package ops_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/job/notes"
)

func TestWhyShowsARunsNotes(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:00")
	run := d.Tick(spec, "02:00")
	at := testworld.Midnight.Add(2*time.Hour + 30*time.Second)
	d.op.Notes = func(_ context.Context, job, tick string) ([]notes.Note, error) {
		if job != "cleanup" || tick != "2026-09-07T02:00:00Z" {
			t.Errorf("notes of %s, %s", job, tick)
		}
		return []notes.Note{
			{Name: "page", Text: "17 of 40", At: at, Run: "cleanup-20260907T020000Z-1", Fence: 7},
			{Name: "last", Text: "an earlier attempt's", At: at, Run: "cleanup-20260907T020000Z-0", Fence: 6},
		}, nil
	}
	must(d.Succeed(run))
	got := d.why("cleanup", "02:00:00")
	for _, want := range []string{
		"\nIts note \"page\", written at 2026-09-07T02:00:30Z: 17 of 40",
		"\nIts note \"last\", written at 2026-09-07T02:00:30Z by run cleanup-20260907T020000Z-0: an earlier attempt's",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant%s", got, want)
		}
	}
	x := must(d.op.Why(t.Context(), "cleanup", "2026-09-07T02:00:00Z"))
	if len(x.Notes) != 2 || x.Notes[0].Text != "17 of 40" || x.Notes[0].Fence != 7 {
		t.Errorf("notes: %+v", x.Notes)
	}
}

// What a job writes is shown to a person at a terminal, who would see a control character's
// effect and not the character.
func TestWhyLetsNoControlCharacterThrough(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:00")
	run := d.Tick(spec, "02:00")
	const evil = "a\x1b[2Jb\u009bc\u202ed\x00\r\ne\tf\xff\u00e9"
	d.op.Notes = func(context.Context, string, string) ([]notes.Note, error) {
		return []notes.Note{{Name: evil, Text: evil, Run: evil}}, nil
	}
	must(d.Fail(run, "Bad", evil))
	x := must(d.op.Why(t.Context(), "cleanup", "2026-09-07T02:00:00Z"))
	const clean = "a\ufffd[2Jb\ufffdc\ufffdd\ufffd  e f\ufffd\u00e9"
	if !strings.HasSuffix(x.Sentences[len(x.Sentences)-1], ": "+clean) {
		t.Errorf("note: got %q", x.Sentences[len(x.Sentences)-1])
	}
	if !slices.Contains(x.Sentences, "Its error was Bad: "+clean) {
		t.Errorf("cause: got %q", x.Sentences)
	}
	if n := x.Notes[0]; n.Text != "a\ufffd[2Jb\ufffdc\ufffdd\ufffd \ne\tf\ufffd\u00e9" || n.Name != clean || n.Run != clean {
		t.Errorf("JSON: got %+q", []string{n.Name, n.Text, n.Run})
	}
}

func TestWhyIsTheSameWhereThereAreNoNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		spec := testworld.Minutely("cleanup")
		d.Established(spec, "01:59")
		d.At("02:00:00")
		run := d.Tick(spec, "02:00")
		d.At("02:01:00")
		d.Tick(spec, "02:01")
		must(d.Succeed(run))
		plain, skipped := d.why("cleanup", "02:00:00"), d.why("cleanup", "02:01:00")
		hangs := func(ctx context.Context, _, _ string) ([]notes.Note, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		for name, c := range map[string]struct {
			notes ops.Notes
			more  string
		}{
			"none":   {func(context.Context, string, string) ([]notes.Note, error) { return nil, nil }, ""},
			"denied": {func(context.Context, string, string) ([]notes.Note, error) { return nil, errors.New("no permission") }, "\nIts progress notes could not be read: no permission."},
			"hangs":  {hangs, "\nIts progress notes could not be read: "},
		} {
			d.op.Notes = c.notes
			if got := d.why("cleanup", "02:00:00"); !strings.HasPrefix(got, plain+c.more) || c.more == "" && got != plain {
				t.Errorf("%s: got\n%s", name, got)
			}
			began := time.Now()
			if got := d.why("cleanup", "02:01:00"); got != skipped || time.Since(began) != 0 {
				t.Errorf("%s: a tick that never ran: got\n%s", name, got)
			}
		}
	})
}
