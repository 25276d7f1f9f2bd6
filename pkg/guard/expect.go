package guard

import (
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// Expect tells a job's guard which spec is deployed, whether or not a tick of it was ever
// delivered: from now on its ticks are expected, and missed if they do not come. floor is as
// in Delivery. It is false when the guard knows.
func Expect(spec schema.Spec, g *Guard, floor Millis, token string, now Millis) (Decision, bool) {
	if g == nil {
		return create(Delivery{Spec: spec, Floor: floor, Token: token}, now), true
	}
	hash := spec.Hash()
	if g.SpecHash == hash {
		return Decision{}, false
	}
	return changed(token, *g, g.respec(spec, hash, now)), true
}

// respec notes that another spec is deployed. What the policy Replace asked of the holder is not
// what another policy would: the tick that waits goes on waiting, and nobody asks again for it.
func (g Guard) respec(spec schema.Spec, hash string, now Millis) Guard {
	if g.Spec != nil && g.Spec.Overlap == policy.Replace && spec.Overlap != policy.Replace {
		g = g.withdrawStop(now)
		if w := g.Waiting; w != nil {
			queued := *w
			queued.Why = waitsQueued
			g.Waiting = &queued
		}
	}
	if !sameSchedule(g.Spec, spec) {
		g = g.endBacklog(Itself, EndEdited, now)
	}
	g.Spec, g.SpecHash, g.SpecSince = &spec, hash, now
	return g
}

func sameSchedule(was *schema.Spec, is schema.Spec) bool {
	return was != nil && was.Schedule == is.Schedule && was.Timezone == is.Timezone && was.Start == is.Start && was.End == is.End
}

// NoneLive notes that no run of policy Allow is on record any more: a row that somebody deleted
// must not count as alive for ever.
func NoneLive(g Guard, token string, now Millis) Decision {
	want := g
	want.Live, want.LiveSeconds, want.LiveUntil = 0, 0, 0
	want.TTL = guardTTL(now, 0)
	return changed(token, g, want)
}

// Forget notes that a job's schedule is gone: nothing is expected of it any more, and if the
// job is added again, only from then on. The guard itself stays, for its fences. It is false
// when the guard knows.
func Forget(g Guard, token string) (Decision, bool) {
	if g.SpecHash == "" {
		return Decision{}, false
	}
	want := g
	want.SpecHash = ""
	return changed(token, g, want), true
}
