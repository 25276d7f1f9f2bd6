package asl

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

// condition decides one rule of a Choice. An error is a variable that is not there.
type condition func(scope) (bool, error)

// choiceRule is one entry of Choices.
type choiceRule struct {
	Next           string
	Output, Assign value
	test           condition
}

// parseChoice reads a rule: comparisons in JSONPath, a Condition in JSONata.
func parseChoice(raw json.RawMessage, lang language) (choiceRule, error) {
	var r choiceRule
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return r, err
	}
	if err := json.Unmarshal(fields["Next"], &r.Next); err != nil {
		return r, fmt.Errorf("Next is missing or no string")
	}
	if text, ok := fields["Assign"]; ok {
		if err := json.Unmarshal(text, &r.Assign); err != nil {
			return r, fmt.Errorf("Assign: %w", err)
		}
	}
	if err := r.Assign.compile(lang, "Assign"); err != nil {
		return r, err
	}
	if lang == jsonata {
		return r, r.parseCondition(raw)
	}
	for _, name := range []string{"Next", "Comment", "Assign"} {
		delete(fields, name)
	}
	test, err := compileRule(fields)
	r.test = test
	return r, err
}

// parseCondition reads what a rule has in JSONata.
func (r *choiceRule) parseCondition(raw json.RawMessage) error {
	var rule struct{ Condition, Output value }
	if err := decode("rule", raw, &rule, "Comment", "Condition", "Next", "Output", "Assign"); err != nil {
		return err
	}
	r.Output = rule.Output
	if err := r.Output.compile(jsonata, "Output"); err != nil {
		return err
	}
	if err := rule.Condition.compile(jsonata, "Condition"); err != nil {
		return err
	}
	if fixed, ok := rule.Condition.constant(); ok || !rule.Condition.given {
		if _, isBool := fixed.(bool); !isBool {
			return fmt.Errorf("Condition %v: must be a JSONata expression, true or false", fixed)
		}
	}
	r.test = func(s scope) (bool, error) {
		v, err := rule.Condition.eval(s)
		if err != nil {
			return false, err
		}
		holds, ok := v.(bool)
		if !ok {
			return false, queryError("The JSONata expression specified for the field 'Condition' returned an unexpected result type. Expected 'boolean', but was: %v", v)
		}
		return holds, nil
	}
	return nil
}

func compileRule(fields map[string]json.RawMessage) (condition, error) {
	for name, raw := range fields {
		if !slices.Contains([]string{"And", "Or", "Not"}, name) {
			continue
		}
		if len(fields) > 1 {
			return nil, fmt.Errorf("%s must stand alone", name)
		}
		return compileBoolean(name, raw)
	}
	return compileComparison(fields)
}

func compileBoolean(name string, raw json.RawMessage) (condition, error) {
	var rules []map[string]json.RawMessage
	if name == "Not" {
		rules = make([]map[string]json.RawMessage, 1)
		if err := json.Unmarshal(raw, &rules[0]); err != nil {
			return nil, fmt.Errorf("Not: %w", err)
		}
	} else if err := json.Unmarshal(raw, &rules); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	tests := make([]condition, len(rules))
	for i, rule := range rules {
		delete(rule, "Comment")
		test, err := compileRule(rule)
		if err != nil {
			return nil, err
		}
		tests[i] = test
	}
	return func(s scope) (bool, error) {
		for _, test := range tests {
			ok, err := test(s)
			switch {
			case err != nil:
				return false, err
			case name == "Not":
				return !ok, nil
			case ok == (name == "Or"): // decides: the first true of Or, the first false of And
				return ok, nil
			}
		}
		return name == "And", nil
	}, nil
}

// compileComparison reads {"Variable": path, OPERATOR: value}.
func compileComparison(fields map[string]json.RawMessage) (condition, error) {
	var variable Path
	if err := json.Unmarshal(fields["Variable"], &variable); err != nil {
		return nil, fmt.Errorf("Variable is missing or no path: %w", err)
	}
	if len(fields) != 2 {
		return nil, fmt.Errorf("choice on %s: must have one operator beside Variable", &variable)
	}
	for op, raw := range fields {
		if op == "Variable" {
			continue
		}
		test, err := compileOperator(op, raw, &variable)
		if err != nil {
			return nil, fmt.Errorf("choice on %s: %w", &variable, err)
		}
		return test, nil
	}
	return nil, fmt.Errorf("choice on %s: operator is missing", &variable)
}

func compileOperator(op string, raw json.RawMessage, variable *Path) (condition, error) {
	if kind, ok := strings.CutPrefix(op, "Is"); ok {
		return compileIs(kind, raw, variable)
	}
	name, isPath := strings.CutSuffix(op, "Path")
	compare, ok := comparisons[name]
	if !ok || (isPath && name == "StringMatches") {
		return nil, fmt.Errorf("operator %q is not supported", op)
	}
	var want expr
	if isPath {
		var p Path
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		want = p.get
	} else {
		v, err := decodeJSON(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		want = func(scope) (any, error) { return v, nil }
	}
	return func(s scope) (bool, error) {
		got, err := variable.get(s)
		if err != nil {
			return false, err
		}
		w, err := want(s)
		if err != nil {
			return false, err
		}
		return compare(got, w), nil
	}, nil
}

func compileIs(kind string, raw json.RawMessage, variable *Path) (condition, error) {
	test, ok := kinds[kind]
	if !ok {
		return nil, fmt.Errorf("operator %q is not supported", "Is"+kind)
	}
	var want bool
	if err := json.Unmarshal(raw, &want); err != nil {
		return nil, fmt.Errorf("Is%s %s: must be true or false", kind, raw)
	}
	if kind == "Present" {
		return func(s scope) (bool, error) { return variable.has(s) == want, nil }, nil
	}
	return func(s scope) (bool, error) {
		got, err := variable.get(s)
		if err != nil {
			return false, err
		}
		return test(got) == want, nil
	}, nil
}

var kinds = map[string]func(any) bool{
	"Present":   nil, // asks the path, not the value
	"Null":      func(v any) bool { return v == nil },
	"Boolean":   func(v any) bool { _, ok := v.(bool); return ok },
	"String":    func(v any) bool { _, ok := v.(string); return ok },
	"Numeric":   func(v any) bool { _, ok := v.(json.Number); return ok },
	"Timestamp": func(v any) bool { _, ok := timestampOf(v); return ok },
}

// comparisons holds the operators by name; values of different kinds never compare.
var comparisons = makeComparisons()

func makeComparisons() map[string]func(got, want any) bool {
	all := map[string]func(got, want any) bool{
		"BooleanEquals": func(got, want any) bool {
			g, ok := got.(bool)
			w, ok2 := want.(bool)
			return ok && ok2 && g == w
		},
		"StringMatches": func(got, want any) bool {
			g, ok := got.(string)
			w, ok2 := want.(string)
			return ok && ok2 && wildcardMatch(w, g)
		},
	}
	for name, holds := range map[string]func(int) bool{
		"Equals":            func(c int) bool { return c == 0 },
		"LessThan":          func(c int) bool { return c < 0 },
		"LessThanEquals":    func(c int) bool { return c <= 0 },
		"GreaterThan":       func(c int) bool { return c > 0 },
		"GreaterThanEquals": func(c int) bool { return c >= 0 },
	} {
		all["String"+name] = ordered(asString, strings.Compare, holds)
		all["Numeric"+name] = ordered(asNumber, (*big.Rat).Cmp, holds)
		all["Timestamp"+name] = ordered(timestampOf, time.Time.Compare, holds)
	}
	return all
}

func ordered[T any](as func(any) (T, bool), compare func(T, T) int, holds func(int) bool) func(got, want any) bool {
	return func(got, want any) bool {
		g, ok := as(got)
		w, ok2 := as(want)
		return ok && ok2 && holds(compare(g, w))
	}
}

func asString(v any) (string, bool) { s, ok := v.(string); return s, ok }

func asNumber(v any) (*big.Rat, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return nil, false
	}
	return new(big.Rat).SetString(n.String())
}

// timestampOf reads RFC 3339 with an upper-case T and Z, as the language wants it.
func timestampOf(v any) (time.Time, bool) {
	s, ok := v.(string)
	if !ok || !strings.Contains(s, "T") {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

// wildcardMatch matches * against any text; a backslash takes the next character as it is.
func wildcardMatch(pattern, text string) bool {
	if pattern == "" {
		return text == ""
	}
	switch {
	case pattern[0] == '*':
		for i := 0; i <= len(text); i++ {
			if wildcardMatch(pattern[1:], text[i:]) {
				return true
			}
		}
		return false
	case pattern[0] == '\\' && len(pattern) > 1:
		pattern = pattern[1:]
	}
	return text != "" && pattern[0] == text[0] && wildcardMatch(pattern[1:], text[1:])
}
