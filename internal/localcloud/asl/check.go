package asl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// check refuses a graph that Step Functions would refuse: a state that leads nowhere,
// a name used twice in one machine, a task without a resource.
func (g *graph) check(seen map[string]bool) error {
	if g.States[g.StartAt] == nil {
		return fmt.Errorf("StartAt %q: no such state", g.StartAt)
	}
	for _, name := range slices.Sorted(maps.Keys(g.States)) {
		s := g.States[name]
		if seen[name] {
			return fmt.Errorf("state %q: the name is used twice in one machine", name)
		}
		seen[name] = true
		if err := s.check(g, seen); err != nil {
			return fmt.Errorf("state %q: %w", name, err)
		}
	}
	return nil
}

func (s *state) check(g *graph, seen map[string]bool) error {
	for _, target := range s.targets() {
		if g.States[target] == nil {
			return fmt.Errorf("next state %q: no such state", target)
		}
	}
	if err := s.checkFlow(); err != nil {
		return err
	}
	if err := s.checkErrors(); err != nil {
		return err
	}
	if s.ResultPath.path != nil {
		if err := s.ResultPath.path.checkReference(); err != nil {
			return fmt.Errorf("ResultPath: %w", err)
		}
	}
	for i, inner := range s.inner() {
		if err := inner.check(seen); err != nil {
			return fmt.Errorf("branch %d: %w", i+1, err)
		}
	}
	return s.checkType()
}

// targets lists the states that may follow.
func (s *state) targets() []string {
	var all []string
	for _, t := range []string{s.Next, s.Default} {
		if t != "" {
			all = append(all, t)
		}
	}
	for _, c := range s.choices {
		all = append(all, c.Next)
	}
	for _, c := range s.Catch {
		all = append(all, c.Next)
	}
	return all
}

func (s *state) checkFlow() error {
	switch s.Type {
	case "Choice", "Succeed", "Fail":
		return nil
	}
	if (s.Next == "") == !s.End {
		return fmt.Errorf("must have either Next or End")
	}
	return nil
}

func (s *state) checkErrors() error {
	for i, r := range s.Retry {
		if err := checkErrorEquals(r.ErrorEquals, i == len(s.Retry)-1); err != nil {
			return fmt.Errorf("retry %d: %w", i+1, err)
		}
	}
	for i, c := range s.Catch {
		if err := checkErrorEquals(c.ErrorEquals, i == len(s.Catch)-1); err != nil {
			return fmt.Errorf("catch %d: %w", i+1, err)
		}
	}
	return nil
}

func checkErrorEquals(names []string, last bool) error {
	if len(names) == 0 {
		return fmt.Errorf("ErrorEquals names no error")
	}
	if slices.Contains(names, ErrNameAll) && (len(names) > 1 || !last) {
		return fmt.Errorf("%s must stand alone in the last entry", ErrNameAll)
	}
	return nil
}

func (s *state) checkType() error {
	switch s.Type {
	case "Task":
		if s.Resource == "" {
			return fmt.Errorf("task has no Resource")
		}
		return s.checkTimes()
	case "Parallel":
		if len(s.branches) == 0 {
			return fmt.Errorf("parallel has no Branches")
		}
	case "Map":
		return s.checkMap()
	case "Choice":
		if len(s.choices) == 0 {
			return fmt.Errorf("choice has no Choices")
		}
	case "Wait":
		return s.checkWait()
	case "Fail":
		if s.Error.given && s.ErrorPath != nil || s.Cause.given && s.CausePath != nil {
			return fmt.Errorf("fail has a value and a path for the same field")
		}
		for name, v := range map[string]*value{"Error": &s.Error, "Cause": &s.Cause} {
			if _, isText := v.raw.(string); v.given && !isText {
				return fmt.Errorf("%s %v: must be a string", name, v.raw)
			}
		}
	}
	return nil
}

func (s *state) checkWait() error {
	n := count(s.Seconds.given, s.SecondsPath != nil, s.Timestamp.given, s.TimestampPath != nil)
	if n != 1 {
		return fmt.Errorf("wait has %d of Seconds, SecondsPath, Timestamp and TimestampPath: must have one", n)
	}
	if err := s.Seconds.checkWhole(s.lang, "Seconds", 0); err != nil {
		return err
	}
	if text, fixed := s.Timestamp.constant(); fixed {
		if _, ok := timestampOf(text); !ok {
			return fmt.Errorf("Timestamp %q: must be an RFC 3339 instant", text)
		}
	}
	return nil
}

func (s *state) checkMap() error {
	if s.Parameters.given && s.ItemSelector.given {
		return fmt.Errorf("map has both Parameters and ItemSelector")
	}
	if s.MaxConcurrency.given && s.MaxConcurrencyPath != nil {
		return fmt.Errorf("map has both MaxConcurrency and MaxConcurrencyPath")
	}
	if err := s.ToleratedFailureCount.checkWhole(s.lang, "ToleratedFailureCount", 0); err != nil {
		return err
	}
	return s.MaxConcurrency.checkWhole(s.lang, "MaxConcurrency", 0)
}

func (s *state) checkTimes() error {
	if s.TimeoutSeconds.given && s.TimeoutSecondsPath != nil || s.HeartbeatSeconds.given && s.HeartbeatSecondsPath != nil {
		return fmt.Errorf("task has a value and a path for the same time")
	}
	if err := s.TimeoutSeconds.checkWhole(s.lang, "TimeoutSeconds", 1); err != nil {
		return err
	}
	if err := s.HeartbeatSeconds.checkWhole(s.lang, "HeartbeatSeconds", 1); err != nil {
		return err
	}
	timeout, fixed := s.TimeoutSeconds.constant()
	beat, alsoFixed := s.HeartbeatSeconds.constant()
	if !fixed || !alsoFixed {
		return nil
	}
	t, _ := wholeNumber(timeout)
	if b, _ := wholeNumber(beat); b >= t {
		return fmt.Errorf("HeartbeatSeconds %d: must be less than TimeoutSeconds %d", b, t)
	}
	return nil
}

// checkWhole refuses a fixed value that is no whole number of at least low.
func (v *value) checkWhole(lang language, name string, low int64) error {
	if !v.given {
		return nil
	}
	raw, fixed := v.constant()
	if !fixed && lang == jsonata {
		return nil
	}
	if n, ok := wholeNumber(raw); !ok || n < low || n > maxWait {
		return fmt.Errorf("%s %v: must be a whole number from %d to %d", name, v.raw, low, maxWait)
	}
	return nil
}

// wholeNumber reads a JSON number that is an integer, however it is written.
func wholeNumber(v any) (int64, bool) {
	r, ok := asNumber(v)
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}

// checkVariables refuses what AWS refuses: a name that is assigned both inside a Parallel
// or Map and around it. outer are the names of all graphs around this one.
func (g *graph) checkVariables(outer []string) error {
	own := g.assigned()
	for _, name := range slices.Sorted(maps.Keys(g.States)) {
		for _, inner := range g.States[name].inner() {
			all := append(slices.Clone(outer), own...)
			for _, v := range inner.assigned() {
				if slices.Contains(all, v) {
					return fmt.Errorf("state %q: Assign: variable %q is assigned around it too", name, v)
				}
			}
			if err := inner.checkVariables(all); err != nil {
				return err
			}
		}
	}
	return nil
}

// assigned lists the variables that the graph's own states assign.
func (g *graph) assigned() []string {
	var names []string
	add := func(v *value) {
		object, _ := v.raw.(map[string]any)
		for name := range object {
			names = append(names, strings.TrimSuffix(name, ".$"))
		}
	}
	for _, s := range g.States {
		add(&s.Assign)
		for _, c := range s.Catch {
			add(&c.Assign)
		}
		for i := range s.choices {
			add(&s.choices[i].Assign)
		}
	}
	return names
}

func count(all ...bool) int {
	n := 0
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}
