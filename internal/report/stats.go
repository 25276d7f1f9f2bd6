package report

import (
	"math"
	"slices"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
)

// Stats are the figures of one week.
type Stats struct {
	Ticks     int `json:"ticks"`     // planned ones on record, whatever became of them
	Unplanned int `json:"unplanned"` // manual runs, backfills and catch-ups on record
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`   // failed, timed out, aborted or lost their lease
	TimedOut  int `json:"timedOut"` // of those, had their maximum run time
	Aborted   int `json:"aborted"`  // of those, were stopped by somebody
	Skipped   int `json:"skipped"`  // not because the job was paused
	Paused    int `json:"paused"`
	Missed    int `json:"missed"` // never came, came too late or were never started
	Replaced  int `json:"replaced"`
	Coalesced int `json:"coalesced"`
	Open      int `json:"open"` // still running or waiting
	// Of runs that came to an end by themselves.
	Runs           int     `json:"runs"`
	LongestSeconds float64 `json:"longestSeconds"`
	MedianSeconds  float64 `json:"medianSeconds"`
	P95Seconds     float64 `json:"p95Seconds"`
	// MaxRatio and MedianRatio are run time / interval.
	MaxRatio        float64 `json:"maxRatio"`
	MedianRatio     float64 `json:"medianRatio"`
	IntervalSeconds float64 `json:"intervalSeconds"` // the median

	runTimes, ratios, intervals, timeouts []float64

	overlapping int // runs that took an interval or more, or were replaced
	hanging     int // of the open ones, runs that an interval was not enough for
}

// add counts a tick; n is how many of a gap's ticks lie in the week.
func (s *Stats) add(t Tick, n int) {
	if t.Kind == guard.Scheduled {
		s.Ticks += n
	} else {
		s.Unplanned += n
	}
	switch t.Outcome {
	case guard.Succeeded:
		s.Succeeded += n
	case guard.Failed, guard.LeaseLost:
		s.Failed += n
	case guard.Aborted:
		s.Failed += n
		s.Aborted += n
	case guard.TimedOut:
		s.Failed += n
		s.TimedOut += n
		s.timeouts = append(s.timeouts, t.RunTime.Seconds())
	case guard.Skipped:
		if t.Paused {
			s.Paused += n
		} else {
			s.Skipped += n
		}
	case guard.Missed, guard.Expired, guard.Abandoned:
		s.Missed += n
	case guard.Replaced: // by a later tick: at an interval's end it was still going on
		s.Replaced += n
		s.overlapping += n
	case guard.Coalesced:
		s.Coalesced += n
	case guard.Running, guard.Queued:
		s.Open += n
	}
	if t.Interval > 0 {
		s.intervals = append(s.intervals, t.Interval.Seconds())
	}
	if t.ranToItsEnd() {
		s.runTimes = append(s.runTimes, t.RunTime.Seconds())
		if t.Interval > 0 {
			s.ratios = append(s.ratios, t.ratio())
			if t.ratio() >= 1 {
				s.overlapping++
			}
		}
	}
}

// close makes the order statistics, of which only sorted values tell.
func (s *Stats) close() {
	for _, v := range [][]float64{s.runTimes, s.ratios, s.intervals, s.timeouts} {
		slices.Sort(v)
	}
	s.Runs = len(s.runTimes)
	s.MedianSeconds, s.P95Seconds, s.LongestSeconds = rank(s.runTimes, 0.5), rank(s.runTimes, 0.95), rank(s.runTimes, 1)
	s.MedianRatio, s.MaxRatio = round4(rank(s.ratios, 0.5)), round4(rank(s.ratios, 1))
	s.IntervalSeconds = rank(s.intervals, 0.5)
}

// mostReplaced tells whether at least every second run was replaced.
func (s *Stats) mostReplaced() bool { return s.Replaced > 0 && s.Replaced >= s.Runs }

func (s *Stats) interval() time.Duration { return secondsOf(s.IntervalSeconds) }

// rank is a quantile by nearest rank: a value that was seen. 0 when there is none.
func rank(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

func round4(v float64) float64 { return math.Round(v*1e4) / 1e4 }

func secondsOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
