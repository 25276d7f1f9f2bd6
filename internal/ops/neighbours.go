package ops

import (
	"iter"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// neighbours makes one entry of gaps that lie side by side: while an outage lasts, every
// sweep records what was missed since the one before. A job whose schedule changed since, or
// cannot be read, keeps them apart.
func neighbours(g guard.Guard, planned iter.Seq2[Entry, error]) iter.Seq2[Entry, error] {
	if g.Spec == nil {
		return planned
	}
	p, err := engine.PlannedBy(g)
	if err != nil {
		return planned
	}
	return func(yield func(Entry, error) bool) {
		var held *Entry // a gap that may grow backwards
		for e, err := range planned {
			if err != nil {
				yield(e, err)
				return
			}
			if held != nil && e.Outcome == guard.Missed && p.Next(schema.MillisOf(e.At)) == schema.MillisOf(held.From) {
				held.From, held.Count = e.From, held.Count+e.Count
				held.Why = guard.Gap{From: schema.MillisOf(held.From), To: schema.MillisOf(held.At), Count: held.Count}.String()
				continue
			}
			if held != nil && !yield(*held, nil) {
				return
			}
			if held = nil; e.Outcome == guard.Missed {
				held = &e
			} else if !yield(e, nil) {
				return
			}
		}
		if held != nil {
			yield(*held, nil)
		}
	}
}
