package cronfence

import (
	"slices"
	"time"
)

// window is the look of an alarm back on a job's ticks.
type window struct {
	period         time.Duration
	periods, inRow int
}

// windowOf looks back on n ticks of a schedule whose next ticks lie so far apart: each in a period
// of its own, and no more of them than n where they lie as close together as they do. CloudWatch
// looks back a day with periods under an hour and seven days with longer ones, and no period is
// longer than a day: of a rare job fewer ticks are enough, and of one whose ticks come in bunches
// a day or more apart.
func windowOf(apart []time.Duration, n int) window {
	near, there := closest(apart, 2)
	if !there {
		return window{period: day, periods: 1, inRow: 1}
	}
	period := min(day, (near + time.Minute - 1).Truncate(time.Minute))
	limit := day
	if period >= time.Hour {
		limit = 7 * day
	}
	for ; n > 1; n-- {
		span, there := closest(apart, n)
		if periods := int((span+period-1)/period) + 1; there && time.Duration(periods)*period <= limit {
			return window{period: period, periods: periods, inRow: n}
		}
	}
	return window{period: period, periods: 1, inRow: 1}
}

// closest is how far the last of n ticks in a row is from the first where they lie close together:
// a tenth of them lie no further apart, so that a short day now and then does not count.
func closest(apart []time.Duration, n int) (span time.Duration, there bool) {
	var spans []time.Duration
	for i := range len(apart) - n + 2 {
		sum := time.Duration(0)
		for _, d := range apart[i : i+n-1] {
			sum += d
		}
		spans = append(spans, sum)
	}
	if len(spans) == 0 {
		return 0, false
	}
	slices.Sort(spans)
	return spans[len(spans)/10], true
}

// evenly are the distances of n ticks at one interval; none of a single tick.
func evenly(interval time.Duration, n int) []time.Duration {
	if interval <= 0 {
		return nil
	}
	return slices.Repeat([]time.Duration{interval}, max(1, n-1))
}

// failureWindow is how an alarm looks back on n failed runs in a row. Ends of runs come no closer
// than ticks do, but further apart where a run outlasts the interval: the next tick that is let in
// is the one after the longest run and the time in which its work may still be going on. Where that
// is more than a day, days cannot tell runs in a row: one failure is enough.
func failureWindow(interval, longest time.Duration, n int) window {
	if interval > 0 && longest > interval {
		if interval *= (longest + interval - 1) / interval; interval > day {
			n = 1
		}
	}
	return windowOf(evenly(interval, n), n)
}

// median is the middle of the values, the smaller one of two; 0 when there are none.
func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[(len(sorted)-1)/2]
}
