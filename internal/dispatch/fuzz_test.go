package dispatch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// Whatever the dispatcher is sent: a bad event is refused before anything is written or
// started, a good one leaves the tick with a row that says what became of it.
func FuzzTickEvent(f *testing.F) {
	spec := testworld.Minutely("cleanup")
	add := func(change func(*schema.TickEvent)) {
		ev := schema.TickEvent{Job: "cleanup", Tick: "2026-09-07T02:00:00Z", Spec: spec}
		change(&ev)
		b, err := json.Marshal(ev)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	add(func(*schema.TickEvent) {})
	add(func(e *schema.TickEvent) { e.Tick = "2026-09-07T02:00:30.5+02:00" })
	add(func(e *schema.TickEvent) { e.Tick = "9999-12-31T23:59:59Z" })
	add(func(e *schema.TickEvent) { e.Tick = schema.AttrScheduledTime })
	add(func(e *schema.TickEvent) { e.Spec = schema.Spec{} })
	add(func(e *schema.TickEvent) { e.Spec.Overlap, e.Spec.Beats = policy.Allow, false })
	add(func(e *schema.TickEvent) { e.Spec.Schedule, e.Spec.Timezone = "rate(7 minutes)", "America/New_York" })
	add(func(e *schema.TickEvent) { e.Spec.Schedule = "at(2026-09-07T02:00:00)" })
	add(func(e *schema.TickEvent) { e.Spec.Start, e.Spec.End = "2026-09-07T02:00:00Z", "2026-09-07T01:00:00Z" })
	add(func(e *schema.TickEvent) { e.Spec.LeaseSeconds, e.Spec.MaxRunSeconds = 1<<40, -1 })
	add(func(e *schema.TickEvent) { e.Spec.Version = "2.0" })
	for _, raw := range []string{``, `null`, `[]`, `"tick"`, `{"job":7}`, `{"job":"cleanup","tick":"x","spec":{"overlap":"forbid"}}`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		w := testworld.New(t, nil)
		w.At("02:00:30")
		r, err := w.Event(string(event))
		if err != nil {
			if w.Store.Commits != 0 || w.Runs.Starts != 0 || strings.Contains(err.Error(), "panic") {
				t.Errorf("%v after %d commits and %d starts", err, w.Store.Commits, w.Runs.Starts)
			}
			return
		}
		var ev schema.TickEvent
		if err := json.Unmarshal(event, &ev); err != nil || schema.CheckJob(ev.Job) != nil || ev.Spec.Check() != nil {
			t.Fatalf("%+v of an event that says nothing: %v", r, err)
		}
		g := w.Guard(ev.Job)
		if r.Result == "Duplicate" { // below where a new guard begins
			at, err := schema.ParseTick(ev.Tick)
			if err != nil || schema.MillisOf(at) > g.LastTick {
				t.Errorf("%+v, record up to %v", r, g.LastTick)
			}
			return
		}
		at, _ := schema.ParseTick(ev.Tick)
		row := w.RowOf(ev.Job, schema.TickID(at))
		if row == nil || string(row.Outcome) != r.Result || row.At != schema.MillisOf(at) {
			t.Fatalf("%+v, row %+v: want it on record", r, row)
		}
		if (row.Outcome == guard.Running) != r.Started || w.Runs.Running() > 1 {
			t.Errorf("%+v, row %+v, %d executions", r, row, w.Runs.Running())
		}
		if row.Outcome != guard.Running && !row.Outcome.Final() {
			t.Errorf("row %+v: nothing was in the way", row)
		}
	})
}
