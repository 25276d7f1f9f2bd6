package report

import (
	"math"
	"slices"
	"time"
)

// Trend says where a job's ratio is heading: a line through the largest ratio of each day, by
// the median of the slopes between any two days (Theil and Sen), which a few odd days do not
// bend.
type Trend struct {
	RatioPerDay float64 `json:"ratioPerDay"`
	Days        int     `json:"days"` // with runs, that the line is drawn through
	// FirstOverlap is the day, in UTC, on which a run first takes its whole interval if it goes
	// on so: "2026-09-29". Empty if that is not in sight.
	FirstOverlap string `json:"firstOverlap,omitempty"`
}

const (
	// fewestDays and steady keep chance from being taken for a trend: of 14 days without any,
	// the differences agree so well once in 150 times.
	fewestDays = 5
	steady     = 0.5 // (rises - falls) / pairs of days: Kendall's tau
	// farthest is how far ahead, in spans of the days seen, a line means anything.
	farthest = 4
)

// peak is the run of a day that took most of its interval.
type peak struct {
	at    time.Time
	ratio float64
}

// trendOf draws the line through the peaks of days, as seen at an instant; nil if there are too few.
func trendOf(peaks []peak, now time.Time) *Trend {
	if len(peaks) < fewestDays {
		return nil
	}
	x := func(p peak) float64 { return p.at.Sub(now).Hours() / 24 }
	var slopes []float64
	rises, falls := 0, 0
	for i, a := range peaks {
		for _, b := range peaks[i+1:] {
			slope := (b.ratio - a.ratio) / (x(b) - x(a)) // days differ
			slopes = append(slopes, slope)
			switch {
			case slope > 0:
				rises++
			case slope < 0:
				falls++
			}
		}
	}
	slope := middle(slopes)
	t := &Trend{RatioPerDay: round4(slope), Days: len(peaks)}
	if slope <= 0 || float64(rises-falls) < steady*float64(len(slopes)) {
		return t
	}
	rest := make([]float64, 0, len(peaks))
	for _, p := range peaks {
		rest = append(rest, p.ratio-slope*x(p))
	}
	overlaps := (1 - middle(rest)) / slope // days from now
	first, last := peaks[0].at, peaks[0].at
	for _, p := range peaks {
		first, last = earlier(first, p.at), later(last, p.at)
	}
	if span := last.Sub(first).Hours() / 24; overlaps <= farthest*span {
		// Never a day that is over: had it come, the week would show it.
		at := now.Add(time.Duration(math.Max(0, overlaps) * float64(day)))
		t.FirstOverlap = at.UTC().Format(time.DateOnly)
	}
	return t
}

// middle is the median: of two middle values their mean.
func middle(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
