package asl

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Machine is a checked definition, ready to run any number of times.
type Machine struct {
	graph   graph
	timeout time.Duration // 0 when the machine has none
}

// graph is a start and its states: a machine's, or one branch's.
type graph struct {
	StartAt string
	States  states
}

// states are read one by one, so that an error names the state.
type states map[string]*state

func (all *states) UnmarshalJSON(raw []byte) error {
	var texts map[string]json.RawMessage
	if err := json.Unmarshal(raw, &texts); err != nil {
		return err
	}
	*all = make(states, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		s := &state{name: name}
		if err := json.Unmarshal(texts[name], s); err != nil {
			return fmt.Errorf("state %q: %w", name, err)
		}
		(*all)[name] = s
	}
	return nil
}

// state holds the fields of every state type; what a type may carry is checked when it
// is read.
type state struct {
	name string

	Type          string
	QueryLanguage string
	Next          string
	End           bool

	InputPath, OutputPath, ResultPath pathField
	Parameters, ResultSelector        *template

	Retry []retrier
	Catch []catcher

	Resource                                 string   // Task
	TimeoutSeconds, HeartbeatSeconds         *int64   // Task
	TimeoutSecondsPath, HeartbeatSecondsPath *Path    // Task
	Branches                                 []branch // Parallel

	Result json.RawMessage // Pass

	Seconds                    *int64 // Wait
	Timestamp                  *string
	SecondsPath, TimestampPath *Path

	Choices []choiceRule
	Default string

	Error, Cause         *string // Fail
	ErrorPath, CausePath *exprField
}

type branch struct{ graph }

func (b *branch) UnmarshalJSON(raw []byte) error {
	return decode("branch", raw, &b.graph, branchFields...)
}

// pathField tells a path from null, which drops the data, and both from absence.
type pathField struct {
	null bool
	path *Path
}

func (f *pathField) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		f.null = true
		return nil
	}
	f.path = new(Path)
	return f.path.UnmarshalJSON(b)
}

// exprField is a field that takes a path or an intrinsic function.
type exprField struct{ eval expr }

func (f *exprField) UnmarshalJSON(b []byte) error {
	var text string
	err := json.Unmarshal(b, &text)
	if err == nil {
		f.eval, err = compileExpr(text)
	}
	return err
}

// Parse reads and checks a definition. Its errors name the state and what is wrong or
// not supported there.
func Parse(definition []byte) (*Machine, error) {
	var top struct {
		graph
		QueryLanguage  string
		TimeoutSeconds int64
	}
	if err := decode("state machine", definition, &top, topFields...); err != nil {
		return nil, err
	}
	if err := checkQueryLanguage("state machine", top.QueryLanguage); err != nil {
		return nil, err
	}
	if top.TimeoutSeconds < 0 {
		return nil, fmt.Errorf("state machine: TimeoutSeconds %d: must be positive", top.TimeoutSeconds)
	}
	m := &Machine{graph: top.graph, timeout: time.Duration(top.TimeoutSeconds) * time.Second}
	return m, m.graph.check(map[string]bool{})
}

func (s *state) UnmarshalJSON(raw []byte) error {
	var head struct{ Type string }
	if err := json.Unmarshal(raw, &head); err != nil {
		return err
	}
	allowed, ok := stateFields[head.Type]
	if !ok {
		return fmt.Errorf("type %q is not supported; the local cloud knows %v",
			head.Type, slices.Sorted(maps.Keys(stateFields)))
	}
	type plain state // without this method
	return decode(head.Type, raw, (*plain)(s), slices.Concat(commonFields, allowed)...)
}

// Resources lists what the machine's tasks call, so that a caller can refuse what it
// cannot do before anything runs.
func (m *Machine) Resources() []string {
	found := map[string]bool{}
	m.graph.walk(func(s *state) {
		if s.Type == "Task" {
			found[s.Resource] = true
		}
	})
	return slices.Sorted(maps.Keys(found))
}

func (g *graph) walk(visit func(*state)) {
	for _, s := range g.States {
		visit(s)
		for i := range s.Branches {
			s.Branches[i].walk(visit)
		}
	}
}
