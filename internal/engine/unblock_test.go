package engine_test

import (
	"context"
	"testing"

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
