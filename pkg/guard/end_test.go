package guard

import (
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

func TestMarkGivesAStoppedRunItsOutcome(t *testing.T) {
	for _, c := range []struct {
		mark          MarkReason
		ended, want   Outcome
		why           string
		withoutTheRow bool
	}{
		{MarkTakeOver, Aborted, LeaseLost, "the lease ran out; stopped for you", false},
		{MarkTakeOver, LeaseLost, LeaseLost, "the lease ran out; stopped for you", true},
		{MarkReplace, Aborted, Replaced, "stopped for you", false},
		{MarkReplace, LeaseLost, Replaced, "stopped for you", false},
		{MarkRelease, Aborted, Aborted, "released by you", false},
		{MarkRelease, LeaseLost, Aborted, "released by you", false},
		{MarkRelease, Succeeded, Succeeded, "", false},
		{MarkReplace, TimedOut, TimedOut, "", false},
		{"", Aborted, Aborted, "", false},
	} {
		b := newBench(t, jobOf(policy.Skip))
		run := b.started(0)
		if c.mark != "" {
			b.change(func(g *Guard) { g.Mark = &Mark{Why: c.mark, By: "you"} })
		}
		b.at(10).settle(b.endOf(run, c.ended))
		if row := b.row(0); row.Outcome != c.want || row.Why != c.why {
			t.Errorf("%s, ended %s: %s %q, want %s %q", c.mark, c.ended, row.Outcome, row.Why, c.want, c.why)
		}
		if g := b.guard(); g.Mark != nil || g.Run != nil {
			t.Errorf("%s: guard %+v keeps the mark", c.mark, g)
		}
	}
}

func TestRunTimeNeedsBothInstants(t *testing.T) {
	for name, c := range map[string]struct {
		started, ended Millis
		runTime        int64
		ratio          float64
		endedAt        Millis
	}{
		"both":          {t0, t0 + 7_000, 7_000, 0.1167, t0 + 7_000},
		"no time":       {t0 + 7, t0 + 7, 0, 0, t0 + 7},
		"not started":   {0, t0 + 7_000, 0, 0, t0 + 7_000},
		"no end":        {t0, 0, 0, 0, t0 + 9_000},
		"clock ran off": {t0 + 8_000, t0 + 7_000, 0, 0, t0 + 7_000},
	} {
		b := newBench(t, jobOf(policy.Skip))
		e := b.endOf(b.started(0), Failed)
		e.StartedAt, e.EndedAt = c.started, c.ended
		b.at(9).settle(e)
		row := b.row(0)
		if row.RunTime != c.runTime || row.Ratio != c.ratio || row.EndedAt != c.endedAt {
			t.Errorf("%s: run time %d, ratio %v, ended %v; want %d, %v, %v", name, row.RunTime, row.Ratio, row.EndedAt, c.runTime, c.ratio, c.endedAt)
		}
	}
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	e := b.endOf(run, Failed)
	if e.StartedAt, e.EndedAt = t0+7, t0+7; Settle(e, ptr(b.guard()), &run, t0+9).Row.StartedAt != t0+7 {
		t.Error("a run of no time has its start on record all the same")
	}
	run.Interval = 0
	if d := Settle(b.endOf(run, Failed), ptr(b.guard()), &run, t0+5); d.Row.Ratio != 0 {
		t.Errorf("ratio %v without an interval", d.Row.Ratio)
	}
}

// An end without a time must not hide that there was one.
func TestEndOfUnknownTimeIsTheTimeItWasReported(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip, drains))
	e := b.lingering(b.started(0), Succeeded)
	e.EndedAt = 0
	b.at(20).settle(e)
	g := b.guard()
	if g.LastSuccessAt != b.now || g.Last.EndedAt != b.now || g.DrainUntil != b.now.Add(5*time.Minute) {
		t.Errorf("guard %+v: want the success, the end and the drain counted from now", g)
	}
}

func TestWorkThatMayGoOnHoldsTheGuard(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*schema.Spec)
		lingers bool
		want    Millis
	}{
		"lingers":       {drains, true, t0.Add(5*time.Minute + 10*time.Second)},
		"is over":       {drains, false, 0},
		"cannot linger": {func(*schema.Spec) {}, true, 0},
		"is fenced":     {func(s *schema.Spec) { s.DrainSeconds, s.Fenced = 300, true }, true, 0},
	} {
		b := newBench(t, jobOf(policy.Skip, c.change))
		e := b.endOf(b.started(0), Failed)
		b.at(10)
		e.EndedAt, e.MayLinger = b.now, c.lingers
		b.settle(e)
		if g := b.guard(); g.DrainUntil != c.want {
			t.Errorf("%s: drains until %v, want %v", name, g.DrainUntil, c.want)
		}
	}
}

func TestDrainIsNeverShortened(t *testing.T) {
	g := Guard{Spec: &schema.Spec{DrainSeconds: 300}, DrainUntil: t0.Add(time.Hour)}
	if got := g.release(End{MayLinger: true, EndedAt: t0}, (*Terms)(nil).drain(g.Spec), t0); got.DrainUntil != g.DrainUntil {
		t.Errorf("drains until %v: an earlier end shortened it", got.DrainUntil)
	}
	g = Guard{} // of an older version, without a spec
	if got := g.release(End{MayLinger: true, EndedAt: t0}, (*Terms)(nil).drain(g.Spec), t0); got.DrainUntil != 0 {
		t.Errorf("drains until %v without a spec", got.DrainUntil)
	}
}

func TestCauseIsCutAtACharacter(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want int
	}{
		"fits":            {strings.Repeat("x", MaxCause), MaxCause},
		"one too long":    {strings.Repeat("x", MaxCause+1), MaxCause},
		"half a rune cut": {"x" + strings.Repeat("é", MaxCause), MaxCause - 1},
	} {
		if got := cut(c.in, MaxCause); len(got) != c.want || !strings.HasPrefix(c.in, got) {
			t.Errorf("%s: %d bytes, want %d", name, len(got), c.want)
		}
	}
}
