package guard

import (
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Margin is the largest difference between any two clocks that the protocol allows for.
const Margin = schema.SkewMargin

// Decision is what a transition decided: what to tell, what to write, what to do next.
type Decision struct {
	Verdict Verdict
	Commit  *Commit // nil: nothing to write
	Row     Row     // the tick's row as it is after the commit
	Guard   Guard   // the guard as it is after the commit, where the decision knew it
	Next    *Row    // another tick's run that the commit gave the guard to: start it too
	Ended   []Row   // other ticks that the commit brought to their final outcome
	Gaps    []Gap   // ticks that the commit recorded as missed
	// Lost is the row as it would have ended, had it not been given another attempt.
	Lost *Row
}

// Verdict says what the caller does once the commit went through.
type Verdict int

// The verdicts.
const (
	// Done: the record says it all, nothing more is to be done.
	Done Verdict = iota
	// Start: start the row's run.
	Start
	// Duplicate: it was decided before; nothing is written.
	Duplicate
	// Look: the guard's holder let its lease run out. Look at its execution and take over.
	Look
	// HandOver: the guard is free and a tick waits for it. Advance first.
	HandOver
	// Unblock: find the job's rows and make the guard ready.
	Unblock
	// Stale: a word on a run that is no longer, or was never, the one on record. It changes nothing.
	Stale
)

// BackfillWindow is how long a backfill may take.
const BackfillWindow = 30 * 24 * time.Hour

// exact returns the commit that turns the guard as seen into the guard wanted, on the
// version seen, together with other writes.
func exact(token string, seen, want Guard, writes ...Write) *Commit {
	if want.Version <= seen.Version {
		want.Version = seen.Version + 1
	}
	if want.Run != nil || want.Waiting != nil || want.Paused != nil || want.Backlog != nil || want.Live > 0 {
		want.TTL = 0
	}
	g := Write{
		SK:    schema.GuardSK,
		If:    []Cond{{"version", Is, seen.Version}},
		Patch: diffGuards(&seen, &want),
	}
	return &Commit{Job: seen.Job, Token: token, Writes: append([]Write{g}, writes...)}
}

// newRow returns the write that makes a row which must not be there yet.
func newRow(r Row) Write {
	return Write{SK: schema.TickSK(r.Tick), Absent: true, Patch: diffRows(&Row{}, &r, 0)}
}

// changedRow returns the write that changes a row if its outcome, fence and attempt are as seen.
// The row may have been deleted meanwhile: it then comes back with what is known of it.
func changedRow(seen, want Row) Write {
	p := diffRows(&seen, &want, 7) // as many as repeat sets
	p.Set = repeat(p.Set, want)
	return Write{
		SK:       schema.TickSK(want.Tick),
		OrAbsent: true,
		If: []Cond{
			asRead("outcome", seen.Outcome),
			asRead("fence", seen.Fence),
			asRead("attempt", seen.Attempt),
		},
		Patch: p,
	}
}

// asRead requires that a field is as it was read: zero and missing are the same.
func asRead[T comparable](field string, v T) Cond {
	var zero T
	if v == zero {
		return Cond{field, Missing, nil}
	}
	return Cond{field, Is, v}
}

// closed returns the row with a final outcome that is not the end of a run.
func (r Row) closed(o Outcome, why, token string, now Millis) Row {
	r.Outcome, r.Why, r.Token = o, why, token
	r.EndedAt, r.TTL = now, rowTTL(now)
	return r
}

// repeat sets what every write of a row repeats.
func repeat(set Fields, r Row) Fields {
	set = setNonZero(set, "tick", r.Tick)
	set = setNonZero(set, "at", r.At)
	set = setNonZero(set, "kind", r.Kind)
	set = setNonZero(set, "run", r.Run)
	set = setNonZero(set, "fence", r.Fence)
	set = setNonZero(set, "attempt", r.Attempt)
	return setNonZero(set, "interval", r.Interval)
}

// setNonZero sets a field in place: the fields are the caller's own.
func setNonZero[T comparable](set Fields, name string, v T) Fields {
	var zero T
	if v == zero || set.index(name) >= 0 { // a field that was changed has the value already
		return set
	}
	return append(set, Field{name, v})
}

// rowTTL is when a row with a final outcome may be collected, in seconds.
func rowTTL(now Millis) int64 { return now.Add(schema.Retention).Time().Unix() }

// guardTTL is when a guard that stays silent may be collected, in seconds: after the
// longer of 400 days and three intervals. A guard that is held has none.
func guardTTL(now Millis, interval int64) int64 {
	silent := max(400*24*time.Hour, 3*time.Duration(interval)*time.Second)
	return now.Add(silent).Time().Unix()
}
