package dynamodbapi

import (
	"fmt"
	"slices"
	"strconv"
)

// step is one part of a document path: a name, or an index of a list.
type step struct {
	name  string
	index int // where name is ""
}

type path []step

func (p path) String() string {
	text := ""
	for i, s := range p {
		switch {
		case s.name == "":
			text += "[" + strconv.Itoa(s.index) + "]"
		case i > 0:
			text += "." + s.name
		default:
			text = s.name
		}
	}
	return text
}

// get follows the path.
func (p path) get(from item) (value, bool) {
	v := value{kind: "M", doc: from}
	for _, s := range p {
		var found bool
		if v, found = v.member(s); !found {
			return value{}, false
		}
	}
	return v, true
}

func (v value) member(s step) (value, bool) {
	if s.name != "" {
		m, found := v.doc[s.name]
		return m, found
	}
	if s.index >= len(v.list) {
		return value{}, false
	}
	return v.list[s.index], true
}

// put sets, or with nil removes, what is at the path. What holds it must be there. An index
// past a list's end means its end.
func (p path) put(into item, what *value) error {
	_, err := p.putIn(value{kind: "M", doc: into}, what)
	return err
}

func (p path) putIn(v value, what *value) (value, error) {
	if len(p) > 1 {
		inner, found := v.member(p[0])
		if !found {
			return v, invalid("the document path is not valid for update: %s is not there", p)
		}
		changed, err := p[1:].putIn(inner, what)
		if err != nil {
			return v, err
		}
		v.assign(p[0], &changed)
		return v, nil
	}
	s := p[0]
	switch {
	case s.name != "" && v.kind == "M", s.name == "" && v.kind == "L" && s.index < len(v.list) && what != nil:
		v.assign(s, what)
	case s.name != "" || v.kind != "L":
		return v, invalid("the document path is not valid for update: %s", p)
	case what != nil:
		v.list = append(v.list, *what)
	case s.index < len(v.list):
		v.list = slices.Delete(v.list, s.index, s.index+1)
	}
	return v, nil
}

// assign changes a member in place; the value is a clone of the update's own.
func (v value) assign(s step, what *value) {
	switch {
	case s.name == "":
		v.list[s.index] = *what
	case what == nil:
		delete(v.doc, s.name)
	default:
		v.doc[s.name] = *what
	}
}

// project copies the parts of an item that paths name.
func project(from item, paths []path) (item, error) {
	if paths == nil || from == nil {
		return from, nil
	}
	out := item{}
	for _, p := range paths {
		v, found := p.get(from)
		if !found {
			continue
		}
		at := out
		for i, s := range p {
			if s.name == "" {
				return nil, invalid("ProjectionExpression: %s: the local cloud projects no single members of a list", p)
			}
			if i == len(p)-1 {
				at[s.name] = v
				break
			}
			if _, there := at[s.name]; !there {
				at[s.name] = value{kind: "M", doc: item{}}
			}
			at = at[s.name].doc
		}
	}
	return out, nil
}

// apiError is an answer that is no success.
type apiError struct {
	code, message string
	item          item     // the old one, where it was asked for
	reasons       []reason // of a cancelled transaction
}

func (e *apiError) Error() string { return e.code + ": " + e.message }

func invalid(format string, args ...any) *apiError {
	return &apiError{code: "ValidationException", message: fmt.Sprintf(format, args...)}
}

// notHere is an error about what DynamoDB can do and the local cloud does not.
func notHere(format string, args ...any) *apiError {
	return invalid("the local cloud does not serve %s", fmt.Sprintf(format, args...))
}
