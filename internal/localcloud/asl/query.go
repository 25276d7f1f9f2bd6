package asl

import (
	"fmt"
	"maps"
	"slices"
	"sort"
)

// scope is what the paths and expressions of a state see.
type scope struct {
	input   any
	context map[string]any
	vars    *variables
	random  func() float64 // for States.MathRandom
	// states is what JSONata sees as $states beside input and context.
	states map[string]any
}

// get returns the one value a definite path names, or the list of all values that an
// indefinite one finds. A definite path without a value is an error.
func (p *Path) get(s scope) (any, error) {
	root, err := p.root(s)
	if err != nil {
		return nil, err
	}
	found := p.find(root, root)
	if !p.definite() {
		return found, nil
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("path '%s' finds nothing in the input", p.text)
	}
	return found[0], nil
}

func (p *Path) root(s scope) (any, error) {
	switch {
	case p.context:
		return s.context, nil
	case p.variable == "":
		return s.input, nil
	}
	v, ok := s.vars.get(p.variable)
	if !ok {
		return nil, fmt.Errorf("path '%s': variable %q is not assigned", p.text, p.variable)
	}
	return v, nil
}

// find goes the path's steps from a value; root is what "$" is inside filters.
func (p *Path) find(from, root any) []any {
	found := []any{from}
	for i, st := range p.steps {
		next := []any{}
		for _, v := range found {
			if len(st.names) > 1 && i == len(p.steps)-1 {
				next = append(next, pickNames(v, st.names)...)
			} else {
				next = st.apply(v, root, next)
			}
		}
		found = next
	}
	return found
}

// pickNames makes one object of the members that are there, which is what a list of names
// at a path's end gives.
func pickNames(v any, names []string) []any {
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	picked := map[string]any{}
	for _, name := range names {
		if member, ok := object[name]; ok {
			picked[name] = member
		}
	}
	return []any{picked}
}

// has tells whether the path finds anything.
func (p *Path) has(s scope) bool {
	v, err := p.get(s)
	if err != nil {
		return false
	}
	list, ok := v.([]any)
	return p.definite() || (ok && len(list) > 0)
}

// apply adds to found what the step reaches from v.
func (s step) apply(v, root any, found []any) []any {
	switch s.kind {
	case stepName:
		object, _ := v.(map[string]any)
		for _, name := range s.names {
			if member, ok := object[name]; ok {
				found = append(found, member)
			}
		}
	case stepIndex:
		list, _ := v.([]any)
		for _, i := range s.indexes {
			if i < 0 {
				i += len(list)
			}
			if i >= 0 && i < len(list) {
				found = append(found, list[i])
			}
		}
	case stepSlice:
		list, _ := v.([]any)
		from, to := sliceBounds(s.from, 0, len(list)), sliceBounds(s.to, len(list), len(list))
		if from < to {
			found = append(found, list[from:to]...)
		}
	case stepWild:
		found = append(found, children(v)...)
	case stepDeep:
		found = append(found, v)
		for _, child := range children(v) {
			found = s.apply(child, root, found)
		}
	case stepFilter:
		found = append(found, s.chosen(v, root)...)
	case stepLength:
		found = append(found, lengthOf(v)...)
	}
	return found
}

// chosen are the items of a list that the filter takes; anything else is asked itself.
func (s step) chosen(v, root any) []any {
	list, isList := v.([]any)
	_, isObject := v.(map[string]any)
	switch {
	case s.each && !isObject:
		return nil
	case !isList:
		list = []any{v}
	}
	var chosen []any
	for _, item := range list {
		if s.filter(item, root) {
			chosen = append(chosen, item)
		}
	}
	return chosen
}

func lengthOf(v any) []any {
	switch v := v.(type) {
	case []any:
		return []any{number(len(v))}
	case map[string]any:
		return []any{number(len(v))}
	}
	return nil
}

func sliceBounds(n *int, missing, length int) int {
	if n == nil {
		return missing
	}
	if *n < 0 {
		return max(*n+length, 0)
	}
	return min(*n, length)
}

// children lists the values directly below v; those of an object in the order of names,
// since decoded JSON has lost its own.
func children(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case map[string]any:
		names := slices.Collect(maps.Keys(v))
		sort.Strings(names)
		all := make([]any, 0, len(v))
		for _, name := range names {
			all = append(all, v[name])
		}
		return all
	}
	return nil
}

// checkReference refuses a path that cannot say where a value is to be put.
func (p *Path) checkReference() error {
	if p.context || p.variable != "" || !p.definite() || slices.ContainsFunc(p.steps, step.notReference) {
		return fmt.Errorf("path %q: must be a reference path such as $.a.b[0]", p.text)
	}
	return nil
}

func (s step) notReference() bool { return s.kind == stepLength || len(s.names) > 1 }

// put returns input with value at the place that the path names. Neither input nor
// what it holds is changed, so branches may share it.
func (p *Path) put(input, value any) (any, error) {
	out, err := putSteps(p.steps, input, value)
	if err != nil {
		return nil, &Error{Name: ErrNameResultPath, Cause: fmt.Sprintf("unable to apply ResultPath '%s' to the input: %v", p.text, err)}
	}
	return out, nil
}

func putSteps(steps []step, at, value any) (any, error) {
	if len(steps) == 0 {
		return value, nil
	}
	if steps[0].kind == stepIndex {
		list, ok := at.([]any)
		i := steps[0].indexes[0]
		if !ok || i < 0 || i >= len(list) {
			return nil, fmt.Errorf("no element %d there", i)
		}
		below, err := putSteps(steps[1:], list[i], value)
		if err != nil {
			return nil, err
		}
		list = slices.Clone(list)
		list[i] = below
		return list, nil
	}
	name := steps[0].names[0]
	object, ok := at.(map[string]any)
	if !ok && at != nil {
		return nil, fmt.Errorf("%q cannot be put into a value that is no object", name)
	}
	below, err := putSteps(steps[1:], object[name], value)
	if err != nil {
		return nil, err
	}
	object = maps.Clone(object)
	if object == nil {
		object = map[string]any{}
	}
	object[name] = below
	return object, nil
}
