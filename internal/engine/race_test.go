package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// overtaken lets another commit just before one that sets certain fields of the guard.
type overtaken struct {
	*guard.Memory
	sets  []string
	other func()
}

func (o *overtaken) Commit(ctx context.Context, c guard.Commit) error {
	missing := func(field string) bool { return c.Writes[0].Patch.Set.Get(field) == nil }
	if o.other != nil && !slices.ContainsFunc(o.sets, missing) {
		do := o.other
		o.other = nil
		do()
	}
	return o.Memory.Commit(ctx, c)
}

// The simulation found what this shows: a guard made moments ago counts ahead of every clock,
// so two that want it write the same version; the loser took the winner's for its own.
func TestBacklogThatLostTheGuardStartsNothing(t *testing.T) {
	store := &overtaken{Memory: guard.NewMemory(), sets: []string{"run", "backlog"}} // the backlog's tick gets the guard
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

// repeating is a store in which the answer to every write is lost and the SDK sends it again: a
// transaction is then answered by its token, a single write meets itself.
type repeating struct{ guard.Store }

func (r repeating) Commit(ctx context.Context, c guard.Commit) error {
	if err := r.Store.Commit(ctx, c); err != nil || len(c.Writes) > 1 {
		return err
	}
	return r.Store.Commit(ctx, c)
}

func TestWhatAPersonAskedForIsDoneOnceThoughItsAnswerIsLost(t *testing.T) {
	w, spec := testworld.New(t, repeating{guard.NewMemory()}), testworld.Minutely("cleanup")
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	e := w.Engine()
	ctx := t.Context()
	if _, err := e.Pause(ctx, "cleanup", guard.Pause{By: "ada", Why: "deploying"}); err != nil {
		t.Errorf("pause: %v", err)
	}
	if g, err := e.Resume(ctx, "cleanup"); err != nil || g.Paused != nil {
		t.Errorf("resume: %v, %+v", err, g.Paused)
	}
	if _, _, err := e.Backfill(ctx, "cleanup", schema.MillisOf(w.At("01:00:00")), schema.MillisOf(w.At("01:05:00"))); err != nil {
		t.Errorf("backfill: %v", err)
	}
	w.At("02:00:30")
	if g, _, err := e.Release(ctx, "cleanup", "", "ada", "it hangs"); err != nil || g.Mark == nil && g.Run != nil && g.Run.ID == run.Run {
		t.Errorf("release: %v, %+v", err, g)
	}
}
