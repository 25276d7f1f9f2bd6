package explore

import (
	"fmt"
)

// Result says what an exploration came to.
type Result struct {
	Config Config
	States int  // different ones
	Steps  int  // from one to another
	Rests  int  // states in which everything came to rest
	Depth  int  // of the longest shortest path
	Whole  bool // false: it ended at MaxStates
	Struck [faultCount]int
	// Violation is a shortest path to what must not be, nil if there is none.
	Violation *Violation
}

// String is one line of figures.
func (r Result) String() string {
	whole := "whole"
	if !r.Whole {
		whole = "NOT WHOLE: ended at the bound on states"
	}
	return fmt.Sprintf("%-46s %10d states %11d steps %8d at rest, depth %d, %s", r.Config, r.States, r.Steps, r.Rests, r.Depth, whole)
}

// visited are the states met, in the order in which they were: breadth first. Of each only
// the hash and the way it was reached are kept.
type visited struct {
	hashes hashSet
	parent []uint32
	choice []uint16
}

func (v *visited) add(hash uint64, parent uint32, choice int) (uint32, bool) {
	if !v.hashes.add(hash) {
		return 0, false
	}
	v.parent = append(v.parent, parent)
	v.choice = append(v.choice, uint16(choice))
	return uint32(len(v.parent) - 1), true
}

// path returns the choices that lead to a state.
func (v *visited) path(to uint32) []int {
	var choices []int
	for ; to != 0; to = v.parent[to] {
		choices = append(choices, int(v.choice[to]))
	}
	for i, j := 0, len(choices)-1; i < j; i, j = i+1, j-1 {
		choices[i], choices[j] = choices[j], choices[i]
	}
	return choices
}

type found struct {
	index uint32
	state state
}

// Explore visits every state that the configuration can reach, the nearest first.
func Explore(cfg Config) (Result, error) {
	x, err := newExplorer(cfg)
	if err != nil {
		return Result{}, err
	}
	res := Result{Config: cfg}
	seen := &visited{}
	seen.add(x.first.hash(), 0, 0)
	layer := []found{{0, x.first}}
	for ; len(layer) > 0; res.Depth++ {
		if cfg.MaxStates > 0 && len(seen.parent) > cfg.MaxStates {
			res.States = len(seen.parent)
			return res, nil
		}
		var next []found
		for _, f := range layer {
			if next = x.visit(f, seen, next, &res); res.Violation != nil {
				res.States = len(seen.parent)
				return res, nil
			}
		}
		layer = next
	}
	res.States, res.Whole = len(seen.parent), true
	return res, nil
}

// visit looks at everything that can come after one state.
func (x *explorer) visit(f found, seen *visited, next []found, res *Result) []found {
	if x.cfg.hook.visited != nil {
		x.cfg.hook.visited(x, &f.state)
	}
	all := x.successors(&f.state)
	res.Steps += len(all)
	for i, s := range all {
		res.Struck[s.move.fault]++
		if s.broken != "" {
			res.Violation = x.violation(seen.path(f.index), []successor{s}, s.broken)
			return nil
		}
		if at, fresh := seen.add(s.state.hash(), f.index, i); fresh {
			next = append(next, found{at, s.state})
		}
	}
	if !x.resting(all) {
		return next
	}
	res.Rests++
	if steps, broken := x.quiet(f.state); broken != "" {
		res.Violation = x.violation(seen.path(f.index), steps, broken)
	}
	return next
}

// resting tells whether nothing but a sweep or a fault can come next.
func (x *explorer) resting(all []successor) bool {
	for _, s := range all {
		if s.move.fault == NoFault && !(s.move.node != nil && s.move.node.call.kind == kindSweep) {
			return false
		}
	}
	return true
}
