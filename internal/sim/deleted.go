package sim

import (
	"context"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// deleteGuard deletes the guard, unless every row is gone too while a run goes on: then nothing would
// tell the job from one that never ran.
func (w *World) deleteGuard() {
	if w.guard == nil || w.rows() == 0 && w.history.alive() {
		return
	}
	w.faults.struck(GuardDeleted)
	w.history.forgetGuard(w)
	w.mem.Delete(simJob, schema.GuardSK)
	w.guard = nil
}

// deleteRow deletes a row, unless it is the last witness of what goes on.
func (w *World) deleteRow() {
	known := w.guard != nil && w.guard.Ready || w.rows() > 1
	if tick, ok := w.history.someRow(w); ok && (known || !w.history.alive()) {
		w.faults.struck(RowDeleted)
		w.history.forgetRow(w, tick)
		w.mem.Delete(simJob, schema.TickSK(tick))
	}
}

// someRow draws a row to be deleted, most often one of the newest.
func (h *history) someRow(w *World) (string, bool) {
	page, err := w.mem.Rows(context.Background(), guard.RowQuery{Job: simJob, Newest: true, Limit: 1 + w.rng.IntN(3)})
	if err != nil || len(page.Rows) == 0 {
		return "", false
	}
	return page.Rows[len(page.Rows)-1].Tick, true
}

// forgetRow is told that somebody deletes a row. The guard still speaks for its holder, for the
// tick that waits and for every tick up to lastTick. Any other tick has no other witness: if it
// is delivered again, nothing and nobody can know that it was decided before. Such a tick, and
// no other, is exempt from then on.
func (h *history) forgetRow(w *World, tick string) {
	delete(h.queued, tick)
	kind, at := guard.KindOf(tick)
	g := w.guard
	_, over := h.finals[tick]
	switch {
	case g != nil && (g.Run != nil && g.Run.Tick == tick || g.Waiting != nil && g.Waiting.Tick == tick):
		h.gone[tick] = at
	case over && g != nil && kind == guard.Scheduled && g.LastTick >= at && !w.replaced(at):
		h.gone[tick] = at
	default:
		h.exempt(tick)
	}
}

// replaced tells whether a tick may be one of a spec that is no more and still be delivered:
// lastTick is then no witness of it.
func (w *World) replaced(at Millis) bool {
	return w.deployed > 0 && at < w.guard.SpecSince+2*margin && w.clock < at+w.plan.ever.longWindow()+margin
}

// forgetGuard is told that somebody deletes the guard: rows deleted before lose the witness
// they had in its lastTick.
func (h *history) forgetGuard(w *World) {
	for tick := range h.gone {
		h.exempt(tick)
	}
	clear(h.gone)
	for _, r := range h.runs {
		if w.guard.Run != nil && r.fence == w.guard.Fence || r.shared {
			r.orphaned = true
		}
	}
}

func (h *history) exempt(tick string) {
	delete(h.finals, tick)
	delete(h.opened, tick)
	h.exempted[tick] = true
}
