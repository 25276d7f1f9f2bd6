package guard

import (
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// A blind commit is the first try of a common transition, made without any reading: a
// predicate that, where it is true, makes the pure decision come out as assumed. For each
// transition a table says of every field of the guard what must be true of it, or that it
// does not matter; a test holds the tables complete and the decisions equal.

// need is what a blind commit asks of one field of the guard.
type need struct {
	op    Op
	value any
	any   bool // the field does not enter the decision
}

type needs map[string]need

var dontCare = need{any: true}

func (n needs) conds() []Cond {
	var conds []Cond
	for _, name := range guardFields.names {
		if f := n[name]; !f.any {
			conds = append(conds, Cond{name, f.op, f.value})
		}
	}
	return conds
}

// claimNeeds is when a tick is claimed and started without looking.
func claimNeeds(d Delivery, now Millis) needs {
	n := needs{
		"version":       {op: Less, value: int64(now)},
		"fence":         dontCare,
		"ready":         {op: Is, value: true},
		"readyAt":       dontCare,
		"run":           {op: Missing},
		"leaseUntil":    dontCare, // without a run these mean nothing
		"startBy":       dontCare,
		"maxRunUntil":   dontCare,
		"mark":          dontCare,
		"stop":          dontCare,
		"stopDeadline":  dontCare,
		"waiting":       {op: Missing},
		"drainUntil":    {op: MissingOrLess, value: now.Add(-Margin)},
		"live":          {op: MissingOrLess, value: int64(1)},
		"lastTick":      {op: Less, value: d.At},
		"lastSuccessAt": dontCare,
		"last":          dontCare,
		"paused":        {op: Missing},
		"resumedAt":     dontCare,
		"backlog":       {op: Missing},
		"spec":          dontCare, // its hash speaks for it
		"specHash":      {op: Is, value: d.Spec.Hash()},
		"specSince":     dontCare,
		"ttl":           dontCare,
	}
	if d.Spec.Overlap == policy.Allow {
		n["drainUntil"], n["live"] = dontCare, dontCare
	}
	return n
}

// BlindClaim returns the commit that claims the tick and starts it if nothing is in the
// way, with the decision it stands for. It is false where no tick may start blindly.
func BlindClaim(d Delivery, now Millis) (Decision, bool) {
	if now > d.startDeadline() || d.Kind != Scheduled {
		return Decision{}, false
	}
	spec := d.Spec
	// A free guard. What the predicate leaves open and the transition clears is set, so that
	// the patch shows it being cleared.
	seen := Guard{
		Job: spec.Job, Ready: true, Spec: &spec, SpecHash: spec.Hash(),
		Mark: &Mark{}, Stop: &StopRequest{}, StopDeadline: 1, TTL: 1,
	}
	var want Guard
	var row Row
	conds := claimNeeds(d, now).conds()
	if spec.Overlap == policy.Allow {
		want, row = seen.admit(d, now)
	} else {
		want, row = seen.acquire(d.claim(now), now)
	}
	want.LastTick = d.At
	if d.Prev != 0 { // every tick before this one is on record
		conds = append(conds, Cond{"lastTick", AtLeast, d.Prev})
	}
	patch := diffGuards(seen, want)
	if want.Live > 0 {
		delete(patch.Set, "live")
		patch.Add = map[string]int64{"live": 1}
	}
	return Decision{Verdict: Start, Row: row, Guard: want, Commit: &Commit{
		Job: spec.Job, Token: d.Token,
		Writes: []Write{{SK: schema.GuardSK, If: conds, Patch: patch}, newRow(row)},
	}}, true
}

// settleNeeds is when the end of a run whose work is over is settled without looking.
func settleNeeds(e End) needs {
	return needs{
		"version":       dontCare, // it rises by one, whatever it is
		"fence":         {op: Is, value: e.Fence},
		"ready":         dontCare, // a guard that is held is ready
		"readyAt":       dontCare,
		"run":           dontCare, // its id, below
		"leaseUntil":    dontCare, // late is fine if nobody took the guard
		"startBy":       dontCare,
		"maxRunUntil":   dontCare,
		"mark":          dontCare, // a marked run's own end still counts
		"stop":          dontCare,
		"stopDeadline":  dontCare,
		"waiting":       {op: Missing},
		"drainUntil":    dontCare,
		"live":          dontCare,
		"lastTick":      dontCare,
		"lastSuccessAt": dontCare,
		"last":          dontCare,
		"paused":        {op: Missing}, // a paused guard is kept for good
		"resumedAt":     dontCare,
		"backlog":       {op: Missing},
		"spec":          dontCare, // no drain and no retry
		"specHash":      dontCare,
		"specSince":     dontCare,
		"ttl":           dontCare,
	}
}

// runNeeds is what every word of a run about itself asks: that it holds the guard.
func runNeeds(run string, fence int64) []Cond {
	return []Cond{{"run.id", Is, run}, {"fence", Is, fence}}
}
