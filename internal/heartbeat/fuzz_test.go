package heartbeat_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/heartbeat"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Whatever a state machine sends: only the holder's own beat changes the guard, and nothing of
// it but the lease and the version.
func FuzzBeatEvent(f *testing.F) {
	w := testworld.New(&testing.T{}, nil)
	w.At("02:00:00")
	r := w.Tick(testworld.Minutely("cleanup"), "02:00")
	add := func(change func(*schema.BeatEvent)) {
		ev := schema.BeatEvent{
			Job: "cleanup", Tick: r.Tick, Run: r.Run, Fence: r.Fence, Interval: 60, LeaseSeconds: 120, StartedAt: "2026-09-07T02:00:00.123Z",
		}
		change(&ev)
		b, err := json.Marshal(ev)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	add(func(*schema.BeatEvent) {})
	add(func(e *schema.BeatEvent) { e.Fence-- })
	add(func(e *schema.BeatEvent) { e.Run = "another" })
	add(func(e *schema.BeatEvent) { e.LeaseSeconds = 1 })
	add(func(e *schema.BeatEvent) { e.LeaseSeconds = 1 << 62 })
	add(func(e *schema.BeatEvent) { e.Job = "a/b" })
	add(func(e *schema.BeatEvent) { e.StartedAt, e.Interval = "", -1 })
	f.Add([]byte(`null`))
	f.Add([]byte(`{"fence":"7"}`))
	f.Fuzz(func(t *testing.T, event []byte) {
		w := testworld.New(t, nil)
		w.At("02:00:00")
		r := w.Tick(testworld.Minutely("cleanup"), "02:00")
		w.At("02:00:30")
		before := w.Guard("cleanup")
		h := &heartbeat.Handler{Scheduler: testworld.Scheduler, Store: w.Store, Now: w.Now, Out: &w.Out}
		_, err := h.Handle(t.Context(), event)
		g := w.Guard("cleanup")
		if g.Version == before.Version {
			if diff := cmp.Diff(before, g); diff != "" {
				t.Errorf("%v, yet the guard changed:\n%s", err, diff)
			}
			return
		}
		var ev schema.BeatEvent
		if err != nil || json.Unmarshal(event, &ev) != nil || ev.Run != r.Run || ev.Fence != r.Fence {
			t.Fatalf("%v: a stranger's beat renewed the lease", err)
		}
		if g.LeaseUntil <= before.LeaseUntil {
			t.Errorf("lease %v after %v: a beat shortened it", g.LeaseUntil, before.LeaseUntil)
		}
		g.Version, g.LeaseUntil = before.Version, before.LeaseUntil
		if diff := cmp.Diff(before, g); diff != "" {
			t.Errorf("a beat changed more than the lease:\n%s", diff)
		}
	})
}
