package guard

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

func TestRunsOfAllowAreLookedForAsLongAsTheyCanGoOn(t *testing.T) {
	spec := testSpec(policy.Allow, false) // 15 minutes to start in, 5 to be delivered in, a machine of 630 s
	allowance := int64(schema.StartAllowance / time.Second)
	if got, want := liveSeconds(spec), 1200+allowance+630; got != want {
		t.Errorf("%d s behind its instant, want %d", got, want)
	}
	if got, want := liveUntil(spec, t0), t0+Millis(allowance+630)*1000+Millis(Margin.Milliseconds()); got != want {
		t.Errorf("until %s, want %s", got, want)
	}
}

// A blind claim may only let in what it need not look at: a run that is looked for no longer than
// one that is let in already.
func TestBlindClaimOfAllowShortensNoLook(t *testing.T) {
	spec := testSpec(policy.Allow, false)
	d := testDelivery(spec, 0, "token")
	blind, ok := BlindClaim(d, t0)
	if !ok {
		t.Fatal("no blind claim")
	}
	conds := blind.Commit.Writes[0].If
	for name, c := range map[string]struct {
		change func(*Guard)
		want   bool
	}{
		"as long":             {func(*Guard) {}, true},
		"a longer machine":    {func(g *Guard) { g.LiveSeconds++ }, false},
		"a later end":         {func(g *Guard) { g.LiveUntil++ }, false},
		"a shorter, as early": {func(g *Guard) { g.LiveSeconds--; g.LiveUntil-- }, true},
	} {
		g := Guard{
			Job: spec.Job, Ready: true, Spec: &spec, SpecHash: spec.Hash(), LastTick: d.Prev, Version: 1, Live: 1,
			LiveSeconds: liveSeconds(spec), LiveUntil: liveUntil(spec, t0),
		}
		c.change(&g)
		if got := g.Holds(conds); got != c.want {
			t.Errorf("%s: holds %v, want %v", name, got, c.want)
		}
	}
}

func TestDrainIsInSeconds(t *testing.T) {
	if got := (&Terms{DrainSeconds: 90}).drain(nil); got != 90*time.Second {
		t.Errorf("%v, want 1m30s", got)
	}
}

func TestPatchNamesAFieldOnceAndSetsNoZero(t *testing.T) {
	want := scheduled(0)[0]
	for name, seen := range map[string]Row{"a row that is there": {Outcome: Running, Tick: want.Tick}, "nothing": {}} {
		names := map[string]bool{}
		for _, f := range changedRow(seen, want).Patch.Set {
			if names[f.Name] || f.Value == int64(0) || f.Value == 0 || f.Value == "" {
				t.Errorf("%s: %s is set twice, or to %v", name, f.Name, f.Value)
			}
			names[f.Name] = true
		}
	}
}

func TestGuardThatIsMadeAnewKeepsTheDrainOfARunThatEnds(t *testing.T) {
	spec := testSpec(policy.Skip, true)
	spec.DrainSeconds = 300
	row := Row{Job: spec.Job, Tick: "2026-09-07T02:00:00Z", At: t0, Kind: Scheduled, Outcome: Running, Run: "r", Fence: 7, Attempt: 1}
	end := End{Job: spec.Job, Tick: row.Tick, Run: "r", Fence: 7, Attempt: 1, Outcome: TimedOut, EndedAt: minute(1), MayLinger: true, Token: "t"}
	for name, c := range map[string]struct {
		ready bool
		until Millis // as the guard has it
		want  Millis // 0: the row is finished alone
	}{
		"blocked":               {false, 0, minute(6)},
		"blocked, as long":      {false, minute(6), 0},
		"ready: its rows ended": {true, 0, 0},
	} {
		g := Guard{Job: spec.Job, Version: 3, Ready: c.ready, DrainUntil: c.until, Spec: &spec, SpecHash: spec.Hash()}
		dec := Settle(end, &g, &row, minute(1))
		var got Millis
		if len(dec.Commit.Writes) == 2 {
			got = g.Apply(dec.Commit.Writes[0].Patch).DrainUntil
		}
		if got != c.want || dec.Row.Outcome != TimedOut {
			t.Errorf("%s: drain until %s and row %s, want %s and TimedOut", name, got, dec.Row.Outcome, c.want)
		}
	}
}
