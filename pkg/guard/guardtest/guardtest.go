// Package guardtest is the conformance suite of guard.Store: every store passes it.
package guardtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Exercise runs the suite. newStore returns an empty store.
func Exercise(t *testing.T, newStore func(t *testing.T) guard.Store) {
	for name, test := range map[string]func(*testing.T, guard.Store){
		"a record comes back as it was written":               roundTrip,
		"what was never written is nil":                       nothingThere,
		"a refused write shows the old row":                   refusalShowsOldRow,
		"one refused write refuses the whole commit":          allOrNothing,
		"a write with OrAbsent brings a deleted row back":     orAbsent,
		"every comparison judges set and missing fields":      comparisons,
		"removed fields are gone and added numbers grow":      patches,
		"a write without a patch only checks":                 checkOnly,
		"rows come in pages, in order, within bounds":         queries,
		"gaps are found by any of their ticks, written once":  gaps,
		"a gap that adjoins the last one makes it longer":     growingGap,
		"all guards are listed in pages, as they are":         guards,
		"open rows alone are found":                           openRows,
		"of many claims of one tick one wins":                 oneClaimWins,
		"of many acquisitions of one guard one wins":          oneHolderWins,
		"claim, beat and settle each pass at the first try":   commonPath,
		"a beat of another fence is refused, guard untouched": staleBeat,
		"a run that lost the guard releases nothing":          staleSettle,
	} {
		t.Run(name, func(t *testing.T) { test(t, newStore(t)) })
	}
}

const job = "cleanup"

var t0 = schema.MillisOf(time.Date(2026, 9, 7, 2, 0, 0, 0, time.UTC))

func tickAt(minute int) (string, guard.Millis) {
	at := t0.Add(time.Duration(minute) * time.Minute)
	return schema.TickID(at.Time()), at
}

// Spec is a job with beats for tests.
func Spec(name string) schema.Spec {
	return schema.Spec{
		Version: schema.SpecVersion, Scheduler: "test", Job: name, Schedule: "cron(* * * * ? *)",
		Machine: "arn:aws:states:us-east-1:000000000000:stateMachine:test_" + name, Beats: true,
		LeaseSeconds: 120, RenewalSeconds: 30, MaxRunSeconds: 600, MachineTimeoutSeconds: 700, StartDeadlineSeconds: 900,
	}
}

// Delivery is a delivery of the tick planned that many minutes after a fixed instant.
func Delivery(name string, minute int, token string) guard.Delivery {
	tick, at := tickAt(minute)
	return guard.Delivery{
		Spec: Spec(name), Kind: guard.Scheduled, Tick: tick, At: at, Prev: at.Add(-time.Minute), Interval: 60, Token: token,
	}
}

func commit(t *testing.T, s guard.Store, c *guard.Commit) {
	t.Helper()
	if err := s.Commit(context.Background(), *c); err != nil {
		t.Fatalf("commit: %v", err)
	}
}

func refused(t *testing.T, s guard.Store, c *guard.Commit) *guard.Refused {
	t.Helper()
	r := new(guard.Refused)
	if err := s.Commit(context.Background(), *c); !errors.As(err, &r) {
		t.Fatalf("commit: %v, want it refused", err)
	}
	return r
}

func guardOf(t *testing.T, s guard.Store) *guard.Guard {
	t.Helper()
	g, err := s.Guard(context.Background(), job)
	if err != nil {
		t.Fatalf("read guard: %v", err)
	}
	return g
}

func rowOf(t *testing.T, s guard.Store, tick string) *guard.Row {
	t.Helper()
	row, err := s.Row(context.Background(), job, tick)
	if err != nil {
		t.Fatalf("read row: %v", err)
	}
	return row
}

func ready(t *testing.T, s guard.Store) guard.Guard {
	t.Helper()
	return Ready(t, s, job)
}

// Ready makes the guard of a job and makes it ready, with everything before tick 0 on record.
func Ready(t testing.TB, s guard.Store, name string) guard.Guard {
	t.Helper()
	must := func(c *guard.Commit) {
		t.Helper()
		if err := s.Commit(context.Background(), *c); err != nil {
			t.Fatalf("make guard of %s: %v", name, err)
		}
	}
	made := guard.Deliver(Delivery(name, 0, "create"), nil, nil, t0.Add(-time.Minute))
	must(made.Commit)
	dec := guard.Unblocked(made.Guard, nil, "ready", t0.Add(-time.Minute))
	must(dec.Commit)
	recorded := guard.Patch{Set: guard.Fields{{Name: "lastTick", Value: t0.Add(-time.Minute)}}}
	must(&guard.Commit{Job: name, Token: "recorded", Writes: []guard.Write{{
		SK: schema.GuardSK, If: []guard.Cond{{Field: "version", Op: guard.Is, Value: dec.Guard.Version}}, Patch: recorded,
	}}})
	return dec.Guard.Apply(recorded)
}

// claimed makes the guard ready and lets tick 0 acquire it.
func claimed(t *testing.T, s guard.Store) guard.Decision {
	t.Helper()
	ready(t, s)
	dec, ok := guard.BlindClaim(Delivery(job, 0, "claim"), t0)
	if !ok {
		t.Fatal("tick 0 cannot be claimed blindly")
	}
	commit(t, s, dec.Commit)
	return dec
}

func roundTrip(t *testing.T, s guard.Store) {
	want := ready(t, s)
	if diff := cmp.Diff(&want, guardOf(t, s)); diff != "" {
		t.Errorf("guard (-written +read):\n%s", diff)
	}
	dec, _ := guard.BlindClaim(Delivery(job, 0, "claim"), t0)
	commit(t, s, dec.Commit)
	if diff := cmp.Diff(&dec.Row, rowOf(t, s, dec.Row.Tick)); diff != "" {
		t.Errorf("row (-written +read):\n%s", diff)
	}
	if diff := cmp.Diff(dec.Guard.Run, guardOf(t, s).Run); diff != "" {
		t.Errorf("holder (-written +read):\n%s", diff)
	}
}

func nothingThere(t *testing.T, s guard.Store) {
	if g := guardOf(t, s); g != nil {
		t.Errorf("guard: %+v, want none", g)
	}
	tick, _ := tickAt(0)
	if row := rowOf(t, s, tick); row != nil {
		t.Errorf("row: %+v, want none", row)
	}
	r := refused(t, s, &guard.Commit{Job: job, Writes: []guard.Write{{
		SK: schema.GuardSK, If: []guard.Cond{{Field: "version", Op: guard.Is, Value: int64(1)}},
		Patch: guard.Patch{Add: map[string]int64{"version": 1}},
	}}})
	if !r.GuardRefused || r.Guard != nil {
		t.Errorf("refusal %+v: want the guard refused and missing", r)
	}
	if guardOf(t, s) != nil {
		t.Error("a refused write made a guard")
	}
}

func refusalShowsOldRow(t *testing.T, s guard.Store) {
	first := claimed(t, s)
	dec, _ := guard.BlindClaim(Delivery(job, 0, "again"), t0.Add(time.Second))
	r := refused(t, s, dec.Commit)
	if diff := cmp.Diff(map[string]*guard.Row{first.Row.Tick: &first.Row}, r.Rows); diff != "" {
		t.Errorf("rows shown (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(guardOf(t, s), r.Guard); diff != "" {
		t.Errorf("guard shown (-want +got):\n%s", diff)
	}
	next, _ := guard.BlindClaim(Delivery(job, 1, "next"), t0.Add(time.Minute))
	if r := refused(t, s, next.Commit); len(r.Rows) != 0 || !r.GuardRefused {
		t.Errorf("refusal %+v: want the guard shown and the row, whose condition held, not", r)
	}
}

func allOrNothing(t *testing.T, s guard.Store) {
	g := ready(t, s)
	tick, at := tickAt(5)
	c := guard.Commit{Job: job, Token: "x", Writes: []guard.Write{
		{SK: schema.TickSK(tick), Absent: true, Patch: guard.Patch{Set: guard.Fields{{Name: "tick", Value: tick}, {Name: "at", Value: at}}}},
		{SK: schema.GuardSK, If: []guard.Cond{{Field: "version", Op: guard.Is, Value: g.Version + 7}}, Patch: guard.Patch{Add: map[string]int64{"version": 1}}},
	}}
	refused(t, s, &c)
	if row := rowOf(t, s, tick); row != nil {
		t.Errorf("the row was written although the guard's condition failed: %+v", row)
	}
}

func orAbsent(t *testing.T, s guard.Store) {
	tick, at := tickAt(3)
	w := guard.Write{
		SK: schema.TickSK(tick), OrAbsent: true,
		If:    []guard.Cond{{Field: "outcome", Op: guard.Is, Value: guard.Running}},
		Patch: guard.Patch{Set: guard.Fields{{Name: "tick", Value: tick}, {Name: "at", Value: at}, {Name: "outcome", Value: guard.Succeeded}}},
	}
	c := guard.Commit{Job: job, Token: "x", Writes: []guard.Write{w}}
	commit(t, s, &c)
	c.Token = "y"
	if r := refused(t, s, &c); r.Rows[tick] == nil || r.Rows[tick].Outcome != guard.Succeeded {
		t.Errorf("refusal %+v: want the row as it stands", r)
	}
}

func comparisons(t *testing.T, s guard.Store) {
	g := claimed(t, s).Guard
	for _, c := range []struct {
		field string
		op    guard.Op
		value any
		want  bool
	}{
		{"mark", guard.Missing, nil, true},
		{"run", guard.Missing, nil, false},
		{"run.id", guard.Is, g.Run.ID, true},
		{"run.id", guard.Is, "another", false},
		{"mark.by", guard.Is, "nobody", false},
		{"ready", guard.Is, true, true},
		{"fence", guard.Is, g.Fence, true},
		{"fence", guard.Is, g.Fence + 1, false},
		{"leaseUntil", guard.Less, g.LeaseUntil + 1, true},
		{"leaseUntil", guard.Less, g.LeaseUntil, false},
		{"leaseUntil", guard.AtLeast, g.LeaseUntil, true},
		{"leaseUntil", guard.AtLeast, g.LeaseUntil + 1, false},
		{"leaseUntil", guard.Greater, g.LeaseUntil - 1, true},
		{"leaseUntil", guard.Greater, g.LeaseUntil, false},
		{"drainUntil", guard.Less, guard.Millis(1), false},
		{"drainUntil", guard.MissingOrLess, guard.Millis(1), true},
		{"leaseUntil", guard.MissingOrLess, g.LeaseUntil, false},
		{"leaseUntil", guard.MissingOrLess, g.LeaseUntil + 1, true},
		{"stopDeadline", guard.MissingOrGreater, guard.Millis(1), true},
		{"leaseUntil", guard.MissingOrGreater, g.LeaseUntil - 1, true},
		{"leaseUntil", guard.MissingOrGreater, g.LeaseUntil, false},
		{"stopDeadline", guard.Is, guard.Millis(1), false},
		{"stopDeadline", guard.Greater, guard.Millis(0), false},
		{"stopDeadline", guard.AtLeast, guard.Millis(0), false},
	} {
		err := s.Commit(context.Background(), guard.Commit{Job: job, Token: "c", Writes: []guard.Write{{
			SK: schema.GuardSK, If: []guard.Cond{{Field: c.field, Op: c.op, Value: c.value}},
			Patch: guard.Patch{Add: map[string]int64{"version": 1}},
		}}})
		if r := new(guard.Refused); err != nil && !errors.As(err, &r) {
			t.Fatal(err)
		}
		if got := err == nil; got != c.want {
			t.Errorf("%s %d %v: %v, want %v", c.field, c.op, c.value, got, c.want)
		}
	}
}

func patches(t *testing.T, s guard.Store) {
	before := claimed(t, s).Guard
	commit(t, s, &guard.Commit{Job: job, Token: "p", Writes: []guard.Write{{
		SK: schema.GuardSK, If: []guard.Cond{{Field: "fence", Op: guard.Is, Value: before.Fence}},
		Patch: guard.Patch{
			Set:    guard.Fields{{Name: "mark", Value: &guard.Mark{Why: guard.MarkTakeOver, By: "me", At: t0}}},
			Remove: []string{"run", "leaseUntil"},
			Add:    map[string]int64{"version": 2, "live": 1},
		},
	}}})
	g := guardOf(t, s)
	if g.Run != nil || g.LeaseUntil != 0 {
		t.Errorf("guard %+v: run and leaseUntil were removed", g)
	}
	if g.Version != before.Version+2 || g.Live != 1 {
		t.Errorf("version %d, live %d: want %d and 1", g.Version, g.Live, before.Version+2)
	}
	if g.Mark == nil || g.Mark.By != "me" {
		t.Errorf("mark %+v: was set", g.Mark)
	}
}

func checkOnly(t *testing.T, s guard.Store) {
	g := claimed(t, s)
	tick, at := tickAt(9)
	c := guard.Commit{Job: job, Token: "k", Writes: []guard.Write{
		{SK: schema.GuardSK, If: []guard.Cond{{Field: "fence", Op: guard.Is, Value: g.Guard.Fence}}},
		{SK: schema.TickSK(tick), Absent: true, Patch: guard.Patch{Set: guard.Fields{{Name: "tick", Value: tick}, {Name: "at", Value: at}}}},
	}}
	before := guardOf(t, s)
	commit(t, s, &c)
	if diff := cmp.Diff(before, guardOf(t, s)); diff != "" {
		t.Errorf("a check changed the guard:\n%s", diff)
	}
	c.Writes[0].If[0].Value = g.Guard.Fence + 1
	c.Writes[1].Absent, c.Writes[1].OrAbsent = false, true
	c.Token = "l"
	if r := refused(t, s, &c); !r.GuardRefused || r.Guard == nil {
		t.Errorf("refusal %+v: want the checked guard shown", r)
	}
}
