package sim

import (
	"slices"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// kept is how many ticks with a final outcome a world without faults remembers. It forgets
// older ones once lastTick has passed them, as the table's TTL does: memory is constant,
// however long a simulation lasts.
const kept = 64

// remembered is a tick that came to its end.
type remembered struct {
	tick, run string
	at        Millis
	fence     int64
}

// trim forgets what is old.
func (w *World) trim(o *observation) {
	for _, row := range o.rowsAfter {
		if row != nil && row.Outcome.Final() {
			w.done = append(w.done, remembered{row.Tick, row.Run, row.At, row.Fence})
		}
	}
	for len(w.done) > kept && w.guard != nil && w.done[0].at <= w.guard.LastTick {
		w.forget(w.done[0])
		w.done = w.done[1:]
	}
}

func (w *World) forget(r remembered) {
	w.mem.Delete(simJob, schema.TickSK(r.tick))
	delete(w.executions, r.run)
	h := &w.history
	delete(h.finals, r.tick)
	delete(h.accepted, r.tick)
	for len(h.expected) > 0 && h.expected[0] <= r.at { // they come in order
		h.expected = h.expected[1:]
	}
	if len(h.runs) > 2*kept {
		h.runs = slices.DeleteFunc(h.runs, func(run *runRecord) bool { return run.fence <= r.fence && run.left })
	}
}
