package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// ticks delivers every tick of a rate from the first one on, until three o'clock, with a sweep
// after each.
func ticks(t *testing.T, w *testworld.World, spec schema.Spec, first, every time.Duration) {
	t.Helper()
	for at := first; at < 3*time.Hour; at += every {
		tick := testworld.Midnight.Add(at)
		w.Clock = tick.Add(5 * time.Second)
		r := must(t)(w.Deliver(spec, schema.TickID(tick))).(dispatch.Reply)
		w.Clock = tick.Add(40 * time.Second)
		must(t)(w.Succeed(r))
		w.Sweep(spec.Job)
	}
}

// A rate counts from when AWS made or changed its schedule, which nobody tells.
func TestRateWhosePhaseIsNotKnownYetMissesNothing(t *testing.T) {
	const seen = 2*time.Hour + 90*time.Second
	for phase := range 7 {
		for _, was := range []string{"", "rate(5 minutes)", "rate(11 minutes)"} {
			w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "rate(7 minutes)")
			if was != "" {
				w.Established(testworld.Spec("cleanup", was), "02:00")
			}
			w.Clock = testworld.Midnight.Add(seen)
			must(t)(nil, w.Engine().Introduce(t.Context(), spec))
			ticks(t, w, spec, seen.Truncate(time.Minute)+time.Duration(phase+1)*time.Minute, 7*time.Minute)
			if gaps := gapsOf(t, w); len(gaps) > 0 {
				t.Errorf("phase %d, was %q: %v", phase, was, gaps)
			}
		}
	}
}

func TestRateThatNeverTicksIsMissed(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "rate(7 minutes)")
	w.At("02:01:30")
	must(t)(nil, w.Engine().Introduce(t.Context(), spec))
	w.At("02:36:00") // start deadline and delivery grace of the tick of 02:08 at the latest are over
	w.Sweep("cleanup")
	w.Sweep("cleanup")
	gaps := gapsOf(t, w)
	if len(gaps) != 1 || gaps[0].Count < 1 {
		t.Errorf("gaps %v: want what was missed since 02:08", gaps)
	}
}

func TestMissedTicksOfARateAreThoseOfItsPhase(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "rate(7 minutes)")
	w.At("02:01:30")
	must(t)(nil, w.Engine().Introduce(t.Context(), spec))
	for _, clock := range []string{"02:04", "02:25"} { // 02:11 and 02:18 never came
		w.At(clock + ":05")
		must(t)(w.Succeed(w.Tick(spec, clock)))
	}
	w.At("02:59:00")
	for range 3 {
		w.Sweep("cleanup")
	}
	gaps := gapsOf(t, w)
	if len(gaps) == 0 || schema.TickID(gaps[0].From.Time()) != "2026-09-07T02:11:00Z" {
		t.Errorf("gaps %v: want them to begin with 02:11", gaps)
	}
}

// hourly is a rate that ticked until so long before noon; its spec, though not its schedule, was
// edited behind noon.
func hourly(t *testing.T, until string, before func(w *testworld.World, spec schema.Spec)) *testworld.World {
	t.Helper()
	w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "rate(1 hour)")
	spec.CatchUp = policy.CatchUpLatest
	w.Established(spec, until)
	w.At("12:00:05")
	before(w, spec)
	spec.StartDeadlineSeconds += 60
	w.At("12:17:03")
	must(t)(nil, w.Engine().Introduce(t.Context(), spec))
	return w
}

// backlogTicks lets what is left of a backlog run, and returns the ticks that it ever ran.
func backlogTicks(t *testing.T, w *testworld.World, k guard.Kind) (ticks []string) {
	t.Helper()
	for range 10 {
		w.Clock = w.Clock.Add(time.Minute)
		w.Sweep("cleanup")
		if run := w.Guard("cleanup").Run; run != nil {
			must(t)(w.Succeed(runOf(*w.RowOf("cleanup", run.Tick))))
		}
	}
	page, err := w.Store.Store.Rows(t.Context(), guard.RowQuery{Job: "cleanup", From: string(k), To: string(k) + "~"})
	must(t)(nil, err)
	for _, row := range page.Rows {
		ticks = append(ticks, row.Tick)
	}
	return ticks
}

func TestBacklogOfARateKeepsItsPhaseWhenTheSpecIsEdited(t *testing.T) {
	at := func(clock string) guard.Millis {
		tm, _ := time.Parse(time.RFC3339, "2026-09-07T"+clock+":00Z")
		return schema.MillisOf(tm)
	}
	backfill := func(w *testworld.World, from, to string) {
		_, _, err := w.Engine().Backfill(t.Context(), "cleanup", at(from), at(to))
		must(t)(nil, err)
	}
	asked := hourly(t, "11:00", func(w *testworld.World, spec schema.Spec) {
		must(t)(w.Succeed(w.Tick(spec, "12:00")))
		backfill(w, "06:00", "08:00")
		must(t)(w.Succeed(runOf(*w.RowOf("cleanup", "backfill-2026-09-07T06:00:00Z"))))
	})
	behind := hourly(t, "11:00", func(w *testworld.World, spec schema.Spec) { must(t)(w.Succeed(w.Tick(spec, "12:00"))) })
	backfill(behind, "06:00", "08:00")
	missed := hourly(t, "10:00", func(w *testworld.World, spec schema.Spec) { // 11:00 never came
		w.Tick(spec, "12:00")
		w.At("12:16:00")
		w.Sweep("cleanup")
		must(t)(w.Succeed(runOf(w.Row("cleanup", "12:00"))))
	})
	past := []string{"backfill-2026-09-07T06:00:00Z", "backfill-2026-09-07T07:00:00Z", "backfill-2026-09-07T08:00:00Z"}
	for _, c := range []struct {
		name string
		w    *testworld.World
		kind guard.Kind
		want []string
	}{
		{"a backfill under way", asked, guard.Backfill, past},
		{"one asked for behind the edit", behind, guard.Backfill, past},
		{"a catch-up", missed, guard.CatchUp, []string{"catchup-2026-09-07T11:00:00Z"}},
	} {
		if got := backlogTicks(t, c.w, c.kind); !slices.Equal(got, c.want) {
			t.Errorf("%s: ran %v, want %v", c.name, got, c.want)
		}
	}
}
