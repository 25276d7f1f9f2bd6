package cost

import (
	"fmt"
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

// month is the twelfth of an average year of 365.25 days; cycle is the time after which the
// weekdays, and with them leap years, fall on the same dates again (until the year 2100, which
// has no leap day).
const (
	month = 730*time.Hour + 30*time.Minute
	cycle = 28 * 12 * month
)

const daysPerMonth = float64(month) / float64(24*time.Hour)

// Pace is how often a schedule's ticks come.
type Pace struct {
	// PerMonth is the average of 28 years from the next tick on; of a schedule that ends in
	// them, of the time until it does, which is taken for a month at least.
	PerMonth float64
	Next     time.Time // the next tick; zero when none is to come
	Last     time.Time // the last tick of a schedule that ends
	Left     int       // the ticks of a schedule that ends
}

// PaceOf counts from an instant on.
func PaceOf(s schedule.Schedule, from time.Time) Pace {
	next, ok := s.Next(from)
	if !ok {
		return Pace{}
	}
	end := next.Add(cycle)
	p := Pace{Next: next}
	n := s.Between(next.Add(-time.Second), end.Add(-time.Second))
	if _, more := s.Next(end.Add(-time.Second)); more {
		p.PerMonth = float64(n) / float64(cycle/month)
		return p
	}
	p.Left = n
	p.Last, _ = s.Prev(end)
	p.PerMonth = float64(n)
	if n > 1 { // each tick stands for the mean distance of two
		lasts := float64(p.Last.Sub(p.Next)) / float64(month) * float64(n) / float64(n-1)
		p.PerMonth /= max(1, lasts)
	}
	return p
}

// Note says what a month's figures are of, where that is not plain: empty when it is.
func (p Pace) Note(e Estimate) string {
	next := p.Next.Format(time.RFC3339)
	switch {
	case p.Next.IsZero():
		return "No tick is to come: the schedule is over. What is left a month is the watching, until the job is removed."
	case p.Left == 1:
		return fmt.Sprintf("One tick is to come, at %s, and none after it: the run costs %s USD. The figures a month are of the month with that run; "+
			"after it the watching alone is paid, until the job is removed.", next, Plain(p.usd(e), 2))
	case p.Left > 1:
		return fmt.Sprintf("The schedule ends: %d ticks are to come, from %s to %s, and cost %s USD. The figures a month are of that time; "+
			"after it the watching alone is paid, until the job is removed.", p.Left, next, p.Last.Format(time.RFC3339), Plain(p.usd(e), 3))
	case p.PerMonth < 1:
		return fmt.Sprintf("A tick comes every %.3g months on average, the next at %s: the figures a month have that fraction of a run.", 1/p.PerMonth, next)
	}
	return ""
}

// usd is what the ticks cost that are left.
func (p Pace) usd(e Estimate) float64 {
	return (e.USDPerMonth - e.USDPerMonthWatching) / p.PerMonth * float64(p.Left)
}

// maxLooked bounds the ticks that SkipShare looks at: those of nearly two years of a minutely job.
const maxLooked = 1_000_000

// SkipShare is the share of the ticks that find the run of an earlier one at work, if every run
// takes as long as that and policy Skip holds. An end settles before a tick of the same instant.
// It plays the ticks of 28 years from an instant on, or the first million if those are fewer, and so is exact for every pattern that repeats within them: all but what the clock
// changes of a zone shift within a day. It begins and ends with a run that starts.
func SkipShare(s schedule.Schedule, from time.Time, runTime time.Duration) float64 {
	if runTime <= time.Minute { // no schedule is finer
		return 0
	}
	return played(s, from, runTime)
}

// ticker is what SkipShare asks of a schedule.
type ticker interface {
	Next(t time.Time) (time.Time, bool)
	Between(a, b time.Time) int
}

func played(s ticker, from time.Time, runTime time.Duration) float64 {
	at, ok := s.Next(from)
	ticks, runs, end := 0, 0, at.Add(cycle)
	for ; ok && at.Before(end) && ticks < maxLooked; runs++ {
		var met int
		met, at, ok = during(s, at, runTime)
		ticks += 1 + met
	}
	if ticks == 0 {
		return 0
	}
	return 1 - float64(runs)/float64(ticks)
}

// maxSteps is how many ticks of one run are stepped over before the others are counted: a count
// that has to look at days takes as long as some fifty steps.
const maxSteps = 32

// during is how many ticks a run meets that starts at a tick, and the first one after its end.
func during(s ticker, start time.Time, runTime time.Duration) (met int, next time.Time, ok bool) {
	end := start.Add(runTime)
	for next = start; met < maxSteps; met++ {
		if next, ok = s.Next(next); !ok || !next.Before(end) {
			return met, next, ok
		}
	}
	idle := end.Add(-time.Nanosecond)
	met += s.Between(next, idle)
	next, ok = s.Next(idle)
	return met, next, ok
}
