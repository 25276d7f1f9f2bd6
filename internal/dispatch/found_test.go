package dispatch_test

import (
	"errors"
	"testing"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// The simulation found what these show.

func TestRefusedRestartOfARunThatWorksLeavesItItsGuard(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:01")
	first := w.Tick(spec, "02:00")
	w.Runs.FailStart = machine.ErrPermanent // somebody took the permission away
	w.At("02:00:20")
	w.Tick(spec, "02:00")
	if g := w.Guard("cleanup"); g.Run == nil || g.Run.ID != first.Run {
		t.Errorf("guard %+v: want it held by the run that works", g)
	}
	if row := w.Row("cleanup", "02:00"); row.Outcome != guard.Running {
		t.Errorf("row %+v: want Running", row)
	}
}

func TestRedeliveryAfterItsRowWasDeletedLeavesTheHolderAlone(t *testing.T) {
	store := guard.NewMemory()
	w, spec := testworld.New(t, store), testworld.Minutely("cleanup")
	w.At("02:00:01")
	first := w.Tick(spec, "02:00")
	w.At("02:00:10")
	store.Delete("cleanup", schema.TickSK(first.Tick))
	if again := w.Tick(spec, "02:00"); again.Result != "Duplicate" {
		t.Errorf("%+v: want Duplicate, the guard still speaks for the tick", again)
	}
	if _, err := w.Succeed(first); err != nil {
		t.Fatal(err)
	}
	if g, row := w.Guard("cleanup"), w.Row("cleanup", "02:00"); g.Run != nil || row.Outcome != guard.Succeeded {
		t.Errorf("guard %+v, row %+v: want it free and the success on record", g, row)
	}
}

// The exploration pointed to what this shows: a look that does not see a run yet proves
// nothing while others may have started it.
func TestRefusedRestartOfARunThatIsNotSeenYetLeavesItItsGuard(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:01")
	w.Runs.FailStart = errors.New("throttled") // whether it took effect is not known
	_, _ = w.Deliver(spec, "2026-09-07T02:00:00Z")
	w.Runs.FailStart = machine.ErrPermanent
	w.At("02:00:20")
	if r, err := w.Deliver(spec, "2026-09-07T02:00:00Z"); err == nil {
		t.Errorf("%+v: want the refusal back", r)
	}
	if row := w.Row("cleanup", "02:00"); row.Outcome != guard.Running || w.Guard("cleanup").Run == nil {
		t.Errorf("row %+v: want it Running until nobody may start it", row)
	}
	w.At("02:02:12")
	if r := w.Tick(spec, "02:02"); r.Result == "Skipped" {
		t.Errorf("%+v: want the run abandoned by then", r)
	}
	if row := w.Row("cleanup", "02:00"); row.Outcome != guard.Abandoned {
		t.Errorf("row %+v: want Abandoned", row)
	}
}
