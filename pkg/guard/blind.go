package guard

import (
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// A blind commit is the first try of a common transition, made without any reading: a
// predicate that, where it is true, makes the pure decision come out as assumed. For each
// transition a table says of every field of the guard what must be true of it, or that it
// does not matter; a test holds the tables complete and the decisions equal.

// ignored are the fields of the guard that a blind commit asks nothing of, and why.
type ignored map[string]string

// claimNeeds is when a tick is claimed and started without looking.
func claimNeeds(d Delivery, hash string, now Millis) []Cond {
	conds := append(make([]Cond, 0, 11), []Cond{
		{"version", Less, int64(now)},
		{"ready", Is, true},
		{"run", Missing, nil},
		{"waiting", Missing, nil},
		{"lastTick", Less, d.At},
		{"paused", Missing, nil},
		{"backlog", Missing, nil},
		{"specHash", Is, hash},
	}...)
	if d.Spec.Overlap == policy.Allow { // which starts beside whatever lives
		return append(conds, Cond{"liveSeconds", MissingOrLess, liveSeconds(d.Spec) + 1}, Cond{"liveUntil", MissingOrLess, liveUntil(d.Spec, now) + 1})
	}
	return append(conds,
		Cond{"drainUntil", MissingOrLess, now.Add(-Margin)},
		Cond{"live", MissingOrLess, int64(1)},
	)
}

var claimIgnores = ignored{
	"fence":         "the claim sets it",
	"readyAt":       "a ready guard has none",
	"leaseUntil":    "without a run it means nothing",
	"startBy":       "without a run it means nothing",
	"maxRunUntil":   "without a run it means nothing",
	"mark":          "without a run it means nothing",
	"stop":          "without a run it means nothing",
	"stopDeadline":  "without a run it means nothing",
	"liveSeconds":   "asked for by policy Allow, which raises it; for the others live speaks",
	"liveUntil":     "as liveSeconds",
	"lastGap":       "told, not decided by",
	"lastSuccessAt": "told, not decided by",
	"last":          "told, not decided by",
	"resumedAt":     "told, not decided by",
	"backlogEnd":    "told, not decided by",
	"spec":          "its hash speaks for it",
	"specSince":     "what is delivered is expected",
	"ttl":           "no rule depends on it",
}

// BlindClaim returns the commit that claims the tick and starts it if nothing is in the
// way, with the decision it stands for. It is false where no tick may start blindly.
func BlindClaim(d Delivery, now Millis) (Decision, bool) {
	if now > d.startDeadline() || d.Kind != Scheduled {
		return Decision{}, false
	}
	spec, hash := d.Spec, d.Spec.Hash()
	// A free guard. What the predicate leaves open and the transition clears is set, so that
	// the patch shows it being cleared.
	seen := Guard{
		Job: spec.Job, Ready: true, Spec: &spec, SpecHash: hash,
		Mark: &Mark{}, Stop: &StopRequest{}, StopDeadline: 1, TTL: 1,
	}
	var want Guard
	var row Row
	conds := claimNeeds(d, hash, now)
	if spec.Overlap == policy.Allow {
		want, row = seen.admit(d, now)
	} else {
		want, row = seen.acquire(d.claim(now), d.startDeadline(), now)
	}
	want.LastTick = d.At
	if d.Prev != 0 { // every tick before this one is on record
		conds = append(conds, Cond{"lastTick", AtLeast, d.Prev})
	}
	seen.Live = want.Live // it is not known: it rises by one
	patch := diffGuards(&seen, &want)
	if want.Live > 0 {
		patch.Add = map[string]int64{"live": 1}
	}
	return Decision{Verdict: Start, Row: row, Guard: want, Commit: &Commit{
		Job: spec.Job, Token: d.Token,
		Writes: []Write{{SK: schema.GuardSK, If: conds, Patch: patch}, newRow(row)},
	}}, true
}

// settleNeeds is when the end of a run whose work is over is settled without looking.
func settleNeeds(e End) []Cond {
	return append(runNeeds(e.Run, e.Fence), Cond{"waiting", Missing, nil}, Cond{"backlog", Missing, nil},
		Cond{"paused", Missing, nil}) // a paused guard is kept for good: it gets no TTL
}

var settleIgnores = ignored{
	"version":       "it rises by one, whatever it is",
	"ready":         "a guard that is held is ready",
	"readyAt":       "a guard that is held is ready",
	"leaseUntil":    "late is fine if nobody took the guard",
	"startBy":       "the run has ended",
	"maxRunUntil":   "the run has ended",
	"mark":          "a marked run's own end still counts",
	"stop":          "the run has ended",
	"stopDeadline":  "the run has ended",
	"drainUntil":    "it stays",
	"live":          "it stays",
	"liveSeconds":   "it stays",
	"liveUntil":     "it stays",
	"lastTick":      "it stays",
	"lastGap":       "it stays",
	"lastSuccessAt": "a success sets it",
	"last":          "the end sets it",
	"resumedAt":     "told, not decided by",
	"backlogEnd":    "told, not decided by",
	"spec":          "no drain and no retry",
	"specHash":      "no drain and no retry",
	"specSince":     "no drain and no retry",
	"ttl":           "the end sets it",
}

// runNeeds is what every word of a run about itself asks: that it holds the guard.
func runNeeds(run string, fence int64) []Cond {
	return []Cond{{"run.id", Is, run}, {"fence", Is, fence}}
}
