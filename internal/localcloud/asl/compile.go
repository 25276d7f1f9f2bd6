package asl

import (
	"encoding/json"
	"fmt"
	"strings"
)

// language is a query language.
type language string

const (
	jsonPath language = "JSONPath"
	jsonata  language = "JSONata"
)

// override returns the language that holds inside something which may name its own. As on
// AWS, nothing inside JSONata goes back to JSONPath.
func (outer language) override(own language) (language, error) {
	switch {
	case own == "":
		return outer, nil
	case own != jsonPath && own != jsonata:
		return "", fmt.Errorf("query language %q is not supported; the local cloud knows JSONPath and JSONata", own)
	case outer == jsonata && own == jsonPath:
		return "", fmt.Errorf("QueryLanguage %q: must not be set inside a state machine of JSONata", own)
	}
	return own, nil
}

// value is a field whose meaning depends on the query language: it is kept as it was
// read, null included, until that is known.
type value struct {
	given bool
	raw   any
	eval  expr
}

func (v *value) UnmarshalJSON(b []byte) error {
	v.given = true
	var err error
	v.raw, err = decodeJSON(b)
	return err
}

// compile makes the field's expression. name is where errors say they happened.
func (v *value) compile(lang language, name string) error {
	if !v.given {
		return nil
	}
	var err error
	if lang == jsonata {
		v.eval, err = compileJSONata(v.raw, name)
	} else if v.eval, err = compileTemplate(v.raw); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// constant returns the field as it stands, unless it is a JSONata expression.
func (v *value) constant() (any, bool) {
	if text, ok := v.raw.(string); ok && isExpression(text) {
		return nil, false
	}
	return v.raw, v.given
}

// compile turns what was read into what runs. outer is the language around the state,
// which holds inside it: a state's own language is for its own fields.
func (s *state) compile(outer language) error {
	for name, v := range map[string]*value{
		"Parameters": &s.Parameters, "ResultSelector": &s.ResultSelector, "Arguments": &s.Arguments,
		"Output": &s.Output, "Assign": &s.Assign, "Items": &s.Items, "ItemSelector": &s.ItemSelector,
		"TimeoutSeconds": &s.TimeoutSeconds, "HeartbeatSeconds": &s.HeartbeatSeconds, "MaxConcurrency": &s.MaxConcurrency,
		"ToleratedFailureCount": &s.ToleratedFailureCount, "ToleratedFailurePercentage": &s.ToleratedFailurePercentage,
		"Seconds": &s.Seconds, "Timestamp": &s.Timestamp, "Error": &s.Error, "Cause": &s.Cause,
	} {
		if err := v.compile(s.lang, name); err != nil {
			return err
		}
	}
	for i, c := range s.Catch {
		if err := c.compile(s.lang); err != nil {
			return fmt.Errorf("catch %d: %w", i+1, err)
		}
	}
	for i, raw := range s.Choices {
		rule, err := parseChoice(raw, s.lang)
		if err != nil {
			return fmt.Errorf("choice %d: %w", i+1, err)
		}
		s.choices = append(s.choices, rule)
	}
	for i, raw := range s.Branches {
		g, err := parseGraph("branch", raw, outer, branchFields...)
		if err != nil {
			return fmt.Errorf("branch %d: %w", i+1, err)
		}
		s.branches = append(s.branches, g)
	}
	return s.compileProcessor(outer)
}

// compileProcessor reads what a Map does for every item.
func (s *state) compileProcessor(outer language) error {
	if s.Type != "Map" {
		return nil
	}
	raw, what, allowed := s.ItemProcessor, "ItemProcessor", append([]string{"ProcessorConfig"}, branchFields...)
	if raw == nil {
		raw, what, allowed = s.Iterator, "Iterator", branchFields
	}
	if raw == nil || (s.ItemProcessor != nil && s.Iterator != nil) {
		return fmt.Errorf("map must have one of ItemProcessor and Iterator")
	}
	var config struct{ ProcessorConfig struct{ Mode string } }
	if err := json.Unmarshal(raw, &config); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if mode := config.ProcessorConfig.Mode; mode != "" && mode != "INLINE" {
		return fmt.Errorf("%s: ProcessorConfig: mode %q is not supported; the local cloud knows INLINE", what, mode)
	}
	var err error
	s.processor, err = parseGraph(what, raw, outer, allowed...)
	return err
}

func isExpression(text string) bool {
	return strings.HasPrefix(text, "{%") && strings.HasSuffix(text, "%}")
}
