// Package report tells what a job's week came to, from its ledger: how long its runs took
// against the week before, what became of its ticks, where its run times are heading, and what
// to do about it. It is pure: rows go in, lines come out.
package report

import (
	"slices"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
)

const day = 24 * time.Hour

// Week is seven days, To excluded. Ticks belong to it by their planned instants.
type Week struct{ From, To time.Time }

// WeekTo is the seven days up to an instant.
func WeekTo(to time.Time) Week { return Week{to.Add(-7 * day).UTC(), to.UTC()} }

// LastFullWeek is the last calendar week that is over, from a Monday 00:00 UTC to the next.
func LastFullWeek(now time.Time) Week {
	midnight := now.UTC().Truncate(day)
	sinceMonday := (int(midnight.Weekday()) + 6) % 7
	return WeekTo(midnight.Add(-time.Duration(sinceMonday) * day))
}

func (w Week) holds(t time.Time) bool { return !t.Before(w.From) && t.Before(w.To) }

func (w Week) before() Week { return WeekTo(w.From) }

// Tick is an entry of the ledger: a tick, or neighbouring ticks that never came.
type Tick struct {
	At       time.Time // planned; of a gap its last tick
	From     time.Time // of a gap its first tick, else zero
	Count    int       // of ticks: 1, or the gap's
	Kind     guard.Kind
	Outcome  guard.Outcome
	Paused   bool // skipped because the job was paused
	RunTime  time.Duration
	Interval time.Duration // to the next tick; 0: none
}

// ranToItsEnd tells whether the tick's run was not cut short by others: such run times only
// are comparable, and only they are metric points.
func (t Tick) ranToItsEnd() bool {
	return (t.Outcome == guard.Succeeded || t.Outcome == guard.Failed || t.Outcome == guard.TimedOut) && t.RunTime > 0
}

func (t Tick) ratio() float64 {
	if t.Interval <= 0 {
		return 0
	}
	return t.RunTime.Seconds() / t.Interval.Seconds()
}

// Job is what is known of a job besides its ticks.
type Job struct {
	Name         string
	Running      time.Duration // how long the run that holds the guard has held it; 0: none does
	RunningSince time.Time
	LastSuccess  time.Time
	Paused       bool
	Due          int // ticks that its schedule planned for the week and that must be on record by now
}

// Line is what a job's week came to. Its JSON is what the report verb writes: fields are
// added, never renamed.
type Line struct {
	Job      string   `json:"job"`
	Clean    bool     `json:"clean"`    // nothing of it needs a look
	Findings []string `json:"findings"` // of the Finding constants, the worst first
	This     Stats    `json:"thisWeek"`
	Last     Stats    `json:"lastWeek"`
	// WithoutSuccess is the longest time in the week without a success, if four planned ticks
	// in a row or more fell into it.
	WithoutSuccess *Stretch `json:"withoutSuccess,omitempty"`
	Trend          *Trend   `json:"trend,omitempty"`
	Advice         []Advice `json:"advice"`
	Text           string   `json:"text"` // all of it in one line
}

// Stretch is a time without a success: between the planned instants of the ticks around it, or the
// ends of the week or, of a younger job, of its record.
type Stretch struct {
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Seconds float64   `json:"seconds"`
}

// Finding is what of a week needs a look.
type Finding = string

// The findings, the worst first.
const (
	NoSuccess   Finding = "noSuccess"   // ticks were due, and no run succeeded
	Silent      Finding = "silent"      // ticks were planned, and nothing of this week is on record
	Failures    Finding = "failures"    // runs failed, timed out, were aborted or lost their lease
	Misses      Finding = "misses"      // ticks never came, came too late or were never started
	Stalled     Finding = "stalled"     // four ticks in a row or more came to no success
	Overlaps    Finding = "overlaps"    // a run took its whole interval or more, or was replaced, which comes to the same
	WillOverlap Finding = "willOverlap" // the trend leads there
	Skips       Finding = "skips"
	Pause       Finding = "paused" // it is, or it was and no run succeeded
)

var bySeverity = []Finding{Pause, Skips, WillOverlap, Overlaps, Stalled, Misses, Failures, Silent, NoSuccess}

// Empty tells whether nothing at all is known of the job in this week and the one before.
func (l Line) Empty() bool {
	return l.This.Ticks+l.This.Unplanned+l.Last.Ticks+l.Last.Unplanned == 0 && len(l.Findings) == 0
}

// Worse orders lines for people: what needs a look first, then by name.
func Worse(a, b Line) int {
	switch {
	case a.Rank() != b.Rank():
		return b.Rank() - a.Rank()
	default:
		return strings.Compare(a.Job, b.Job)
	}
}

// Rank is the higher, the worse the worst finding is; 0 of a clean line.
func (l Line) Rank() int {
	if l.Clean {
		return 0
	}
	return 1 + slices.Index(bySeverity, l.Findings[0])
}
