package testworld

import (
	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Engine is one that acts at the world's time, for what people and the sentinel do.
func (w *World) Engine() *engine.Engine {
	return &engine.Engine{
		Store: w.Store, Machines: w.Runs, Now: w.Now, NewToken: w.newToken, Timeout: schema.DispatcherTimeout, Observe: w,
	}
}

// Sweep sees to the job as the sentinel does every minute.
func (w *World) Sweep(job string) {
	w.t.Helper()
	if err := w.Engine().SweepGuard(w.t.Context(), w.Guard(job)); err != nil {
		w.t.Fatalf("sweep: %v", err)
	}
}

// Run asks for a run of the job now, as a person does.
func (w *World) Run(job string, override func(*guard.Delivery)) engine.Result {
	w.t.Helper()
	r, err := w.Engine().Run(w.t.Context(), job, "me: because", override)
	if err != nil {
		w.t.Fatalf("run: %v", err)
	}
	return r
}

// RowOf returns the row of a tick by its id, or nil.
func (w *World) RowOf(job, tick string) *guard.Row {
	w.t.Helper()
	row, err := w.Store.Store.Row(w.t.Context(), job, tick)
	if err != nil {
		w.t.Fatalf("row %s: %v", tick, err)
	}
	return row
}

// Told is what was told of a job's ticks, in order.
type Told struct {
	Row  guard.Row
	Gap  guard.Gap
	What string // "ended", "lost", "missed" or the warning
}

// Ended implements engine.Observer.
func (w *World) Ended(row guard.Row) { w.Told = append(w.Told, Told{Row: row, What: "ended"}) }

// Lost implements engine.Observer.
func (w *World) Lost(row guard.Row) { w.Told = append(w.Told, Told{Row: row, What: "lost"}) }

// Missed implements engine.Observer.
func (w *World) Missed(gap guard.Gap) { w.Told = append(w.Told, Told{Gap: gap, What: "missed"}) }

// Given implements engine.Observer.
func (w *World) Given(guard.Row) {}

// Going implements engine.Observer.
func (w *World) Going(guard.Row) {}

// Warn implements engine.Observer.
func (w *World) Warn(_, run, what string, _ error) {
	w.Told = append(w.Told, Told{Row: guard.Row{Run: run}, What: what})
}
