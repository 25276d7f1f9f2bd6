package guard

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

var t0 = schema.MillisOf(time.Date(2026, 9, 7, 2, 0, 0, 0, time.UTC))

func testSpec(o policy.Overlap, beats bool) schema.Spec {
	s := schema.Spec{
		Version: schema.SpecVersion, Scheduler: "test", Job: "cleanup", Schedule: "cron(* * * * ? *)",
		Machine: "arn:aws:states:us-east-1:000000000000:stateMachine:test_cleanup", Overlap: o, Beats: beats,
		LeaseSeconds: 120, MaxRunSeconds: 600, MachineTimeoutSeconds: 630, StartDeadlineSeconds: 900, DrainSeconds: 300,
	}
	if beats {
		s.RenewalSeconds = 30
	}
	return s
}

func testDelivery(spec schema.Spec, minute int, token string) Delivery {
	at := t0.Add(time.Duration(minute) * time.Minute)
	return Delivery{
		Spec: spec, Kind: Scheduled, Tick: schema.TickID(at.Time()), At: at, Prev: at.Add(-time.Minute), Interval: 60, Token: token,
	}
}

func TestTablesOfBlindCommitsNameEveryFieldOfTheGuard(t *testing.T) {
	for _, table := range []struct {
		name    string
		asked   []Cond
		ignored ignored
	}{
		{"claim", claimNeeds(testDelivery(testSpec(policy.Skip, true), 0, ""), "h", t0), claimIgnores},
		{"settle", settleNeeds(End{}), settleIgnores},
	} {
		named := map[string]int{}
		for _, c := range table.asked {
			name, _, _ := strings.Cut(c.Field, ".")
			named[name]++
		}
		for name := range table.ignored {
			named[name]++
		}
		for _, name := range guardFields.names {
			if named[name] != 1 {
				t.Errorf("%s names %q %d times: does the blind commit depend on it?", table.name, name, named[name])
			}
		}
		if len(named) != len(guardFields.names) {
			t.Errorf("%s names %d fields, the guard has %d", table.name, len(named), len(guardFields.names))
		}
	}
}

// anyGuard draws a guard whose fields lie around the values that decisions compare with.
func anyGuard(t *rapid.T, spec schema.Spec) Guard {
	near := func(label string) Millis {
		return Millis(rapid.SampledFrom([]int64{
			0, 1, int64(t0) - 60_000, int64(t0) - 10_001, int64(t0) - 10_000, int64(t0) - 1, int64(t0), int64(t0) + 1, int64(t0) + 60_000,
		}).Draw(t, label))
	}
	other := spec
	other.MaxRunSeconds++
	seen := rapid.SampledFrom([]schema.Spec{spec, spec, spec, other}).Draw(t, "spec")
	g := Guard{
		Job: spec.Job, Version: int64(near("version")), Fence: int64(near("fence")),
		Ready: rapid.IntRange(0, 9).Draw(t, "ready") > 0, ReadyAt: near("readyAt"),
		DrainUntil: near("drain"), Live: rapid.SampledFrom([]int64{0, 0, 1}).Draw(t, "live"),
		LastTick: near("lastTick"), LastSuccessAt: near("success"), ResumedAt: near("resumed"),
		Spec: &seen, SpecHash: seen.Hash(), SpecSince: near("since"), TTL: rapid.SampledFrom([]int64{0, 5}).Draw(t, "ttl"),
	}
	rarely := func(label string) bool { return rapid.IntRange(0, 5).Draw(t, label) == 0 }
	if rarely("waiting") {
		g.Waiting = &Waiting{Tick: "2026-09-07T01:58:00Z", Planned: t0 - 120_000, Kind: Scheduled, Since: t0 - 120_000, Deadline: near("waitDeadline"), Why: "queue"}
	}
	if rarely("paused") {
		g.Paused = &Pause{By: "me", Why: "because", At: t0 - 60_000, Until: near("pausedUntil")}
	}
	if rarely("backlog") {
		g.Backlog = &Backlog{Kind: Backfill, Next: t0 - 3_600_000, To: t0 - 60_000, Left: 3, Until: t0 + 60_000}
	}
	if rarely("stop") {
		g.Stop, g.StopDeadline = &StopRequest{ByTick: "x", At: t0}, near("stopDeadline")
	}
	if rapid.IntRange(0, 3).Draw(t, "held") == 0 {
		g.Run = &RunRef{ID: "r", Tick: "2026-09-07T01:59:00Z", Attempt: 1, At: t0 - 60_000}
		g.LeaseUntil, g.StartBy, g.MaxRunUntil = near("lease"), near("startBy"), near("maxRun")
	}
	if rapid.Bool().Draw(t, "free") { // else the predicates would hold of too few to show anything
		freed := Guard{
			Job: g.Job, Version: int64(t0) - 60_000, Ready: true, ReadyAt: g.ReadyAt, LastTick: t0 - 60_000,
			LastSuccessAt: g.LastSuccessAt, Fence: g.Fence, Spec: &spec, SpecHash: spec.Hash(), SpecSince: g.SpecSince, TTL: g.TTL,
		}
		odd := rapid.SampledFrom(guardFields.names).Draw(t, "odd one out")
		from, to := reflect.ValueOf(g), reflect.ValueOf(&freed).Elem()
		to.Field(guardFields.index[odd]).Set(from.Field(guardFields.index[odd]))
		g = freed
		if g.Spec.Hash() != g.SpecHash { // the two are one
			g.SpecHash = g.Spec.Hash()
		}
	}
	return g
}

func TestClaimPredicateTrueImpliesTheSameDecision(t *testing.T) {
	held := 0
	rapid.Check(t, func(t *rapid.T) {
		spec := testSpec(rapid.SampledFrom([]policy.Overlap{policy.Skip, policy.QueueOne, policy.Replace, policy.Allow}).Draw(t, "overlap"), rapid.Bool().Draw(t, "beats"))
		d := testDelivery(spec, 0, "token")
		if rapid.Bool().Draw(t, "first") {
			d.Prev = 0
		}
		g := anyGuard(t, spec)
		blind, ok := BlindClaim(d, t0)
		if !ok || !g.Holds(blind.Commit.Writes[0].If) {
			return
		}
		held++
		pure := Deliver(d, &g, nil, t0)
		if pure.Verdict != Start {
			t.Fatalf("the predicate holds of %+v, the decision is %v", g, pure.Verdict)
		}
		if diff := cmp.Diff(pure.Guard, g.Apply(blind.Commit.Writes[0].Patch)); diff != "" {
			t.Fatalf("guard (-pure +blind):\n%s", diff)
		}
		if diff := cmp.Diff(pure.Row, Row{Job: spec.Job}.Apply(blind.Commit.Writes[1].Patch)); diff != "" {
			t.Fatalf("row (-pure +blind):\n%s", diff)
		}
	})
	if held == 0 {
		t.Error("the predicate never held: the test showed nothing")
	}
}

func TestSettlePredicateTrueImpliesTheSameDecision(t *testing.T) {
	held := 0
	rapid.Check(t, func(t *rapid.T) {
		spec := testSpec(policy.Skip, true)
		g := anyGuard(t, spec)
		dec := Deliver(testDelivery(spec, 0, "claim"), &g, nil, t0)
		if dec.Verdict != Start {
			return
		}
		g, row := dec.Guard, dec.Row
		if rapid.Bool().Draw(t, "marked") {
			g.Mark = &Mark{Why: MarkTakeOver, By: "x", At: t0}
		}
		now := t0.Add(time.Minute)
		end := End{
			Job: row.Job, Tick: row.Tick, Run: row.Run, Fence: row.Fence, Attempt: row.Attempt, Interval: row.Interval,
			Outcome: rapid.SampledFrom([]Outcome{Succeeded, Failed}).Draw(t, "outcome"), StartedAt: t0 + 5, EndedAt: now, Token: "settle",
		}
		blind, ok := BlindSettle(end, now)
		w := blind.Commit.Writes
		if !ok || !g.Holds(w[0].If) || !row.Holds(w[1].If) {
			return
		}
		held++
		pure := Settle(end, &g, &row, now)
		if diff := cmp.Diff(pure.Guard, g.Apply(w[0].Patch)); diff != "" {
			t.Fatalf("guard (-pure +blind):\n%s", diff)
		}
		if diff := cmp.Diff(pure.Row, row.Apply(w[1].Patch)); diff != "" {
			t.Fatalf("row (-pure +blind):\n%s", diff)
		}
	})
	if held == 0 {
		t.Error("the predicate never held: the test showed nothing")
	}
}

func TestPatchOfADiffMakesTheOtherRecord(t *testing.T) {
	spec := testSpec(policy.Skip, true)
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyGuard(t, spec), anyGuard(t, spec)
		if diff := cmp.Diff(b, a.Apply(diffGuards(&a, &b))); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestEveryFieldHasAJSONName(t *testing.T) {
	for _, fs := range []fieldSet{guardFields, rowFields} {
		if n := fs.record.NumField() - 1; len(fs.names) != n { // Job is the key
			t.Errorf("%v: %d of %d fields are named", fs.record, len(fs.names), n)
		}
	}
	if reflect.TypeFor[Guard]().NumField() == 0 {
		t.Error("no fields")
	}
}
