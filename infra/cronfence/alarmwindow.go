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

// tickWindow puts each tick into a period of its own and looks back on as many as hold n
// ticks in a row. CloudWatch looks back a day with periods under an hour and seven days with
// longer ones, and no period is longer than a day: of a rare job fewer ticks are enough.
func tickWindow(interval time.Duration, n int) window {
	if interval <= 0 || interval > 7*day {
		return window{period: day, periods: 1, inRow: 1}
	}
	period := (interval + time.Minute - 1).Truncate(time.Minute)
	if period <= day {
		limit := day
		if period >= time.Hour {
			limit = 7 * day
		}
		n = min(n, int(limit/period))
		return window{period: period, periods: n, inRow: n}
	}
	apart := int(interval.Round(day) / day)
	n = min(n, 6/apart+1)
	return window{period: day, periods: (n-1)*apart + 1, inRow: n}
}

// median is the middle of the values, the smaller one of two; 0 when there are none.
func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[(len(sorted)-1)/2]
}
