package explore

import (
	"slices"

	"github.com/cronfence/cronfence/pkg/guard"
)

// state is everything that what happens next depends on, and what the invariants must
// remember. States never change.
type state struct {
	clock  Millis
	recs   *records
	runs   *seq[*execution]
	calls  *seq[inflight]
	todo   *seq[todo]
	past   past
	faults int8 // left
}

// inflight is a call under way.
type inflight struct {
	node *node
	// late, if set, is the answer of its last effect, which happened and did not arrive yet.
	late *heard
	rest rest
}

// rest says whether a fault has put a call to sleep.
type rest uint8

const (
	awake    rest = iota
	stunned       // since this instant: it goes on at a later one
	sleeping      // it may go on, or sleep on until its process is killed
)

// todo is an invocation that is going to be made.
type todo struct {
	kind kind
	tick int
	run  *execution
	due  Millis
	held bool // a fault holds it back: it comes at any later instant
}

// past is what the invariants remember of what was committed. Nothing that is deleted
// takes anything from it.
type past struct {
	finals  [maxTicks + 1]outcome
	deleted [maxTicks + 1]bool // the row was deleted, and the guard can tell
	exempt  [maxTicks + 1]bool // the row was deleted, and nothing can tell
	orphan  int64              // the fence of a run whose guard was deleted under it
	fence   int64              // the highest ever given
	// refused is the fence of a run whose start was refused for good: by the contract of
	// machine.ErrPermanent every later start of it is refused too.
	refused int64
}

// hash is equal for states that differ in the order of calls or invocations alone: which
// of two dispatchers does what is no difference. It is 64 bits wide; see the package's doc
// for what that means.
func (s *state) hash() uint64 {
	h := mix(uint64(s.clock)<<8 | uint64(s.faults))
	h = mix(h ^ s.recs.id)
	h = mix(h ^ s.runs.hash)
	h = mix(h ^ s.calls.hash)
	h = mix(h ^ s.todo.hash)
	return mix(h ^ s.past.hash())
}

func hashCall(c *inflight) uint64 {
	h := mix(c.node.id ^ uint64(c.rest)<<1)
	if c.late != nil {
		h = mix(h ^ c.late.id)
	}
	return h
}

func hashTodo(t *todo) uint64 {
	h := mix(uint64(t.due)<<16 ^ uint64(t.kind)<<8 ^ uint64(t.tick)<<1 ^ bit(t.held))
	if t.run != nil {
		h = mix(h ^ t.run.id)
	}
	return h
}

func hashRun(r **execution) uint64 { return mix((*r).id) }

func (p *past) hash() uint64 {
	h := mix(uint64(p.fence)) ^ mix(uint64(p.orphan)+1) ^ mix(uint64(p.refused)+2)
	for i, o := range p.finals {
		h = mix(h ^ uint64(o) ^ bit(p.deleted[i])<<32 ^ bit(p.exempt[i])<<33)
	}
	return h
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (s *state) execution(run string) (int, *execution) {
	for i, r := range s.runs.all {
		if r.run == run {
			return i, r
		}
	}
	return -1, nil
}

// outcome is a tick's outcome as a small number; 0 is none.
type outcome uint8

var outcomes = []guard.Outcome{
	"", guard.Running, guard.Queued, guard.Succeeded, guard.Failed, guard.TimedOut, guard.Aborted, guard.Replaced,
	guard.LeaseLost, guard.Skipped, guard.Coalesced, guard.Expired, guard.Missed, guard.Abandoned,
}

func outcomeOf(o guard.Outcome) outcome { return outcome(slices.Index(outcomes, o)) }

func (o outcome) String() string { return string(outcomes[o]) }
