package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// between does something in the middle of another's work: before its query of open rows.
type between struct {
	*guard.Memory
	open func()
}

func (b *between) Rows(ctx context.Context, q guard.RowQuery) (guard.RowPage, error) {
	if q.OpenOnly && b.open != nil {
		do := b.open
		b.open = nil
		do()
	}
	return b.Memory.Rows(ctx, q)
}

// The simulation found what this shows: two deliveries make a lost guard ready at once, one
// starts its run, and the other, slower one took that run for a leftover of the lost guard.
func TestRunOfTheNewGuardIsNotStoppedAsOneOfTheLostGuard(t *testing.T) {
	store := &between{Memory: guard.NewMemory()}
	w, spec := testworld.New(t, store), testworld.Minutely("cleanup")
	w.At("02:00:00")
	lost := w.Tick(spec, "02:00")
	w.At("02:00:30")
	if _, err := w.Succeed(lost); err != nil {
		t.Fatal(err)
	}
	store.Delete("cleanup", schema.GuardSK)
	w.At("02:01:00")
	w.Tick(spec, "02:01") // makes the guard anew: blocked
	w.At("02:05:00")
	store.open = func() { w.Tick(spec, "02:05") }
	w.Tick(spec, "02:05")
	if w.Runs.Stops != 0 || w.Row("cleanup", "02:05").Outcome != guard.Running {
		t.Errorf("%d stops, row %+v: want the new guard's run left alone", w.Runs.Stops, w.Row("cleanup", "02:05"))
	}
}

// Of a run that ends before its new guard is ready no row is open any more by then.
func TestDrainOfARunThatEndsWhileItsNewGuardIsBlockedIsAwaited(t *testing.T) {
	store := guard.NewMemory()
	w, spec := testworld.New(t, store), testworld.Spec("cleanup", "cron(0/10 * * * ? *)")
	spec.Beats, spec.RenewalSeconds = false, 0
	spec.MaxRunSeconds, spec.MachineTimeoutSeconds, spec.LeaseSeconds, spec.DrainSeconds = 3600, 3630, 3800, 900
	w.Established(spec, "01:50")
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	w.At("02:05:00")
	store.Delete("cleanup", schema.GuardSK)
	spec.MaxRunSeconds, spec.MachineTimeoutSeconds, spec.LeaseSeconds = 60, 90, 300
	must(t)(nil, w.Engine().Introduce(t.Context(), spec))
	w.Clock = w.Guard("cleanup").ReadyAt.Time().Add(-5 * time.Second)
	w.Runs.End(run.Run, machine.TimedOut, "")
	must(t)(w.Settle(w.StatusEvent(run.Run)))
	ended, started := w.Clock, w.Runs.Started
	for w.Clock.Before(ended.Add(14 * time.Minute)) {
		w.Clock = w.Clock.Add(time.Minute)
		must(t)(w.Deliver(spec, schema.TickID(w.Clock.Truncate(10*time.Minute))))
		w.Sweep("cleanup")
	}
	if w.Runs.Started > started {
		t.Errorf("a run started %v after one whose work may go on for 15 minutes", w.Clock.Sub(ended))
	}
	w.Clock = ended.Add(30 * time.Minute).Truncate(10 * time.Minute)
	if must(t)(w.Deliver(spec, schema.TickID(w.Clock))); w.Runs.Started != started+1 {
		t.Error("nothing started once the drain was over")
	}
}
