package report

import (
	"fmt"
	"math"
	"time"
)

// Advice is what to do, and the figures that say so.
type Advice struct {
	Do  string `json:"do"` // one of the constants
	Why string `json:"why"`
}

// What to do about a job.
const (
	Fix      = "fix the job"
	Bound    = "bound the work of a run"
	Lengthen = "lengthen the interval"
	Worker   = "make it a continuously running worker"
)

// When figures say what.
const (
	near     = 0.8             // of the interval: the ratio alarm's threshold
	roomy    = 0.5             // a median run below leaves the schedule no blame
	hung     = 10              // median runs that one run took or is taking
	manyBad  = 0.05            // share of runs that failed
	someBad  = 3               // failures in a week that are no accident
	shortest = 5 * time.Minute // intervals up to which starting anew gains nothing over a loop
)

func (l *Line) advise(j Job) {
	add := func(do, format string, args ...any) {
		l.Advice = append(l.Advice, Advice{do, fmt.Sprintf(format, args...)})
	}
	s, usual := l.This, l.This.MedianSeconds
	if usual == 0 {
		usual = l.Last.MedianSeconds
	}
	ended := s.Succeeded + s.Failed
	if bad := s.Failed - s.TimedOut; bad >= someBad || bad > 0 && float64(bad) >= manyBad*float64(ended) {
		add(Fix, "%d of %d runs failed", bad, ended)
	}
	if took := j.Running.Seconds(); usual > 0 && took >= hung*usual && l.has(Overlaps) {
		add(Fix, "a run has been going for %s, the median run takes %s", span(took), span(usual))
	}
	grows := l.has(WillOverlap)
	switch {
	case s.TimedOut > 0:
		add(Bound, "%s had the maximum run time", count(s.TimedOut, "run"))
	case grows:
		add(Bound, "runs grow by %.1f %% of the interval a day", 100*l.Trend.RatioPerDay)
	case s.MaxRatio >= near && s.MedianRatio < roomy:
		add(Bound, "the longest run took %.2f of its interval, the median one %.2f", s.MaxRatio, s.MedianRatio)
	}
	if s.MaxRatio < near || s.MedianRatio < roomy {
		return
	}
	if interval := l.interval(); interval <= shortest && s.MedianRatio >= near {
		add(Worker, "the median run takes %.2f of an interval of %s: it hardly ever rests", s.MedianRatio, short(interval))
	} else if want := enough(s.P95Seconds); want > interval {
		add(Lengthen, "95 %% of runs fit %s with room to spare", short(want))
	}
}

// enough is an interval of which the run time is no more than the ratio alarm lets pass, in
// whole minutes.
func enough(seconds float64) time.Duration {
	return time.Duration(math.Floor(seconds/near/60)+1) * time.Minute
}
