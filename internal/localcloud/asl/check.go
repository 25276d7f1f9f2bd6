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
	if err := checkQueryLanguage(s.Type, s.QueryLanguage); err != nil {
		return err
	}
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
	for i := range s.Branches {
		if err := s.Branches[i].check(seen); err != nil {
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
	for _, c := range s.Choices {
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
		if len(s.Branches) == 0 {
			return fmt.Errorf("parallel has no Branches")
		}
	case "Choice":
		if len(s.Choices) == 0 {
			return fmt.Errorf("choice has no Choices")
		}
	case "Wait":
		if n := count(s.Seconds != nil, s.SecondsPath != nil, s.Timestamp != nil, s.TimestampPath != nil); n != 1 {
			return fmt.Errorf("wait has %d of Seconds, SecondsPath, Timestamp and TimestampPath: must have one", n)
		}
		if s.Seconds != nil && *s.Seconds < 0 {
			return fmt.Errorf("Seconds %d: must not be negative", *s.Seconds)
		}
		if s.Timestamp != nil {
			if _, ok := timestampOf(*s.Timestamp); !ok {
				return fmt.Errorf("Timestamp %q: must be an RFC 3339 instant", *s.Timestamp)
			}
		}
	case "Fail":
		if s.Error != nil && s.ErrorPath != nil || s.Cause != nil && s.CausePath != nil {
			return fmt.Errorf("fail has a value and a path for the same field")
		}
	}
	return nil
}

func (s *state) checkTimes() error {
	for name, n := range map[string]*int64{"TimeoutSeconds": s.TimeoutSeconds, "HeartbeatSeconds": s.HeartbeatSeconds} {
		if n != nil && *n < 1 {
			return fmt.Errorf("%s %d: must be positive", name, *n)
		}
	}
	if strings.HasSuffix(s.Resource, ".waitForTaskToken") {
		return nil
	}
	if s.TimeoutSeconds != nil && s.HeartbeatSeconds != nil && *s.HeartbeatSeconds >= *s.TimeoutSeconds {
		return fmt.Errorf("HeartbeatSeconds %d: must be less than TimeoutSeconds %d", *s.HeartbeatSeconds, *s.TimeoutSeconds)
	}
	return nil
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
