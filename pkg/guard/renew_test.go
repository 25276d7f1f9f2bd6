package guard

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/policy"
)

func beatOf(row Row) Beat {
	return Beat{Job: row.Job, Tick: row.Tick, Run: row.Run, Fence: row.Fence, Lease: 2 * time.Minute}
}

// renewed tries a beat and returns how it was answered.
func (b *bench) renewed(beat Beat) Renewal {
	b.t.Helper()
	before := b.guard()
	err := b.m.Commit(b.t.Context(), BlindBeat(beat, b.now))
	if err == nil {
		if g := b.guard(); g.LeaseUntil != b.now.Add(beat.Lease) || g.Version != before.Version+1 || g.Fence != before.Fence {
			b.t.Errorf("guard %+v: want the lease renewed, the version raised, the fence left", g)
		}
		return Renewed
	}
	return JudgeBeat(beat, ptr(b.guard()), b.rowOf(beat.Tick), b.now.Add(beat.Lease), b.now)
}

func TestBeatIsAnsweredByWhatTheGuardSays(t *testing.T) {
	maxOver := t0.Add(80*time.Second + 600*time.Second) // start by + maximum run time
	for name, c := range map[string]struct {
		change func(*Guard)
		now    Millis
		want   Renewal
	}{
		"in time":                   {nil, t0 + 30_000, Renewed},
		"late, nobody took it":      {nil, t0.Add(5 * time.Minute), Renewed},
		"the same instant again":    {func(g *Guard) { g.LeaseUntil = t0.Add(150 * time.Second) }, t0 + 30_000, Renewed},
		"marked":                    {func(g *Guard) { g.Mark = &Mark{} }, t0 + 30_000, LostLease},
		"last instant of its time":  {nil, maxOver - 1, Renewed},
		"had its time":              {nil, maxOver, HadMaxTime},
		"asked, grace not over":     {func(g *Guard) { g.Stop, g.StopDeadline = &StopRequest{}, t0+30_001 }, t0 + 30_000, Renewed},
		"asked, grace over":         {func(g *Guard) { g.Stop, g.StopDeadline = &StopRequest{}, t0+30_000 }, t0 + 30_000, AskedToStop},
		"another holds it":          {func(g *Guard) { g.Run = &RunRef{ID: "another"} }, t0 + 30_000, LostLease},
		"another fence":             {func(g *Guard) { g.Fence++ }, t0 + 30_000, LostLease},
		"free":                      {func(g *Guard) { g.Run = nil }, t0 + 30_000, LostLease},
		"another, with a late stop": {func(g *Guard) { g.Run, g.Stop, g.StopDeadline = &RunRef{ID: "another"}, &StopRequest{}, 1 }, t0 + 30_000, LostLease},
	} {
		b := newBench(t, jobOf(policy.Skip))
		run := b.started(0)
		if c.change != nil {
			b.change(c.change)
		}
		b.now = c.now
		before := b.guard()
		if got := b.renewed(beatOf(run)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if g := b.guard(); c.want != Renewed && g.Version != before.Version {
			t.Errorf("%s: a refused beat wrote the guard", name)
		}
	}
}

func TestRunThatHasEndedIsNotToldOfALostLease(t *testing.T) {
	for outcome, want := range map[Outcome]Renewal{
		Succeeded: Ending, Failed: Ending, TimedOut: LostLease, LeaseLost: LostLease, Replaced: LostLease, Aborted: LostLease, Running: LostLease,
	} {
		row := Row{Outcome: outcome, Fence: 7}
		if got := JudgeBeat(Beat{Run: "r", Fence: 7}, nil, &row, t0, t0); got != want {
			t.Errorf("%s: %v, want %v", outcome, got, want)
		}
	}
	if got := JudgeBeat(Beat{Run: "r", Fence: 7}, nil, &Row{Outcome: Succeeded, Fence: 8}, t0, t0); got != LostLease {
		t.Errorf("another attempt's success: %v", got)
	}
	if got := JudgeBeat(Beat{Run: "r", Fence: 7}, nil, nil, t0, t0); got != LostLease {
		t.Errorf("no records: %v", got)
	}
}

func TestBeatJudgesItsOwnWriteByTheLease(t *testing.T) {
	g := Guard{Run: &RunRef{ID: "r"}, Fence: 7, LeaseUntil: t0, MaxRunUntil: t0 + 1}
	for until, want := range map[Millis]Renewal{t0 - 1: Renewed, t0: Renewed, t0 + 1: LostLease} {
		if got := JudgeBeat(Beat{Run: "r", Fence: 7}, &g, nil, until, t0); got != want {
			t.Errorf("wanted %v: %v, want %v", until, got, want)
		}
	}
}
