package guard

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// bench is one job's records in memory and a clock: what a transition decides is committed, so
// that a test can go on from there.
type bench struct {
	t    *testing.T
	m    *Memory
	spec schema.Spec
	now  Millis
	n    int
}

// newBench has a guard that is ready and free, with every tick before tick 0 on record.
func newBench(t *testing.T, spec schema.Spec) *bench {
	t.Helper()
	b := &bench{t: t, m: NewMemory(), spec: spec, now: t0}
	g := Guard{
		Version: int64(t0) - 60_000, Ready: true, LastTick: t0.Add(-time.Minute),
		Spec: &spec, SpecHash: spec.Hash(), SpecSince: t0.Add(-time.Hour), TTL: 5,
	}
	b.do(Decision{Commit: &Commit{Job: spec.Job, Writes: []Write{{SK: schema.GuardSK, Absent: true, Patch: diffGuards(&Guard{}, &g)}}}})
	return b
}

// jobOf is a job with beats, no drain and a grace of half a minute.
func jobOf(o policy.Overlap, changes ...func(*schema.Spec)) schema.Spec {
	s := testSpec(o, o != policy.Allow)
	s.DrainSeconds, s.GraceSeconds = 0, 30
	for _, change := range changes {
		change(&s)
	}
	return s
}

func drains(s *schema.Spec) { s.DrainSeconds = 300 }

// at sets the clock to seconds after tick 0.
func (b *bench) at(seconds int) *bench {
	b.now = t0.Add(time.Duration(seconds) * time.Second)
	return b
}

func (b *bench) token() string {
	b.n++
	return fmt.Sprintf("token%d", b.n)
}

func (b *bench) do(d Decision) Decision {
	b.t.Helper()
	if d.Commit == nil {
		return d
	}
	before, _ := b.m.Guard(b.t.Context(), b.spec.Job)
	if err := b.m.Commit(b.t.Context(), *d.Commit); err != nil {
		b.t.Fatalf("commit: %v", err)
	}
	for _, w := range d.Commit.Writes {
		if g := b.guard(); w.SK == schema.GuardSK && before != nil && (g.Version <= before.Version || g.Fence < before.Fence) {
			b.t.Errorf("version %d after %d, fence %d after %d: must rise, must not fall", g.Version, before.Version, g.Fence, before.Fence)
		}
	}
	return d
}

// change sets fields of the guard as no transition would.
func (b *bench) change(f func(*Guard)) *bench {
	b.t.Helper()
	g := b.guard()
	want := g
	f(&want)
	b.do(Decision{Commit: exact("change", g, want)})
	return b
}

func (b *bench) guard() Guard {
	b.t.Helper()
	g, _ := b.m.Guard(b.t.Context(), b.spec.Job)
	if g == nil {
		b.t.Fatal("the job has no guard")
	}
	return *g
}

func (b *bench) rowOf(tick string) *Row {
	row, _ := b.m.Row(b.t.Context(), b.spec.Job, tick)
	return row
}

// row is the ledger row of the tick so many minutes after tick 0.
func (b *bench) row(minute int) Row {
	b.t.Helper()
	row := b.rowOf(b.delivery(minute).Tick)
	if row == nil {
		b.t.Fatalf("tick %d has no row", minute)
	}
	return *row
}

func (b *bench) delivery(minute int) Delivery { return testDelivery(b.spec, minute, b.token()) }

// tick delivers a planned tick; see deliver.
func (b *bench) tick(minute int) Decision {
	b.t.Helper()
	return b.deliver(b.delivery(minute))
}

// deliver decides on the records as they are and commits.
func (b *bench) deliver(d Delivery) Decision {
	b.t.Helper()
	g, _ := b.m.Guard(b.t.Context(), b.spec.Job)
	return b.do(Deliver(d, g, b.rowOf(d.Tick), b.now))
}

// manual is a run asked for now.
func (b *bench) manual() Delivery {
	d := b.delivery(0)
	d.Kind, d.At, d.Prev, d.Tick, d.By = Manual, b.now, 0, ManualID(b.now), "me: because"
	return d
}

// started delivers a tick and wants it started.
func (b *bench) started(minute int) Row {
	b.t.Helper()
	d := b.tick(minute)
	if d.Verdict != Start {
		b.t.Fatalf("tick %d: verdict %v, row %+v: want it started", minute, d.Verdict, d.Row)
	}
	return d.Row
}

func (b *bench) endOf(row Row, o Outcome) End {
	return End{
		Job: b.spec.Job, Tick: row.Tick, Run: row.Run, Fence: row.Fence, Attempt: row.Attempt, Interval: row.Interval,
		Outcome: o, StartedAt: row.ClaimedAt, EndedAt: b.now, Token: b.token(),
	}
}

// lingering is an end after which the work may go on.
func (b *bench) lingering(row Row, o Outcome) End {
	e := b.endOf(row, o)
	e.MayLinger = true
	return e
}

// settle records an end on the records as they are.
func (b *bench) settle(e End) Decision {
	b.t.Helper()
	g, _ := b.m.Guard(b.t.Context(), b.spec.Job)
	return b.do(Settle(e, g, b.rowOf(e.Tick), b.now))
}

// takeOver decides on a holder after a look, and commits.
func (b *bench) takeOver(s Sight) Decision {
	b.t.Helper()
	g := b.guard()
	s.At = b.now
	return b.do(TakeOver(g, b.rowOf(g.Run.Tick), s, "sweep", BacklogTick{}, b.token(), b.now))
}

func (b *bench) advance() (Decision, bool) {
	b.t.Helper()
	d, ok := Advance(b.guard(), b.token(), b.now)
	return b.do(d), ok
}

// refusedBy wants an error that is a Refusal.
func refusedBy(t *testing.T, err error) string {
	t.Helper()
	r := new(Refusal)
	if !errors.As(err, &r) {
		t.Fatalf("error %v: want a refusal", err)
	}
	return r.Error()
}

// every is a plan with a tick at every multiple of a period.
type every time.Duration

func (e every) period() Millis { return Millis(time.Duration(e).Milliseconds()) }

func (e every) Next(after Millis) Millis { return (after/e.period() + 1) * e.period() }

func (e every) Prev(before Millis) Millis { return (before - 1) / e.period() * e.period() }

func (e every) Count(after, to Millis) int { return max(0, int(to/e.period()-after/e.period())) }

func (e every) Anchored(Millis) Planned { return e }

// once is a plan that ends: its ticks are all there are.
type once []Millis

func (o once) Next(after Millis) Millis {
	for _, at := range o {
		if at > after {
			return at
		}
	}
	return 0
}

func (o once) Prev(before Millis) (last Millis) {
	for _, at := range o {
		if at < before {
			last = at
		}
	}
	return last
}

func (o once) Anchored(Millis) Planned { return o }

func (o once) Count(after, to Millis) (n int) {
	for _, at := range o {
		if at > after && at <= to {
			n++
		}
	}
	return n
}
