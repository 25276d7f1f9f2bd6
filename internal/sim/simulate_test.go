package sim

import (
	"flag"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/policy"
	"github.com/cronfence/cronfence/pkg/schedule"
)

var yearFlag = flag.Bool("sim.year", false, "simulate a year of a minutely job within its time; a week without")

func simulate(t *testing.T, overlap policy.Overlap, run, length time.Duration) Summary {
	t.Helper()
	s, err := Simulate(Options{
		Schedule: schedule.MustParse("rate(1 minute)"), Overlap: overlap, From: midnight.Time(), For: length,
		RunTime: func(time.Time) time.Duration { return run }, Longest: run,
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.TrustedOverlaps != 0 {
		t.Errorf("%s: %+v: want no trusted overlap", overlap, s)
	}
	return s
}

func TestSkipStartsAThirdOfTheTicksOfARunOfThreeIntervals(t *testing.T) {
	s := simulate(t, policy.Skip, 3*time.Minute, 6*time.Hour)
	if s.Ticks != 360 || s.Started != 120 || s.Succeeded != 120 || s.Skipped != 240 || s.MaxConcurrent != 1 || s.MaxRatio != 3 {
		t.Errorf("%+v: want 120 of 360 started, one at a time, an end settled before a tick of the same instant", s)
	}
}

func TestAllowRunsThreeCopiesOfARunOfThreeIntervals(t *testing.T) {
	s := simulate(t, policy.Allow, 3*time.Minute, 6*time.Hour)
	if s.Started != 360 || s.Succeeded != 360 || s.MaxConcurrent != 3 {
		t.Errorf("%+v: want all 360 started, three at a time", s)
	}
}

func TestQueueOneCoalescesWhatDoesNotWait(t *testing.T) {
	s := simulate(t, policy.QueueOne, 3*time.Minute, 6*time.Hour)
	if s.maxWaiting != 1 || s.MaxConcurrent != 1 || s.Started+s.Coalesced != 360 || s.Coalesced == 0 || s.Skipped != 0 {
		t.Errorf("%+v, %d waiting: want one waiting at most and the rest coalesced", s, s.maxWaiting)
	}
}

func TestReplaceNeverTrustsTwoHolders(t *testing.T) {
	s := simulate(t, policy.Replace, 3*time.Minute, 6*time.Hour)
	if s.MaxConcurrent != 1 || s.Replaced == 0 || s.Started != s.Succeeded+s.Replaced {
		t.Errorf("%+v: want runs replaced, one at a time", s)
	}
}

func TestRunsWithinTheirIntervalAllSucceed(t *testing.T) {
	s := simulate(t, policy.Skip, 20*time.Second, time.Hour)
	if s.Ticks != 60 || s.Succeeded != 60 {
		t.Errorf("%+v: want all 60 to succeed", s)
	}
}

// A year of a minutely job, over the code that the faults run over, takes constant memory. How
// long it takes is printed, and stands in docs/proof.md.
func TestYearOfAMinutelyJob(t *testing.T) {
	days := 7
	if *yearFlag {
		days = 365
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does
	before := heap()
	began := time.Now()
	s := simulate(t, policy.Skip, 20*time.Second, time.Duration(days)*24*time.Hour)
	took, grown := time.Since(began), int64(heap())-int64(before)
	t.Logf("%d ticks in %v, the heap grew by %d bytes", s.Ticks, took, grown)
	if s.Ticks != days*1440 || s.Succeeded != s.Ticks {
		t.Errorf("%+v: want every tick to succeed", s)
	}
	if grown > 8<<20 {
		t.Errorf("the heap grew by %d bytes: want at most 8 MiB", grown)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
