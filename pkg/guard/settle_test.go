package guard

import (
	"errors"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

func TestErrorNamesBecomeOutcomes(t *testing.T) {
	for name, want := range map[string]Outcome{
		"States.Timeout": TimedOut, schema.ErrorMaxRunTime: TimedOut, schema.ErrorStop: Replaced,
		schema.ErrorLeaseLost: LeaseLost, "Boom": Failed, "": Failed,
	} {
		if got := OutcomeOf(name); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}

func TestOnlyAFunctionsOwnErrorProvesThatItsWorkIsOver(t *testing.T) {
	for name, want := range map[string]bool{
		"Boom": true, "errorString": true, "": false, "States.Timeout": false, "Lambda.Unknown": false, "Cronfence.Stop": false,
		"Runtime.ExitError": false, "Sandbox.Timedout": false, "Extension.Crash": false, "Function.ResponseSizeTooLarge": false,
	} {
		if got := OwnError(name); got != want {
			t.Errorf("%q: own %v, want %v", name, got, want)
		}
	}
}

func TestEndIsSettledBlindlyOnlyIfTheWorkIsOver(t *testing.T) {
	for _, o := range []Outcome{Succeeded, Failed, TimedOut, Aborted, Replaced, LeaseLost, Abandoned} {
		_, ok := BlindSettle(End{Outcome: o}, t0)
		if want := o == Succeeded || o == Failed; ok != want {
			t.Errorf("%s: %v, want %v", o, ok, want)
		}
		if _, ok := BlindSettle(End{Outcome: o, MayLinger: true}, t0); ok {
			t.Errorf("%s, work going on: its drain is not known without looking", o)
		}
	}
}

func TestEndReleasesTheGuardAndFinishesTheRow(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	b.at(45)
	d := b.settle(b.endOf(run, Succeeded))
	g, row := b.guard(), b.row(0)
	if g.Run != nil || g.LeaseUntil != 0 || g.StartBy != 0 || g.MaxRunUntil != 0 || g.Fence != run.Fence {
		t.Errorf("guard %+v: want it free, its fence kept", g)
	}
	if last := g.Last; last == nil || last.Run != run.Run || last.Tick != run.Tick || last.EndedAt != b.now || g.LastSuccessAt != b.now {
		t.Errorf("guard %+v, last %+v: want the end noted", g, last)
	}
	if want := b.now.Add(400 * 24 * time.Hour).Time().Unix(); g.TTL != want {
		t.Errorf("ttl %d, want %d: 400 days", g.TTL, want)
	}
	if want := b.now.Add(90 * 24 * time.Hour).Time().Unix(); row.TTL != want {
		t.Errorf("ttl of the row %d, want %d: 90 days", row.TTL, want)
	}
	if row.Outcome != Succeeded || row.RunTime != 45_000 || row.Ratio != 0.75 || row.RunTimeDuration() != 45*time.Second || d.Row != row {
		t.Errorf("row %+v", row)
	}
}

func TestRareJobsGuardIsKeptForThreeIntervals(t *testing.T) {
	const days = 86_400
	for interval, want := range map[int64]int64{200 * days: 600 * days, 100 * days: 400 * days, 0: 400 * days} {
		if got := guardTTL(t0, interval) - t0.Time().Unix(); got != want {
			t.Errorf("interval %d days: kept %d days, want %d", interval/days, got/days, want/days)
		}
	}
}

func TestEndHasOneEffectHoweverOftenItIsReported(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	b.at(45).settle(b.endOf(run, Succeeded))
	before := b.guard()
	for _, o := range []Outcome{Succeeded, Failed, Aborted} {
		if d := b.at(50).settle(b.endOf(run, o)); d.Verdict != Duplicate || d.Commit != nil || d.Row.Outcome != Succeeded {
			t.Errorf("%s: %+v, want a duplicate of the success", o, d)
		}
	}
	if g := b.guard(); g.Version != before.Version {
		t.Error("a repeated end wrote the guard")
	}
}

func TestWordOnAnotherRunIsStale(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	for name, change := range map[string]func(*End){
		"another run":      func(e *End) { e.Run = "another" },
		"an older fence":   func(e *End) { e.Fence-- },
		"a newer fence":    func(e *End) { e.Fence++ },
		"a tick off books": func(e *End) { e.Tick, e.Run = "2026-09-07T03:00:00Z", "another" },
	} {
		e := b.endOf(run, Failed)
		change(&e)
		if d := b.settle(e); d.Verdict != Stale || d.Commit != nil {
			t.Errorf("%s: %+v, want it stale", name, d)
		}
	}
	if d := Settle(b.endOf(run, Failed), nil, nil, t0); d.Verdict != Stale {
		t.Errorf("no records at all: %+v", d)
	}
}

func TestRowThatSomebodyDeletedComesBackWithTheEnd(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	b.m.Delete(b.spec.Job, schema.TickSK(run.Tick))
	b.at(30).settle(b.endOf(run, Failed))
	row := b.row(0)
	if row.Outcome != Failed || row.Run != run.Run || row.Fence != run.Fence || row.At != t0 || row.Kind != Scheduled || row.Attempt != 1 || row.Interval != 60 {
		t.Errorf("row %+v: want it back with what is known of it", row)
	}
	if g := b.guard(); g.Run != nil {
		t.Error("the guard is held still")
	}
}

func TestFinalRowOfTheHolderFreesTheGuardAndStaysAsItIs(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	closed := run.closed(Aborted, "by hand", "x", t0)
	b.do(Decision{Commit: &Commit{Job: b.spec.Job, Writes: []Write{changedRow(run, closed)}}})
	b.at(30).settle(b.endOf(run, Succeeded))
	if row := b.row(0); row.Outcome != Aborted || row.Why != "by hand" || b.guard().Run != nil {
		t.Errorf("row %+v: want the outcome unchanged, the guard free", row)
	}
}

func TestRowWhoseGuardIsAnothersIsFinishedAlone(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	first := b.started(0)
	for name, change := range map[string]func(*Guard){
		"another's": func(g *Guard) { g.Run = &RunRef{ID: "another"}; g.Fence += 5 },
		"free":      func(g *Guard) { g.Run = nil },
	} {
		g := b.guard()
		change(&g)
		d := Settle(b.endOf(first, Failed), &g, &first, t0)
		if d.Verdict != Done || len(d.Commit.Writes) != 1 || d.Row.Outcome != Failed || d.Guard.Version != g.Version {
			t.Errorf("%s: %+v, want the row alone written", name, d)
		}
	}
	if d := Settle(b.endOf(first, Failed), nil, &first, t0); d.Verdict != Done || len(d.Commit.Writes) != 1 {
		t.Errorf("no guard: %+v, want the row alone written", d)
	}
}

func TestRowFinishedAloneIsNotBroughtBackOnceDeleted(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	first := b.endOf(run, Succeeded)
	free := b.change(func(g *Guard) { g.Run = nil }).guard()
	late := Settle(b.endOf(run, Aborted), &free, &run, b.now) // judged by the row as it was
	b.settle(first)
	b.m.Delete(b.spec.Job, schema.TickSK(run.Tick))
	refused := new(Refused)
	if err := b.m.Commit(t.Context(), *late.Commit); !errors.As(err, &refused) || b.rowOf(run.Tick) != nil {
		t.Errorf("%v, row %+v: the row was final when somebody deleted it, so another outcome must not bring it back", err, b.rowOf(run.Tick))
	}
}

func TestSharedRunIsCountedOffOnce(t *testing.T) {
	b := newBench(t, jobOf(policy.Allow))
	first := b.started(0)
	b.started(1)
	b.at(90)
	for range 2 {
		b.settle(b.endOf(first, Succeeded))
	}
	if g := b.guard(); g.Live != 1 || g.TTL != 0 {
		t.Errorf("live %d, ttl %d: want one alive, so the guard kept for good", g.Live, g.TTL)
	}
	b.settle(b.endOf(b.row(1), Failed))
	if g := b.guard(); g.Live != 0 || g.TTL == 0 {
		t.Errorf("live %d, ttl %d: want none alive", g.Live, g.TTL)
	}
	row := b.row(1)
	row.Outcome = Running
	g := b.guard()
	if d := Settle(b.endOf(row, Failed), &g, &row, t0); len(d.Commit.Writes) != 1 {
		t.Errorf("%+v: a count of none is not lowered", d)
	}
}

func TestOnlyASharedRunIsCountedOff(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	run := b.started(0)
	g := b.guard()
	g.Run, g.Live = nil, 2 // the policy was allow for a while
	if d := Settle(b.endOf(run, Failed), &g, &run, t0); len(d.Commit.Writes) != 1 {
		t.Errorf("%+v: want the row of an exclusive run finished alone", d)
	}
	run.Shared = true
	if d := Settle(b.endOf(run, Failed), nil, &run, t0); len(d.Commit.Writes) != 1 {
		t.Errorf("%+v: want a shared run's row finished without a guard", d)
	}
	for outcome, want := range map[Outcome]Millis{Succeeded: t0 + 7, Failed: 0} {
		e := b.endOf(run, outcome)
		e.EndedAt = t0 + 7
		if d := Settle(e, &g, &run, t0+9); d.Guard.Live != 1 || d.Guard.LastSuccessAt != want {
			t.Errorf("%s: guard %+v, want one alive and the last success %v", outcome, d.Guard, want)
		}
	}
}

func TestReleaseGoesStraightToTheTickThatWaits(t *testing.T) {
	b := newBench(t, jobOf(policy.QueueOne))
	run := b.started(0)
	b.at(60).tick(1)
	b.at(90)
	d := b.settle(b.endOf(run, Succeeded))
	g, row := b.guard(), b.row(1)
	row.Holder = nil // it says still what it waited for
	if d.Next == nil || *d.Next != row || row.Outcome != Running || row.Why != WhyHandedOver || g.Run == nil || g.Run.ID != row.Run {
		t.Fatalf("next %+v, row %+v, guard %+v: want the guard handed over", d.Next, row, g)
	}
	if row.Fence <= run.Fence || g.Waiting != nil || row.ClaimedAt != b.now || row.Delay != 30_000 || row.Attempt != 1 {
		t.Errorf("row %+v: want a new fence, its own tick and its delay", row)
	}
	if row.Interval != 60 || row.At != t0.Add(time.Minute) || row.Token == "" {
		t.Errorf("row %+v: want its own tick kept", row)
	}
}

func ptr[T any](v T) *T { return &v }
