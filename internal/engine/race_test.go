package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// overtaken lets another commit just before one that gives the guard to a backlog's tick.
type overtaken struct {
	*guard.Memory
	other func()
}

func (o *overtaken) Commit(ctx context.Context, c guard.Commit) error {
	_, isRun := c.Writes[0].Patch.Set["run"]
	_, isBacklog := c.Writes[0].Patch.Set["backlog"]
	if isRun && isBacklog && o.other != nil {
		do := o.other
		o.other = nil
		do()
	}
	return o.Memory.Commit(ctx, c)
}

// The simulation found what this shows: a guard made moments ago counts ahead of every clock,
// so two that want it write the same version; the loser took the winner's for its own.
func TestBacklogThatLostTheGuardStartsNothing(t *testing.T) {
	store := &overtaken{Memory: guard.NewMemory()}
	w, spec := testworld.New(t, store), testworld.Minutely("cleanup")
	w.At("02:00:00")
	first := w.Tick(spec, "02:00")
	w.At("02:00:02")
	if _, err := w.Succeed(first); err != nil {
		t.Fatal(err)
	}
	w.At("02:00:05")
	e := engine.Engine{Store: store, Machines: w.Runs, Now: w.Now, NewToken: func() string { return "person" }, Timeout: engine.CommandLineTimeout}
	store.other = func() { w.Tick(spec, "02:01") }
	at := schema.MillisOf(testworld.Midnight)
	if _, _, err := e.Backfill(context.Background(), "cleanup", at, at.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n := w.Runs.Running(); n != 2 { // the first, which the world leaves running, and 02:01
		t.Errorf("%d executions run, want none for the backlog", n)
	}
}

// So is this: runs of policy Allow hold nothing, but their work may outlive them.
func TestPolicyChangedFromAllowWaitsForWorkThatLingers(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	spec.Beats, spec.RenewalSeconds, spec.Overlap, spec.DrainSeconds = false, 0, policy.Allow, 60
	w.At("02:00:00")
	r := w.Tick(spec, "02:00")
	w.At("02:00:50")
	if _, err := w.Fail(r, "States.Timeout", ""); err != nil {
		t.Fatal(err)
	}
	spec.Overlap = policy.Skip
	w.At("02:01:00")
	if r := w.Tick(spec, "02:01"); r.Result != "Skipped" {
		t.Errorf("%+v: want it skipped while the work may still be going on", r)
	}
}
