package dynamodbapi

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
)

// action is one change of an update: a path and what is to stand there, judged on the item as
// it was. A nil value removes.
type action struct {
	path path
	want func(old item) (*value, error)
}

// update reads an update expression.
func (s *scope) update(text string) ([]action, error) {
	p, err := s.parser("UpdateExpression", text)
	if err != nil {
		return nil, err
	}
	var all []action
	seen := map[string]bool{}
	for p.next() != "" {
		clause := strings.ToUpper(p.take())
		read := map[string]func() (action, error){"SET": p.assignment, "REMOVE": p.removal, "ADD": p.addition, "DELETE": p.deletion}[clause]
		if read == nil || seen[clause] {
			return nil, invalid("UpdateExpression: %q: must be SET, REMOVE, ADD or DELETE, each once", clause)
		}
		seen[clause] = true
		for {
			a, err := read()
			if err != nil {
				return nil, err
			}
			if all = append(all, a); !p.accept(",") {
				break
			}
		}
	}
	return all, nil
}

// apply returns the item as the actions leave it.
func apply(actions []action, old item) (item, error) {
	out := old.clone()
	// Members of a list go from its end on: those before keep their places.
	slices.SortStableFunc(actions, func(a, b action) int {
		return cmp.Compare(b.path[len(b.path)-1].index, a.path[len(a.path)-1].index)
	})
	for _, a := range actions {
		want, err := a.want(old)
		if err != nil {
			return nil, err
		}
		if want == nil {
			if _, there := a.path.get(out); !there {
				continue
			}
		}
		if err := a.path.put(out, want); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *parser) removal() (action, error) {
	at, err := p.path()
	return action{at, func(item) (*value, error) { return nil, nil }}, err
}

func (p *parser) assignment() (action, error) {
	at, err := p.path()
	if err == nil {
		err = p.expect("=")
	}
	if err != nil {
		return action{}, err
	}
	left, err := p.term()
	if err != nil {
		return action{}, err
	}
	sign := p.next()
	if sign != "+" && sign != "-" {
		return action{at, wanted(left)}, nil
	}
	p.take()
	right, err := p.term()
	return action{at, func(old item) (*value, error) {
		v, a := left(old)
		w, b := right(old)
		if !a || !b || v.kind != "N" || w.kind != "N" {
			return nil, invalid("UpdateExpression: %s: both sides of %s must be numbers that are there", at, sign)
		}
		x, y := rat(v.text), rat(w.text)
		if sign == "-" {
			y.Neg(y)
		}
		sum := numberOf(x.Add(x, y))
		return &sum, nil
	}}, err
}

func wanted(of operand) func(item) (*value, error) {
	return func(old item) (*value, error) {
		v, found := of(old)
		if !found {
			return nil, invalid("UpdateExpression: it refers to an attribute that the item does not have")
		}
		v = v.clone()
		return &v, nil
	}
}

// term is one side of an assignment.
func (p *parser) term() (operand, error) {
	if len(p.tokens) < 2 || p.tokens[1] != "(" {
		return p.operand()
	}
	name := p.take()
	p.take()
	first, err := p.term()
	if err == nil {
		err = p.expect(",")
	}
	if err != nil {
		return nil, err
	}
	second, err := p.term()
	if err == nil {
		err = p.expect(")")
	}
	switch name {
	case "if_not_exists":
		return func(old item) (value, bool) {
			if v, found := first(old); found {
				return v, true
			}
			return second(old)
		}, err
	case "list_append":
		return func(old item) (value, bool) {
			v, a := first(old)
			w, b := second(old)
			return value{kind: "L", list: slices.Concat(v.list, w.list)}, a && b && v.kind == "L" && w.kind == "L"
		}, err
	}
	return nil, invalid("UpdateExpression: %s is no function of updates", name)
}

func (p *parser) addition() (action, error) {
	return p.change(func(old value, found bool, with value) (*value, error) {
		switch {
		case !found && (with.kind == "N" || len(with.set) > 0):
			return &with, nil
		case found && old.kind == "N" && with.kind == "N":
			sum := numberOf(new(big.Rat).Add(rat(old.text), rat(with.text)))
			return &sum, nil
		case found && old.kind == with.kind && len(with.set) > 0:
			old.set = slices.Concat(old.set, with.set)
			slices.Sort(old.set)
			old.set = slices.Compact(old.set)
			return &old, nil
		}
		return nil, invalid("UpdateExpression: ADD takes numbers and sets, and adds like to like")
	})
}

func (p *parser) deletion() (action, error) {
	return p.change(func(old value, found bool, with value) (*value, error) {
		switch {
		case len(with.set) == 0 || found && old.kind != with.kind:
			return nil, invalid("UpdateExpression: DELETE takes a set from a set of the same type")
		case !found:
			return nil, nil
		}
		old.set = slices.DeleteFunc(slices.Clone(old.set), func(s string) bool { return slices.Contains(with.set, s) })
		if len(old.set) == 0 {
			return nil, nil
		}
		return &old, nil
	})
}

// change reads a path and a value that changes what is there.
func (p *parser) change(how func(old value, found bool, with value) (*value, error)) (action, error) {
	at, err := p.path()
	if err != nil {
		return action{}, err
	}
	with, err := p.placeholder()
	return action{at, func(old item) (*value, error) {
		v, found := at.get(old)
		return how(v, found, with)
	}}, err
}
