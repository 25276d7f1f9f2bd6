package guard

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/policy"
)

// ofTick is the row of a backlog's tick so many minutes after tick 0.
func ofTick(k Kind, n, before int, o Outcome) Row {
	return Row{Tick: AgainID(k, minute(n), before), At: minute(n), Kind: k, Outcome: o}
}

func TestBackfillRunsWhatNoBackfillBeforeItBroughtToASuccess(t *testing.T) {
	for name, c := range map[string]struct {
		kind   Kind
		rows   []Row
		known  int
		want   int // the minute of the tick found; -1: none is left
		before int
		done   bool
	}{
		"nothing on record":             {Backfill, nil, 9, 0, 0, false},
		"it failed":                     {Backfill, []Row{ofTick(Backfill, 0, 0, Failed)}, 9, 0, 1, false},
		"it failed twice":               {Backfill, []Row{ofTick(Backfill, 0, 0, Failed), ofTick(Backfill, 0, 1, TimedOut)}, 9, 0, 2, false},
		"the first row was collected":   {Backfill, []Row{ofTick(Backfill, 0, 1, Aborted)}, 9, 0, 2, false},
		"it succeeded":                  {Backfill, []Row{ofTick(Backfill, 0, 0, Succeeded)}, 9, 1, 0, false},
		"it succeeded the second time":  {Backfill, []Row{ofTick(Backfill, 0, 0, Failed), ofTick(Backfill, 0, 1, Succeeded)}, 9, 1, 0, false},
		"it runs":                       {Backfill, []Row{ofTick(Backfill, 0, 0, Running)}, 9, 1, 0, false},
		"several succeeded":             {Backfill, []Row{ofTick(Backfill, 0, 0, Succeeded), ofTick(Backfill, 1, 0, Succeeded), ofTick(Backfill, 3, 0, Succeeded)}, 9, 2, 0, false},
		"all succeeded":                 {Backfill, []Row{ofTick(Backfill, 0, 0, Succeeded), ofTick(Backfill, 1, 0, Succeeded), ofTick(Backfill, 2, 0, Succeeded), ofTick(Backfill, 3, 0, Succeeded)}, 9, -1, 0, false},
		"those that are known":          {Backfill, []Row{ofTick(Backfill, 0, 0, Succeeded), ofTick(Backfill, 1, 0, Succeeded)}, 1, 1, 1, true},
		"none is known":                 {Backfill, nil, -1, -1, 0, true},
		"caught up with, it failed":     {CatchUp, []Row{ofTick(CatchUp, 0, 0, Failed)}, 9, 1, 0, false},
		"missed, and not caught up yet": {CatchUp, nil, 9, 0, 0, false},
		"the next was not missed":       {CatchUp, []Row{ofTick(CatchUp, 0, 0, Failed), ofTick(CatchUp, 1, 0, Failed)}, 9, 3, 0, false},
		"all caught up with":            {CatchUp, []Row{ofTick(CatchUp, 0, 0, Failed), ofTick(CatchUp, 1, 0, Failed), ofTick(CatchUp, 3, 0, Failed)}, 9, -1, 0, false},
	} {
		b := Backlog{Kind: c.kind, Next: minute(0), To: minute(3), Left: 4}
		missed := []Gap{{From: minute(-5), To: minute(1)}, {From: minute(3), To: minute(3)}}
		got := b.Find(minutely, c.rows, missed, minute(c.known))
		at := minute(c.want)
		if c.want < 0 {
			at = 0
		}
		if got.At != at || got.Before != c.before || got.Done != c.done || c.kind == Backfill && at != 0 && got.Next != at.Add(time.Minute) {
			t.Errorf("%s: %+v, want minute %d, the %dth time, done %v", name, got, c.want, c.before+1, c.done)
		}
	}
}

func TestTickThatIsBackfilledAgainHasAnIDAndARunOfItsOwn(t *testing.T) {
	b, from := backfilled(t)
	again := b.next()
	again.Before = 1
	d, _ := b.advanceBacklog(again)
	if d.Next == nil || d.Next.Tick != "backfill-2026-09-07T01:00:00Z-2" || d.Next.Run != "cleanup-backfill20260907T010000Z2-1" || d.Next.Attempt != 1 || d.Next.At != from {
		t.Fatalf("next %+v", d.Next)
	}
	d = b.at(60).settle(b.endOf(*d.Next, Succeeded))
	if row := b.rowOf("backfill-2026-09-07T01:00:00Z-2"); row == nil || row.Outcome != Succeeded || b.rowOf("backfill-2026-09-07T01:00:00Z") != nil {
		t.Errorf("row %+v", row)
	}
}

func TestIDsOfTicksThatAreBackfilledAgainAreReadBack(t *testing.T) {
	for before := range 12 {
		id := AgainID(Backfill, t0, before)
		if kind, at := KindOf(id); kind != Backfill || at != t0 {
			t.Errorf("%s: %s of %v", id, kind, at)
		}
	}
	for _, id := range []string{
		"backfill-2026-09-07T02:00:00Z-1", "backfill-2026-09-07T02:00:00Z-02", "backfill-2026-09-07T02:00:00Z-", "backfill-2026-09-07T02:00:00Z-+2",
		"backfill-2026-09-07T02:00:00Z2", "catchup-2026-09-07T02:00:00Z-2", "2026-09-07T02:00:00Z-2", "manual-2026-09-07T02:00:00.000Z-2",
	} {
		if _, at := KindOf(id); at != 0 {
			t.Errorf("%s was read as %v", id, at)
		}
	}
}

func TestBackfillEndsWhereTicksMayStillCome(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip)) // a tick's time is over twenty minutes after its instant
	g := b.guard()
	for name, c := range map[string]struct{ last, want int }{
		"on record":                 {90, 90},
		"its time is over":          {50, 79},
		"nothing was ever recorded": {-600, 79},
	} {
		g.LastTick = minute(c.last)
		if got := minutely.Prev(BackfillEnd(g, minute(100)) + 1); got != minute(c.want) {
			t.Errorf("%s: up to %v, want %v", name, got, minute(c.want))
		}
	}
}
