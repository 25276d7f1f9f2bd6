package explore

import (
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// explorer holds what is known of one model: its job, and every value met so far.
type explorer struct {
	cfg     Config
	spec    *schema.Spec
	ticks   []tick // the last one is the probe
	first   state
	allowed [faultCount]bool

	lastID   uint64
	guards   interned[record]
	rows     interned[row]
	recs     interned[records]
	refusals interned[guard.Refused]
	pages    interned[page]
	execs    map[executionState]*execution
	sights   map[machine.Execution]*sighting
	answers  map[answer]*heard
	roots    map[call]*node
	inputs   map[string]schema.RunInput
	runs     seqs[*execution]
	calls    seqs[inflight]
	todos    seqs[todo]

	calm     hashSet     // of the states from which all comes to rest, and well
	out      []successor // of the state looked at
	from     *state      // the one looked at
	blocking bool        // something is to be done before time goes by
}

func newExplorer(cfg Config) (*explorer, error) {
	spec := cfg.spec()
	x := &explorer{cfg: cfg, spec: &spec, execs: map[executionState]*execution{}, sights: map[machine.Execution]*sighting{}, answers: map[answer]*heard{}, roots: map[call]*node{}, inputs: map[string]schema.RunInput{}}
	x.guards, x.rows = newInterned[record](&x.lastID), newInterned[row](&x.lastID)
	x.recs, x.refusals = newInterned[records](&x.lastID), newInterned[guard.Refused](&x.lastID)
	x.pages = newInterned[page](&x.lastID)
	x.runs, x.calls, x.todos = newSeqs(hashRun), newSeqs(hashCall), newSeqs(hashTodo)
	for f := NoFault + 1; f < faultCount; f++ {
		x.allowed[f] = len(cfg.Only) == 0
	}
	for _, f := range cfg.Only {
		x.allowed[f] = true
	}
	if err := spec.Check(); err != nil {
		return nil, err
	}
	var err error
	if x.ticks, err = plan(spec, cfg.Ticks); err != nil {
		return nil, err
	}
	g, err := established(x.spec)
	if err != nil {
		return nil, err
	}
	s := state{clock: origin, recs: x.internRecords(x.internGuard(&g), nil, nil), faults: int8(cfg.Faults)}
	s.runs, s.calls, s.todo = x.runs.empty(), x.calls.empty(), x.todos.empty()
	s.past.fence = g.Fence
	for i, t := range x.ticks[:cfg.Ticks] {
		s.todo = x.todos.with(s.todo, todo{kind: kindDeliver, tick: i, due: t.at})
	}
	x.first = s
	return x, nil
}
