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
		"leaseUntil":    dontCare, // without a run these four mean nothing
		"startBy":       dontCare,
		"maxRunUntil":   dontCare,
		"mark":          dontCare,
		"drainUntil":    {op: MissingOrLess, value: now.Add(-Margin)},
		"live":          {op: MissingOrLess, value: int64(1)},
		"lastTick":      {op: Less, value: d.At},
		"lastSuccessAt": dontCare,
		"last":          dontCare,
		"spec":          dontCare, // its hash speaks for it
		"specHash":      {op: Is, value: d.Spec.Hash()},
		"specSince":     dontCare,
		"ttl":           dontCare,
	}
	if d.Spec.Overlap == policy.Allow {
		n["run"], n["drainUntil"], n["live"] = dontCare, dontCare, dontCare
	}
	return n
}

// BlindClaim returns the commit that claims the tick and starts it if nothing is in the
// way, with the decision it stands for. It is false where no tick may start blindly.
func BlindClaim(d Delivery, now Millis) (Decision, bool) {
	if now > d.startDeadline() {
		return Decision{}, false
	}
	// A free guard: what the predicate leaves open is set, so that the patch shows it being cleared.
	seen := Guard{Job: d.Spec.Job, Ready: true, SpecHash: d.Spec.Hash(), DrainUntil: 1, TTL: 1}
	var want Guard
	var row Row
	conds := claimNeeds(d, now).conds()
	if d.Spec.Overlap == policy.Allow {
		want, row = seen.admit(d, now)
	} else {
		want, row = seen.acquire(d, now)
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
		Job: d.Spec.Job, Token: d.Token,
		Writes: []Write{{SK: schema.GuardSK, If: conds, Patch: patch}, newRow(row)},
	}}, true
}

// runNeeds is what every word of a run about itself asks: that it holds the guard.
func runNeeds(run string, fence int64) []Cond {
	return []Cond{{"run.id", Is, run}, {"fence", Is, fence}}
}
