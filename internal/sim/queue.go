package sim

import "github.com/cronfence/cronfence/pkg/guard"

// Millis is an instant of the simulated world.
type Millis = guard.Millis

// event is something that happens at an instant. Of two at the same instant the one with the
// lower rank happens first, then the one that was planned first: a run's end settles before
// a tick of the same instant.
type event struct {
	at   Millis
	rank uint8
	seq  uint64
	do   func()
	wake *process // instead of do: it goes on, or dies
	dies bool
}

// The ranks.
const (
	rankSoon uint8 = iota // what follows from something else
	rankTick              // the schedule's own instants
	rankSweep
)

func (e event) before(f event) bool {
	switch {
	case e.at != f.at:
		return e.at < f.at
	case e.rank != f.rank:
		return e.rank < f.rank
	}
	return e.seq < f.seq
}

// queue is a binary heap of events: container/heap would box every one of them.
type queue struct {
	heap []event
	seq  uint64
}

func (q *queue) add(e event) {
	q.seq++
	e.seq = q.seq
	q.heap = append(q.heap, e)
	for i := len(q.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !q.heap[i].before(q.heap[up]) {
			break
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

func (q *queue) next() (event, bool) {
	if len(q.heap) == 0 {
		return event{}, false
	}
	first, last := q.heap[0], len(q.heap)-1
	q.heap[0], q.heap[last] = q.heap[last], event{}
	q.heap = q.heap[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down+1 < last && q.heap[down+1].before(q.heap[down]) {
			down++
		}
		if down >= last || !q.heap[down].before(q.heap[i]) {
			return first, true
		}
		q.heap[i], q.heap[down] = q.heap[down], q.heap[i]
		i = down
	}
}
