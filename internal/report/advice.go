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
	ended := s.Succeeded + s.Failed - s.Aborted // what somebody stopped says nothing of the job
	if bad := s.Failed - s.Aborted - s.TimedOut; bad >= someBad || bad > 0 && float64(bad) >= manyBad*float64(ended) {
		add(Fix, "%d of %d runs failed", bad, ended)
	}
	if took := j.Running.Seconds(); usual > 0 && took >= hung*usual && l.has(Overlaps) {
		add(Fix, "a run has been going for %s, the median run takes %s", span(took), span(usual))
	}
	if s.hanging > 0 && j.Running == 0 && usual > 0 && usual < roomy*l.interval().Seconds() { // under Allow, which knows no holder
		add(Fix, "%s did not end within an interval of %s, the median run takes %s", count(s.hanging, "run"), short(l.interval()), span(usual))
	}
	hangs := s.TimedOut > 0 && usual > 0 && s.timeouts[0] >= hung*usual
	if hangs {
		add(Fix, "%s had the maximum run time, at least %s, the median run takes %s", count(s.TimedOut, "run"), span(s.timeouts[0]), span(usual))
	}
	all := s.Runs + s.Replaced
	mostReplaced := s.Replaced > 0 && 2*s.Replaced >= all
	switch {
	case s.TimedOut > 0 && !hangs:
		add(Bound, "%s had the maximum run time", count(s.TimedOut, "run"))
	case l.Trend != nil && l.Trend.FirstOverlap != "":
		add(Bound, "runs grow by %.1f %% of the interval a day", 100*l.Trend.RatioPerDay)
	case s.Replaced > 0 && !mostReplaced:
		add(Bound, "%d of %d runs were replaced before their end", s.Replaced, all)
	case s.MaxRatio >= near && s.MedianRatio < roomy && !hangs && !mostReplaced && !l.falls():
		add(Bound, "the longest run took %.2f of its interval, the median one %.2f", s.MaxRatio, s.MedianRatio)
	}
	l.adviseInterval(add, mostReplaced, all)
}

// adviseInterval advises on the schedule, where most runs come near its interval.
func (l *Line) adviseInterval(add func(do, format string, args ...any), mostReplaced bool, all int) {
	s, interval := l.This, l.interval()
	switch want := enough(s.P95Seconds); {
	case mostReplaced && interval <= shortest:
		add(Worker, "%d of %d runs were replaced before their end, on an interval of %s: it hardly ever rests", s.Replaced, all, short(interval))
	case mostReplaced:
		add(Lengthen, "%d of %d runs were replaced before their end: they take longer than %s", s.Replaced, all, short(interval))
	case s.MaxRatio < near || s.MedianRatio < roomy || l.falls():
	case interval <= shortest && s.MedianRatio >= near:
		add(Worker, "the median run takes %.2f of an interval of %s: it hardly ever rests", s.MedianRatio, short(interval))
	case want > interval:
		add(Lengthen, "95 %% of runs fit %s with room to spare", short(want))
	}
}

// falls tells whether runs get shorter from day to day: what was long then mends itself.
func (l *Line) falls() bool { return l.Trend != nil && l.Trend.falls }

// enough is an interval of which the run time is no more than the ratio alarm lets pass, in
// whole minutes.
func enough(seconds float64) time.Duration {
	return time.Duration(math.Floor(seconds/near/60)+1) * time.Minute
}
