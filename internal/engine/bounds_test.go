package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// aHundredLive is a job of policy allow with a hundred runs.
func aHundredLive(t *testing.T, store guard.Store) (*testworld.World, schema.Spec) {
	w, spec := testworld.New(t, store), minutely(policy.Allow, func(s *schema.Spec) { s.Beats = false })
	for i := range 100 {
		w.Clock = testworld.Midnight.Add(time.Duration(120+i) * time.Minute)
		w.Tick(spec, w.Clock.Format("15:04"))
	}
	return w, spec
}

func openRows(t *testing.T, w *testworld.World) int {
	t.Helper()
	page, err := w.Store.Store.Rows(t.Context(), guard.RowQuery{Job: "cleanup", OpenOnly: true})
	if err != nil || page.Next != "" {
		t.Fatal(err, page.Next)
	}
	return len(page.Rows)
}

func TestMoreOpenRowsThanACommitHoldsAreClosedInTurn(t *testing.T) {
	store := guard.NewMemory()
	w, spec := aHundredLive(t, store)
	store.Delete("cleanup", schema.GuardSK)
	w.At("03:50:00")
	w.Tick(spec, "03:50")
	w.At("06:00:00")
	for _, step := range []struct {
		open  int
		ready bool
	}{{10, false}, {0, true}} {
		w.Sweep("cleanup")
		if g := w.Guard("cleanup"); openRows(t, w) != step.open || g.Ready != step.ready {
			t.Fatalf("%d open rows, ready %v: want %d, %v", openRows(t, w), g.Ready, step.open, step.ready)
		}
	}
	if w.Runs.Running() != 0 {
		t.Errorf("%d of the lost guard's runs go on", w.Runs.Running())
	}
}

func TestASweepLooksAtABoundedNumberOfSharedRuns(t *testing.T) {
	w, _ := aHundredLive(t, nil)
	for _, told := range []int{50, 100} {
		w.Clock = w.Clock.Add(5 * time.Minute)
		for i := range 100 {
			at := testworld.Midnight.Add(time.Duration(120+i) * time.Minute)
			w.Runs.End(schema.RunID("cleanup", schema.TickID(at), 1), machine.TimedOut, "")
		}
		w.Sweep("cleanup")
		if got := 100 - openRows(t, w); got != told || w.Guard("cleanup").Live != int64(100-told) {
			t.Errorf("%d settled, live %d: want %d", got, w.Guard("cleanup").Live, told)
		}
	}
}

func TestRacesThatAreLostForEverEndAsBusy(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Skip)
	w.Established(spec, "01:59")
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	w.At("02:01:00")
	n := 0
	w.Store.Fail = func(c guard.Commit) error {
		n++
		return w.Store.Store.Commit(t.Context(), guard.Commit{Job: "cleanup", Token: fmt.Sprint(n), Writes: []guard.Write{{
			SK: schema.GuardSK, If: []guard.Cond{{Field: "run.id", Op: guard.Is, Value: run.Run}}, Patch: guard.Patch{Add: map[string]int64{"version": 1}},
		}}})
	}
	w.Store.Reset()
	if r, err := w.Deliver(spec, "2026-09-07T02:01:00Z"); !errors.Is(err, guard.ErrBusy) {
		t.Errorf("%+v, %v: want it left to another delivery", r, err)
	}
	if got := w.Store.Reset(); got > 30 {
		t.Errorf("%d requests", got)
	}
	if _, err := w.Engine().Pause(t.Context(), "cleanup", guard.Pause{}); !errors.Is(err, guard.ErrBusy) {
		t.Errorf("error %v: want a pause that lost every race to say so", err)
	}
}

// TTL collects within days, and what it has not collected yet still counts.
func TestRowsAndGuardsPastTheirTTLDecideAsBefore(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Skip)
	w.Established(spec, "02:00")
	row, g := w.Row("cleanup", "02:00"), w.Guard("cleanup")
	day := int64(24 * 60 * 60)
	if now := w.Clock.Unix(); row.TTL != now+90*day || g.TTL != now+400*day {
		t.Errorf("ttl of the row %d, of the guard %d, now %d: want seconds, 90 and 400 days on", row.TTL, g.TTL, now)
	}
	w.Clock = w.Clock.Add(500 * 24 * time.Hour)
	if r := w.Tick(spec, "02:00"); r.Result != "Duplicate" {
		t.Errorf("%+v: the row is there", r)
	}
	next := must(t)(w.Deliver(spec, schema.TickID(w.Clock)))
	if now := w.Guard("cleanup"); now.Fence <= g.Fence || now.TTL != 0 {
		t.Errorf("%+v, guard %+v: want the fence to go on from the stored one, and no TTL while it is held", next, now)
	}
}
