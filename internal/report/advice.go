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
	usual := l.This.MedianSeconds
	if usual == 0 {
		usual = l.Last.MedianSeconds
	}
	timedOut := l.This.timeouts // sorted
	hang := len(timedOut) > 0 && usual > 0 && timedOut[0] >= hung*usual
	l.adviseFix(j, usual, hang)
	l.adviseWork(hang)
	l.adviseInterval()
}

func (l *Line) add(do, format string, args ...any) {
	l.Advice = append(l.Advice, Advice{do, fmt.Sprintf(format, args...)})
}

// adviseFix advises on runs that fail or hang; hang tells that those that timed out did.
func (l *Line) adviseFix(j Job, usual float64, hang bool) {
	s := l.This
	ended := s.Succeeded + s.Failed - s.Aborted // what somebody stopped says nothing of the job
	if bad := s.Failed - s.Aborted - s.TimedOut; bad >= someBad || bad > 0 && float64(bad) >= manyBad*float64(ended) {
		l.add(Fix, "%d of %d runs failed", bad, ended)
	}
	if took := j.Running.Seconds(); usual > 0 && took >= hung*usual && l.has(Overlaps) {
		l.add(Fix, "a run has been going for %s, the median run takes %s", span(took), span(usual))
	}
	if s.hanging > 0 && j.Running == 0 && usual > 0 && usual < roomy*l.interval().Seconds() { // under Allow, which knows no holder
		l.add(Fix, "%s did not end within an interval of %s, the median run takes %s", count(s.hanging, "run"), short(l.interval()), span(usual))
	}
	if hang {
		l.add(Fix, "%s had the maximum run time, at least %s, the median run takes %s", count(s.TimedOut, "run"), span(s.timeouts[0]), span(usual))
	}
}

// adviseWork advises on what a run does, where some runs are long or all get longer.
func (l *Line) adviseWork(hang bool) {
	s := l.This
	switch {
	case s.TimedOut > 0 && !hang:
		l.add(Bound, "%s had the maximum run time", count(s.TimedOut, "run"))
	case l.Trend != nil && l.Trend.FirstOverlap != "":
		l.add(Bound, "runs grow by %.1f %% of the interval a day", 100*l.Trend.RatioPerDay)
	case s.mostReplaced():
	case s.Replaced > 0:
		l.add(Bound, "%d of %d runs were replaced before their end", s.Replaced, s.Runs+s.Replaced)
	case s.MaxRatio >= near && s.MedianRatio < roomy && !hang && !l.falls():
		l.add(Bound, "the longest run took %.2f of its interval, the median one %.2f", s.MaxRatio, s.MedianRatio)
	}
}

// adviseInterval advises on the schedule, where most runs come near its interval.
func (l *Line) adviseInterval() {
	s, interval := l.This, l.interval()
	switch want := enough(s.P95Seconds); {
	case interval == 0: // a single tick
	case s.mostReplaced() && interval <= shortest:
		l.add(Worker, "%d of %d runs were replaced before their end, on an interval of %s: it hardly ever rests",
			s.Replaced, s.Runs+s.Replaced, short(interval))
	case s.mostReplaced():
		l.add(Lengthen, "%d of %d runs were replaced before their end: they take longer than %s", s.Replaced, s.Runs+s.Replaced, short(interval))
	case s.MaxRatio < near || s.MedianRatio < roomy || l.falls():
	case interval <= shortest && s.MedianRatio >= near:
		l.add(Worker, "the median run takes %.2f of an interval of %s: it hardly ever rests", s.MedianRatio, short(interval))
	case want > interval:
		l.add(Lengthen, "95 %% of runs fit %s with room to spare", short(want))
	}
}

// falls tells whether runs get shorter from day to day: what was long then mends itself.
func (l *Line) falls() bool { return l.Trend != nil && l.Trend.falls }

// enough is an interval of which the run time is no more than the ratio alarm lets pass, in
// whole minutes.
func enough(seconds float64) time.Duration {
	return time.Duration(math.Floor(seconds/near/60)+1) * time.Minute
}
