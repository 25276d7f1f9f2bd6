package settle_test

import (
	"testing"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
)

// The simulation found what this shows.
func TestLookThatIsOlderThanItsStatusEventSettlesNothing(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	r := w.Tick(spec, "02:00")
	event := w.StatusEvent(r.Run) // DescribeExecution still shows it running
	event.Detail.Status = string(machine.Failed)
	w.At("02:00:30")
	if _, err := w.Settle(event); err == nil {
		t.Error("want an error, so that the event is tried again")
	}
	if row := w.Row("cleanup", "02:00"); row.Outcome != guard.Running {
		t.Errorf("row %+v: want it as it was", row)
	}
}
