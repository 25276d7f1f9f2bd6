package cronfence

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// chainFacts is what a chain's own text tells.
type chainFacts struct {
	names     []string
	events    int64 // of history, each state visited once and retried to the end
	unbounded bool  // a state may be visited more often
}

// chainGraph is a chain, a branch or a Map's processor.
type chainGraph struct {
	StartAt string
	States  map[string]chainState
}

type chainState struct {
	Type, Next, Default string
	Branches            []chainGraph
	Iterator            *chainGraph
	ItemProcessor       *struct {
		ProcessorConfig struct{ Mode string }
		chainGraph
	}
	Retry   []struct{ MaxAttempts *int64 }
	Catch   []struct{ Next string }
	Choices []struct{ Next string }
}

func readChain(text string) (chainFacts, error) {
	var g chainGraph
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		return chainFacts{}, fmt.Errorf("read its definition: %w", err)
	}
	var f chainFacts
	f.events = f.add(g)
	return f, nil
}

// add takes in a graph and returns how many events it may write.
func (f *chainFacts) add(g chainGraph) (events int64) {
	for _, name := range slices.Sorted(maps.Keys(g.States)) {
		s := g.States[name]
		f.names = append(f.names, name)
		events += f.eventsOf(s)
	}
	if g.loops() {
		f.unbounded = true
	}
	return events
}

const (
	eventsPerRetry = 4
	eventsPerState = 4 // of any other, more than most have
	defaultRetries = 3 // of a Retry that says none
)

func (f *chainFacts) eventsOf(s chainState) int64 {
	var attempts int64 = 1
	for _, r := range s.Retry {
		n := int64(defaultRetries)
		if r.MaxAttempts != nil {
			n = *r.MaxAttempts
		}
		attempts = min(attempts+n, schema.HistoryLimit) // far more than a sum could overflow
	}
	var inner int64
	for _, b := range s.Branches {
		inner += f.add(b)
	}
	if s.Iterator != nil {
		f.unbounded = true
		inner += f.add(*s.Iterator)
	}
	if p := s.ItemProcessor; p != nil {
		n := f.add(p.chainGraph)
		if p.ProcessorConfig.Mode != "DISTRIBUTED" { // whose iterations have histories of their own
			f.unbounded = true
			inner += n
		}
	}
	if s.Type == "Task" {
		return schema.EventsPerTask + eventsPerRetry*(attempts-1)
	}
	return eventsPerState + attempts*inner + eventsPerRetry*(attempts-1)
}

// loops tells whether a state leads back to itself.
func (g chainGraph) loops() bool {
	const visiting, done = 1, 2
	seen := map[string]int{}
	var visit func(string) bool
	visit = func(name string) bool {
		switch seen[name] {
		case visiting:
			return true
		case done:
			return false
		}
		seen[name] = visiting
		s := g.States[name]
		next := []string{s.Next, s.Default}
		for _, c := range s.Catch {
			next = append(next, c.Next)
		}
		for _, c := range s.Choices {
			next = append(next, c.Next)
		}
		for _, n := range next {
			if n != "" && visit(n) {
				return true
			}
		}
		seen[name] = done
		return false
	}
	return visit(g.StartAt)
}
