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

	ahead bool // FirstOverlap is not behind the line already
	falls bool // and the newest day is far from overlapping
}

const (
	// fewestDays and beyondChance keep chance from being taken for a trend: (rises - falls) of
	// all pairs of days, in standard deviations of what it is where there is none (Kendall's
	// test). Few days must agree the better: six must all rise.
	fewestDays   = 6
	beyondChance = 2.75
	// lasting is the share of the whole line's slope that each half of the days must show by
	// itself: a step, such as a release that made runs longer once, has none in one of them.
	lasting = 0.5
	// sameInterval is how far intervals of one schedule lie apart where clocks change, months
	// differ or work days end.
	sameInterval = 1.25
	// farthest is how far ahead, in spans of the days seen, a line means anything.
	farthest = 4
)

// peak is the run of a day that took most of its interval.
type peak struct {
	at       time.Time
	ratio    float64
	interval time.Duration
}

// trendOf draws the line through the peaks of days, the newest first, as seen at an instant, as
// far back as the job had its schedule; nil if there are too few.
func trendOf(peaks []peak, now time.Time) *Trend {
	peaks = ofOneSchedule(peaks)
	n := len(peaks)
	if n < fewestDays {
		return nil
	}
	slope, rising := slopeOf(peaks)
	t := &Trend{RatioPerDay: round4(slope), Days: n}
	least := beyondChance * math.Sqrt(float64(n*(n-1)*(2*n+5))/18)
	t.falls = float64(-rising) >= least && peaks[0].ratio < near
	if slope <= 0 || float64(rising) < least {
		return t
	}
	for _, half := range [][]peak{peaks[:n/2], peaks[n/2:]} {
		if of, _ := slopeOf(half); of < lasting*slope {
			return t
		}
	}
	rest := make([]float64, 0, n)
	for _, p := range peaks {
		rest = append(rest, p.ratio-slope*p.at.Sub(now).Hours()/24)
	}
	overlaps := (1 - middle(rest)) / slope // days from now
	// A rare job cannot overlap before it ticks again: the day is that of a tick at which it does.
	every := float64(peaks[0].interval) / float64(day)
	if every > 1 {
		since := now.Sub(peaks[0].at).Hours() / 24
		overlaps = math.Ceil((overlaps+since)/every)*every - since
	}
	if span := peaks[0].at.Sub(peaks[n-1].at).Hours() / 24; overlaps <= farthest*span {
		t.ahead = overlaps > 0
		// Never a day that is over: had it come, the week would show it.
		at := now.Add(time.Duration(math.Max(0, overlaps) * float64(day)))
		t.FirstOverlap = at.UTC().Format(time.DateOnly)
	}
	return t
}

// slopeOf is the median of the slopes between any two days, and by how many more of them rise
// than fall.
func slopeOf(peaks []peak) (slope float64, rising int) {
	var slopes []float64
	for i, a := range peaks {
		for _, b := range peaks[i+1:] {
			s := (a.ratio - b.ratio) / (a.at.Sub(b.at).Hours() / 24) // days differ
			slopes = append(slopes, s)
			switch {
			case s > 0:
				rising++
			case s < 0:
				rising--
			}
		}
	}
	return middle(slopes), rising
}

// ofOneSchedule leaves out the days before the schedule was changed, after which no interval is
// one of before: the same work has another ratio then.
func ofOneSchedule(peaks []peak) []peak {
	for i := 1; i < len(peaks); i++ {
		apart := !slices.ContainsFunc(peaks[i:], func(old peak) bool {
			return slices.ContainsFunc(peaks[:i], func(p peak) bool {
				longer := max(old.interval, p.interval).Seconds() / min(old.interval, p.interval).Seconds()
				return longer <= sameInterval
			})
		})
		if apart {
			return peaks[:i]
		}
	}
	return peaks
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
