package asl

import "sync"

// variables are what Assign has set in one scope: that of the state machine, of a branch
// or of an iteration. What is inside sees what is around it and sets only its own.
type variables struct {
	outer *variables
	mu    sync.Mutex // for branches that read side by side
	set   map[string]any
}

func newVariables(outer *variables) *variables {
	return &variables{outer: outer, set: map[string]any{}}
}

func (v *variables) get(name string) (any, bool) {
	for ; v != nil; v = v.outer {
		v.mu.Lock()
		got, ok := v.set[name]
		v.mu.Unlock()
		if ok {
			return got, true
		}
	}
	return nil, false
}

// all returns every variable that is seen from here.
func (v *variables) all() map[string]any {
	if v == nil {
		return map[string]any{}
	}
	all := v.outer.all()
	v.mu.Lock()
	defer v.mu.Unlock()
	for name, value := range v.set {
		all[name] = value
	}
	return all
}

func (v *variables) assign(values map[string]any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for name, value := range values {
		v.set[name] = value
	}
}
