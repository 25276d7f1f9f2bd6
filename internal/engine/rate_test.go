package engine_test

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard/schema"
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
