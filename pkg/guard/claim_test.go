package guard

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/policy"
)

func TestBlindClaimIsNotTriedForWhatItCannotDecide(t *testing.T) {
	spec := testSpec(policy.Skip, true)
	for name, c := range map[string]struct {
		kind Kind
		now  Millis
		want bool
	}{
		"in time":      {Scheduled, t0.Add(15 * time.Minute), true},
		"late":         {Scheduled, t0.Add(15*time.Minute) + 1, false},
		"manual":       {Manual, t0, false},
		"late, manual": {Manual, t0.Add(time.Hour), false},
	} {
		d := testDelivery(spec, 0, "")
		d.Kind = c.kind
		if _, ok := BlindClaim(d, c.now); ok != c.want {
			t.Errorf("%s: %v, want %v", name, ok, c.want)
		}
	}
}

func TestBlindClaimStopsAtWhateverStandsInItsWay(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Guard)
		want   bool
		allow  bool // what policy allow makes of it
	}{
		"nothing":                   {func(*Guard) {}, true, true},
		"version of now":            {func(g *Guard) { g.Version = int64(t0) }, false, false},
		"version just below":        {func(g *Guard) { g.Version = int64(t0) - 1 }, true, true},
		"not ready":                 {func(g *Guard) { g.Ready = false }, false, false},
		"held":                      {func(g *Guard) { g.Run = &RunRef{ID: "r"} }, false, false},
		"a tick waits":              {func(g *Guard) { g.Waiting = &Waiting{Tick: "x"} }, false, false},
		"drain over":                {func(g *Guard) { g.DrainUntil = t0.Add(-Margin) - 1 }, true, true},
		"drain within the margin":   {func(g *Guard) { g.DrainUntil = t0.Add(-Margin) }, false, true},
		"live runs":                 {func(g *Guard) { g.Live = 1 }, false, true},
		"on record already":         {func(g *Guard) { g.LastTick = t0 }, false, false},
		"a tick before is missing":  {func(g *Guard) { g.LastTick = t0.Add(-time.Minute) - 1 }, false, false},
		"paused":                    {func(g *Guard) { g.Paused = &Pause{By: "me"} }, false, false},
		"backlog":                   {func(g *Guard) { g.Backlog = &Backlog{Left: 1} }, false, false},
		"another spec":              {func(g *Guard) { g.SpecHash = "x" }, false, false},
		"mark and stop of the past": {func(g *Guard) { g.Mark, g.Stop, g.StopDeadline = &Mark{By: "x"}, &StopRequest{ByTick: "y"}, 7 }, true, true},
	} {
		for _, o := range []policy.Overlap{policy.Skip, policy.Allow} {
			spec := jobOf(o)
			g := newBench(t, spec).guard()
			c.change(&g)
			dec, _ := BlindClaim(testDelivery(spec, 0, ""), t0)
			want := c.want
			if o == policy.Allow {
				want = c.allow
			}
			if got := g.Holds(dec.Commit.Writes[0].If); got != want {
				t.Errorf("%v, %s: passes %v, want %v", o, name, got, want)
			}
		}
	}
	spec := jobOf(policy.Skip)
	g := newBench(t, spec).guard()
	g.LastTick = t0.Add(-time.Hour)
	d := testDelivery(spec, 0, "")
	if d.Prev = 0; true { // the schedule's first tick
		if dec, _ := BlindClaim(d, t0); !g.Holds(dec.Commit.Writes[0].If) {
			t.Error("nothing is planned before the first tick")
		}
	}
}

func TestBlindCommitsAreTheBenchsOwn(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	claim, _ := BlindClaim(b.delivery(0), t0)
	b.do(claim)
	if g := b.guard(); g.Run == nil || g.Run.ID != claim.Row.Run || g.TTL != 0 || g.LastTick != t0 {
		t.Errorf("guard %+v: want it claimed", g)
	}
	b.at(20)
	end, _ := BlindSettle(b.endOf(claim.Row, Succeeded), b.now)
	b.do(end)
	if g := b.guard(); g.Run != nil || g.Version != claim.Guard.Version+1 || g.LastSuccessAt != b.now || b.row(0).Outcome != Succeeded {
		t.Errorf("guard %+v: want it released", g)
	}
	b = newBench(t, jobOf(policy.Allow))
	for i := range 2 {
		b.at(i * 60)
		claim, _ := BlindClaim(b.delivery(i), b.now)
		b.do(claim)
	}
	if g := b.guard(); g.Live != 2 {
		t.Errorf("live %d, want 2", g.Live)
	}
}

func TestBlindSettleStopsAtWhateverTheEndMustLookAt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Guard)
		want   bool
	}{
		"nothing":         {func(*Guard) {}, true},
		"marked":          {func(g *Guard) { g.Mark = &Mark{} }, true},
		"lease over":      {func(g *Guard) { g.LeaseUntil = 1 }, true},
		"another's fence": {func(g *Guard) { g.Fence++ }, false},
		"another's run":   {func(g *Guard) { g.Run = &RunRef{ID: "x"} }, false},
		"free":            {func(g *Guard) { g.Run = nil }, false},
		"a tick waits":    {func(g *Guard) { g.Waiting = &Waiting{Tick: "x"} }, false},
		"paused":          {func(g *Guard) { g.Paused = &Pause{By: "me"} }, false},
		"backlog":         {func(g *Guard) { g.Backlog = &Backlog{Left: 1} }, false},
	} {
		b := newBench(t, jobOf(policy.Skip))
		run := b.started(0)
		g := b.guard()
		c.change(&g)
		dec, _ := BlindSettle(b.endOf(run, Succeeded), b.now)
		if got := g.Holds(dec.Commit.Writes[0].If); got != c.want {
			t.Errorf("%s: passes %v, want %v", name, got, c.want)
		}
		if !run.Holds(dec.Commit.Writes[1].If) || run.closed(Failed, "", "", 0).Holds(dec.Commit.Writes[1].If) {
			t.Errorf("%s: the row must be as the claim left it", name)
		}
	}
}

func TestGuardThatIsNeededIsNeverCollected(t *testing.T) {
	for name, change := range map[string]func(*Guard){
		"held":         func(g *Guard) { g.Run = &RunRef{} },
		"a tick waits": func(g *Guard) { g.Waiting = &Waiting{} },
		"paused":       func(g *Guard) { g.Paused = &Pause{} },
		"backlog":      func(g *Guard) { g.Backlog = &Backlog{} },
		"live runs":    func(g *Guard) { g.Live = 1 },
	} {
		seen := Guard{Version: 7, TTL: 5}
		want := seen
		change(&want)
		if got := seen.Apply(exact("", seen, want).Writes[0].Patch); got.TTL != 0 || got.Version != 8 {
			t.Errorf("%s: ttl %d, version %d", name, got.TTL, got.Version)
		}
	}
	seen := Guard{Version: 7, TTL: 5}
	if got := seen.Apply(exact("", seen, Guard{Version: 9, TTL: 6}).Writes[0].Patch); got.TTL != 6 || got.Version != 9 {
		t.Errorf("ttl %d, version %d: want them as the transition has them", got.TTL, got.Version)
	}
}
