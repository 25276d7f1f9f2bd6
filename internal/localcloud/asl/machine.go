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
	graph   *graph
	timeout time.Duration // 0 when the machine has none
}

// graph is a start and its states: a machine's, one branch's or one iteration's.
type graph struct {
	StartAt string
	States  map[string]*state
}

// state holds the fields of every state type in both query languages; what a type may
// carry is checked when it is read.
type state struct {
	name string
	lang language

	Type          string
	QueryLanguage string
	Next          string
	End           bool

	InputPath, OutputPath, ResultPath                     pathField // JSONPath
	Parameters, ResultSelector, Arguments, Output, Assign value

	Retry []retrier
	Catch []*catcher

	Resource                                 string // Task
	TimeoutSeconds, HeartbeatSeconds         value
	TimeoutSecondsPath, HeartbeatSecondsPath *Path

	Branches []json.RawMessage // Parallel
	branches []*graph

	ItemProcessor, Iterator                           json.RawMessage // Map
	ItemsPath, MaxConcurrencyPath                     *Path
	Items, ItemSelector, MaxConcurrency               value
	ToleratedFailureCount, ToleratedFailurePercentage value
	processor                                         *graph

	Result json.RawMessage // Pass

	Seconds, Timestamp         value // Wait
	SecondsPath, TimestampPath *Path

	Choices []json.RawMessage
	choices []choiceRule
	Default string

	Error, Cause         value // Fail
	ErrorPath, CausePath *exprField
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
		QueryLanguage  language
		TimeoutSeconds int64
	}
	if err := decode("state machine", definition, &top, topFields...); err != nil {
		return nil, err
	}
	lang, err := jsonPath.override(top.QueryLanguage)
	if err != nil {
		return nil, fmt.Errorf("state machine: %w", err)
	}
	if top.TimeoutSeconds < 0 {
		return nil, fmt.Errorf("state machine: TimeoutSeconds %d: must be positive", top.TimeoutSeconds)
	}
	g, err := parseGraph("state machine", definition, lang, topFields...)
	if err != nil {
		return nil, err
	}
	m := &Machine{graph: g, timeout: time.Duration(top.TimeoutSeconds) * time.Second}
	if err := g.check(map[string]bool{}); err != nil {
		return nil, err
	}
	return m, g.checkVariables(nil)
}

func parseGraph(what string, raw json.RawMessage, lang language, allowed ...string) (*graph, error) {
	var text struct {
		StartAt string
		States  map[string]json.RawMessage
	}
	if err := decode(what, raw, &text, allowed...); err != nil {
		return nil, err
	}
	g := &graph{StartAt: text.StartAt, States: make(map[string]*state, len(text.States))}
	for _, name := range slices.Sorted(maps.Keys(text.States)) {
		s, err := parseState(name, text.States[name], lang)
		if err != nil {
			return nil, fmt.Errorf("state %q: %w", name, err)
		}
		g.States[name] = s
	}
	return g, nil
}

func parseState(name string, raw json.RawMessage, outer language) (*state, error) {
	var head struct {
		Type          string
		QueryLanguage language
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	lang, err := outer.override(head.QueryLanguage)
	if err != nil {
		return nil, err
	}
	allowed, ok := stateFields[lang][head.Type]
	if !ok {
		return nil, fmt.Errorf("type %q is not supported; the local cloud knows %v",
			head.Type, slices.Sorted(maps.Keys(stateFields[lang])))
	}
	s := &state{name: name, lang: lang}
	if err := decode(head.Type, raw, s, slices.Concat(commonFields, allowed)...); err != nil {
		return nil, err
	}
	return s, s.compile(outer)
}

// Resources lists what the machine's tasks call.
func (m *Machine) Resources() []string {
	found := map[string]bool{}
	m.graph.walk(func(s *state) {
		if s.Type == "Task" {
			found[s.Resource] = true
		}
	})
	return slices.Sorted(maps.Keys(found))
}

// TaskResources maps the names of the machine's tasks to what they call, so that a caller
// can say what it cannot do before anything runs.
func (m *Machine) TaskResources() map[string]string {
	found := map[string]string{}
	m.graph.walk(func(s *state) {
		if s.Type == "Task" {
			found[s.name] = s.Resource
		}
	})
	return found
}

func (g *graph) walk(visit func(*state)) {
	for _, s := range g.States {
		visit(s)
		for _, inner := range s.inner() {
			inner.walk(visit)
		}
	}
}

// inner are the graphs inside a Parallel or Map.
func (s *state) inner() []*graph {
	if s.processor != nil {
		return []*graph{s.processor}
	}
	return s.branches
}
