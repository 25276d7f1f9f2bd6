package guard

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/policy"
)

const minutely = every(time.Minute)

func minute(n int) Millis { return t0.Add(time.Duration(n) * time.Minute) }

func scheduled(minutes ...int) (rows []Row) {
	for _, n := range minutes {
		rows = append(rows, Row{Tick: TickID(Scheduled, minute(n)), At: minute(n), Kind: Scheduled, Outcome: Succeeded})
	}
	return rows
}

// accountable is a guard with every tick up to one minute before tick 0 on record. A tick's
// time is over twenty minutes after its instant.
func accountable(c policy.CatchUp, maximum int) Guard {
	spec := jobOf(policy.Skip)
	spec.CatchUp, spec.CatchUpMax = c, maximum
	return Guard{Job: spec.Job, Version: 1, Ready: true, LastTick: minute(-1), Spec: &spec, SpecHash: spec.Hash(), SpecSince: minute(-60)}
}

func TestAccountIsDueOnceATicksTimeIsOver(t *testing.T) {
	due := minute(20)
	for name, c := range map[string]struct {
		change func(*Guard)
		plan   Planned
		now    Millis
		want   bool
	}{
		"its last instant":  {nil, minutely, due, false},
		"over":              {nil, minutely, due + 1, true},
		"guard not ready":   {func(g *Guard) { g.Ready = false }, minutely, due + 1, false},
		"no spec":           {func(g *Guard) { g.Spec = nil }, minutely, due + 1, false},
		"schedule is gone":  {func(g *Guard) { g.SpecHash = "" }, minutely, due + 1, false},
		"nothing planned":   {nil, once{}, due + 1, false},
		"record up to date": {func(g *Guard) { g.LastTick = minute(0) }, minutely, due + 1, false},
	} {
		g := accountable(policy.CatchUpNone, 0)
		if c.change != nil {
			c.change(&g)
		}
		if got := AccountDue(g, c.plan, c.now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The guard speaks for its holder and for the tick that waits, whose rows somebody deleted.
func TestTicksThatTheGuardNamesAreNotMissed(t *testing.T) {
	over := minute(25) + 1 // ticks up to 5 had their time
	for name, c := range map[string]struct {
		rows     []Row
		complete bool
		gaps     string
	}{
		"no row":                 {nil, true, "[0-1/2 3-3/1 5-5/1]"},
		"rows around":            {scheduled(1, 3, 5), true, "[0-0/1]"},
		"their rows":             {scheduled(2, 4), true, "[0-1/2 3-3/1 5-5/1]"},
		"not all rows are known": {scheduled(3), false, "[0-1/2]"},
	} {
		g := accountable(policy.CatchUpNone, 0)
		g.Run = &RunRef{Tick: TickID(Scheduled, minute(2)), Planned: minute(2)}
		g.Waiting = &Waiting{Tick: TickID(Scheduled, minute(4)), Planned: minute(4), Kind: Scheduled}
		d, _ := Account(g, c.rows, c.complete, minutely, "t", over)
		var got []string
		for _, gap := range d.Gaps {
			got = append(got, fmt.Sprintf("%d-%d/%d", (gap.From-t0)/60_000, (gap.To-t0)/60_000, gap.Count))
		}
		if fmt.Sprint(got) != c.gaps {
			t.Errorf("%s: gaps %v, want %s", name, got, c.gaps)
		}
	}
}

func TestTicksThatNeverCameAreOneGapAndTheRecordMoves(t *testing.T) {
	over := minute(25) + 1 // ticks up to 5 had their time
	for name, c := range map[string]struct {
		rows     []Row
		complete bool
		now      Millis
		gaps     []string // from-to/count, in minutes
		last     int
	}{
		"none came":              {nil, true, over, []string{"0-5/6"}, 5},
		"the last may come":      {nil, true, minute(25), []string{"0-4/5"}, 4},
		"all came":               {scheduled(0, 1, 2, 3, 4, 5), true, over, nil, 5},
		"one between":            {scheduled(2), true, over, []string{"0-1/2", "3-5/3"}, 5},
		"the first":              {scheduled(0), true, over, []string{"1-5/5"}, 5},
		"the last":               {scheduled(5), true, over, []string{"0-4/5"}, 5},
		"not all rows are known": {scheduled(2), false, over, []string{"0-1/2"}, 2},
		"no rows are known":      {nil, false, over, nil, -1},
		"later than its time":    {scheduled(0, 1, 2, 3, 4, 5, 6, 9), true, over, nil, 6},
		"later ones in order":    {scheduled(0, 1, 2, 3, 4, 5, 6, 7), true, over, nil, 7},
		"before the record":      {scheduled(-2, -1), true, minute(19), nil, -1},
		"nothing had its time":   {nil, true, minute(20), nil, -1},
	} {
		g := accountable(policy.CatchUpNone, 0)
		d, ok := Account(g, c.rows, c.complete, minutely, "token", c.now)
		last := g.LastTick
		if ok {
			last = d.Guard.LastTick
		}
		var got []string
		for _, gap := range d.Gaps {
			got = append(got, fmt.Sprintf("%d-%d/%d", (gap.From-t0)/60_000, (gap.To-t0)/60_000, gap.Count))
			if gap.At != c.now || gap.Job != g.Job || gap.TTL != rowTTL(c.now) {
				t.Errorf("%s: gap %+v", name, gap)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.gaps) || last != minute(c.last) || ok != (c.last != -1) {
			t.Errorf("%s: gaps %v, record up to %v, moved %v; want %v, %v", name, got, last, ok, c.gaps, minute(c.last))
		}
		if ok && len(d.Commit.Writes) != 1+len(c.gaps) {
			t.Errorf("%s: %d writes: want the guard and the gaps in one commit", name, len(d.Commit.Writes))
		}
	}
}

func TestOnlyPlannedTicksAreOfTheRecord(t *testing.T) {
	rows := scheduled(0, 1)
	rows[0].Kind = Manual
	d, ok := Account(accountable(policy.CatchUpNone, 0), rows, true, minutely, "x", minute(21)+1)
	if !ok || len(d.Gaps) != 1 || d.Gaps[0].To != minute(0) {
		t.Errorf("%+v: a manual run stands for no planned tick", d)
	}
}

func TestNothingIsMissedFromBeforeTheSpecChanged(t *testing.T) {
	for since, want := range map[Millis]int{minute(3): 3, minute(3) + 1: 2, minute(9): 0} {
		g := accountable(policy.CatchUpNone, 0)
		g.SpecSince = since
		d, ok := Account(g, nil, true, minutely, "x", minute(25)+1)
		n := 0
		for _, gap := range d.Gaps {
			n += gap.Count
		}
		if !ok || n != want || d.Guard.LastTick != minute(5) || (len(d.Gaps) == 0) != (want == 0) {
			t.Errorf("since %v: %d missed, record up to %v; want %d", since, n, d.Guard.LastTick, want)
		}
	}
}

func TestPlanThatEndsIsNotExpectedForEver(t *testing.T) {
	plan := once{minute(0), minute(2)}
	d, ok := Account(accountable(policy.CatchUpNone, 0), nil, true, plan, "x", minute(60))
	if !ok || len(d.Gaps) != 1 || d.Gaps[0].Count != 2 || d.Guard.LastTick != minute(2) {
		t.Errorf("%+v", d)
	}
	if d, ok := Account(d.Guard, nil, true, plan, "x", minute(90)); ok {
		t.Errorf("%+v: nothing more is planned", d)
	}
}

func TestGapIsKeptAsItWasFound(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	d, _ := Account(b.guard(), nil, true, minutely, "x", minute(25)+1)
	b.do(d)
	gaps, err := b.m.Gaps(t.Context(), b.spec.Job, TickID(Scheduled, minute(0)), TickID(Scheduled, minute(9)), 0)
	if err != nil || len(gaps) != 1 || gaps[0] != d.Gaps[0] {
		t.Errorf("gaps %+v, %v: want %+v", gaps, err, d.Gaps[0])
	}
	if got := gaps[0].String(); got != "6 ticks from 2026-09-07T02:00:00Z to 2026-09-07T02:05:00Z never came" {
		t.Error(got)
	}
	if got := (Gap{Count: 1, To: t0}).String(); got != "tick 2026-09-07T02:00:00Z never came" {
		t.Error(got)
	}
}

func TestGapThatAdjoinsTheLastOneMakesItLonger(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	for _, now := range []Millis{minute(21) + 1, minute(22) + 1, minute(25) + 1} {
		d, ok := Account(b.guard(), nil, true, minutely, "x", now)
		if !ok {
			t.Fatalf("nothing missed at %v", now)
		}
		b.do(d)
	}
	gaps, err := b.m.Gaps(t.Context(), b.spec.Job, "2", "3", 0)
	if err != nil || len(gaps) != 1 || gaps[0].Count != 6 || gaps[0].From != minute(0) || gaps[0].To != minute(5) {
		t.Errorf("gaps %+v, %v: want one of 6 ticks", gaps, err)
	}
}

func TestGapBehindATickThatCameIsOneOfItsOwn(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	d, _ := Account(b.guard(), nil, true, minutely, "x", minute(20)+1)
	b.do(d)
	last := *b.guard().LastGap
	d, ok := Account(b.guard(), scheduled(2), true, minutely, "x", minute(25)+1)
	if !ok || len(d.Commit.Writes) != 3 || d.Commit.Writes[1].SK == d.Commit.Writes[2].SK || d.Guard.LastGap.From == last.From {
		t.Errorf("%+v: want minute 1 to join the last gap, and those behind minute 2 one of their own", d)
	}
}

func TestMissedTicksAreCaughtUpWithAsTheJobAsks(t *testing.T) {
	older := &Backlog{Kind: CatchUp, Next: minute(-30), To: minute(-28), Left: 2, Until: minute(10)}
	for name, c := range map[string]struct {
		catchUp  policy.CatchUp
		max      int
		rows     []Row
		before   *Backlog
		from, to int
		left     int
	}{
		"none":                   {policy.CatchUpNone, 0, nil, nil, 0, 0, 0},
		"latest":                 {policy.CatchUpLatest, 0, nil, nil, 5, 5, 1},
		"latest of two gaps":     {policy.CatchUpLatest, 0, scheduled(3), nil, 5, 5, 1},
		"latest, not yet caught": {policy.CatchUpLatest, 0, nil, older, 5, 5, 1},
		"all":                    {policy.CatchUpAll, 100, nil, nil, 0, 5, 6},
		"all of two gaps":        {policy.CatchUpAll, 100, scheduled(3), nil, 0, 5, 5},
		"the newest of all":      {policy.CatchUpAll, 2, nil, nil, 4, 5, 2},
		"behind what is left":    {policy.CatchUpAll, 100, nil, older, -30, 5, 8},
		"as many as fit":         {policy.CatchUpAll, 7, nil, older, -29, 5, 7},
		"none of the older fit":  {policy.CatchUpAll, 6, nil, older, 0, 5, 6},
	} {
		g := accountable(c.catchUp, c.max)
		if c.before != nil {
			g.Backlog = ptr(*c.before)
		}
		now := minute(25) + 1
		d, _ := Account(g, c.rows, true, minutely, "x", now)
		b := d.Guard.Backlog
		if c.left == 0 {
			if b != nil {
				t.Errorf("%s: backlog %+v, want none", name, b)
			}
			continue
		}
		if b == nil || b.Kind != CatchUp || b.To != minute(c.to) || b.Left != c.left || b.Until != now.Add(24*time.Hour) || d.Guard.TTL != 0 {
			t.Errorf("%s: backlog %+v: want up to %v, %d", name, b, minute(c.to), c.left)
			continue
		}
		if c.before != nil {
			d.Gaps = append([]Gap{{From: minute(-30), To: minute(-28)}}, d.Gaps...)
		}
		if first := b.Find(minutely, nil, d.Gaps, b.To).At; first != minute(c.from) {
			t.Errorf("%s: from %v, want %v", name, first, minute(c.from))
		}
	}
}

// Between the ticks that were missed others came, which make no room for anything.
func TestTheNewestMissedTicksAreCaughtUpWithWhateverCameBetweenThem(t *testing.T) {
	g := accountable(policy.CatchUpAll, 6)
	var missed []Gap
	miss := func(rows []Row, upTo int) {
		d, ok := Account(g, rows, true, minutely, "x", minute(upTo+20)+1)
		if !ok {
			t.Fatalf("nothing to account for up to minute %d", upTo)
		}
		g, missed = d.Guard, append(missed, d.Gaps...)
	}
	miss(nil, 2)
	miss(scheduled(3, 4, 5, 6, 7), 10) // 8 to 10 are missed
	miss(scheduled(11), 14)            // 12 to 14
	miss(nil, 15)
	var ran []int
	for g.Backlog != nil && len(ran) < 20 {
		d, _ := AdvanceBacklog(g, g.Backlog.Find(minutely, nil, missed, g.Backlog.To), "x", minute(40))
		if g = d.Guard; d.Next != nil {
			ran = append(ran, int((d.Next.At-t0)/60_000))
			g = g.release(End{Tick: d.Next.Tick}, 0, minute(40))
		}
	}
	if want := []int{9, 10, 12, 13, 14, 15}; !slices.Equal(ran, want) {
		t.Errorf("caught up with minutes %v, want %v", ran, want)
	}
}

func TestBackfillUnderWayIsNotMixedWithMissedTicks(t *testing.T) {
	g := accountable(policy.CatchUpAll, 100)
	g.Backlog = &Backlog{Kind: Backfill, Next: minute(-90), To: minute(-80), Left: 3}
	d, _ := Account(g, nil, true, minutely, "x", minute(25)+1)
	if b := d.Guard.Backlog; b == nil || *b != *g.Backlog || len(d.Gaps) != 1 {
		t.Errorf("backlog %+v, gaps %v: want the backfill's place kept, the gap on record", b, d.Gaps)
	}
}

func TestLongOutageIsAccountedForAtOnce(t *testing.T) {
	g := accountable(policy.CatchUpNone, 0)
	d, ok := Account(g, nil, true, minutely, "x", t0.Add(30*24*time.Hour))
	if !ok || len(d.Gaps) != 1 || d.Gaps[0].Count != 30*24*60-20 || len(d.Commit.Writes) != 2 {
		t.Errorf("%+v: want a month of minutes as one gap", d.Gaps)
	}
}

func TestAccountingFitsOneTransactionAndGoesOn(t *testing.T) {
	const ticks = 240 // of which every other one never came
	b := newBench(t, jobOf(policy.Skip))
	var rows []Row
	for n := 1; n < ticks; n += 2 {
		rows = append(rows, scheduled(n)...)
	}
	missed := 0
	for range 2 {
		d, _ := Account(b.guard(), rows, true, minutely, b.token(), minute(ticks+20))
		if d.Commit == nil || len(d.Commit.Writes) > 100 {
			t.Fatalf("%+v: want a commit of at most 100 writes, which is what DynamoDB takes", d)
		}
		b.do(d)
		missed += len(d.Gaps)
	}
	if g := b.guard(); missed != ticks/2 || g.LastTick != minute(ticks-1) {
		t.Errorf("%d gaps, record up to %v: want %d up to %v", missed, g.LastTick, ticks/2, minute(ticks-1))
	}
}

// phased is a plan whose ticks show its phase, as those of a rate do.
type phased struct{ period, phase Millis }

func (p phased) Next(after Millis) Millis {
	return (after-p.phase)/p.period*p.period + p.phase + p.period
}

func (p phased) Prev(before Millis) Millis { return (before-1-p.phase)/p.period*p.period + p.phase }

func (p phased) Count(after, to Millis) int {
	return max(0, int((to-p.phase)/p.period-(after-p.phase)/p.period))
}

func (p phased) Anchored(tick Millis) Planned { return phased{p.period, tick % p.period} }

func TestWhatIsMissedBehindARowHasItsPhase(t *testing.T) {
	const ten = Millis(600_000)
	for name, c := range map[string]struct {
		since Millis // of the spec
		want  Millis // the first that is missed
	}{
		"a row of this spec":       {minute(3), minute(13)},
		"a row of the spec before": {minute(3) + 1, minute(5)},
	} {
		g := accountable(policy.CatchUpNone, 0)
		g.SpecSince = c.since
		dec, ok := Account(g, scheduled(3), true, phased{ten, minute(5) % ten}, "token", minute(15+20)+1)
		if !ok || len(dec.Gaps) != 1 || dec.Gaps[0].From != c.want {
			t.Errorf("%s: %v, want a gap from %s", name, dec.Gaps, c.want)
		}
	}
}

// A tick that the guard names says nothing of those before it that were not read.
func TestNoTickIsMissedThatWasNotRead(t *testing.T) {
	g := accountable(policy.CatchUpNone, 0)
	g.Run = &RunRef{ID: "r", Tick: TickID(Scheduled, minute(3)), Planned: minute(3)}
	dec, _ := Account(g, scheduled(0), false, minutely, "token", minute(30))
	if len(dec.Gaps) > 0 || dec.Guard.LastTick != minute(0) {
		t.Errorf("gaps %v, on record up to %s: want none, up to %s", dec.Gaps, dec.Guard.LastTick, minute(0))
	}
}
