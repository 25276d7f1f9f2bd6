package assembly

import (
	"fmt"
	"reflect"
	"strings"
)

// Pattern is an EventBridge event pattern: for each field the values it may have.
type Pattern struct{ fields map[string]any }

// newPattern checks that the pattern uses nothing but values, nesting and prefixes.
func newPattern(v any) (Pattern, error) {
	fields, ok := v.(map[string]any)
	if !ok || len(fields) == 0 {
		return Pattern{}, fmt.Errorf("event pattern %v: must be an object", v)
	}
	return Pattern{fields}, checkPattern(fields)
}

func checkPattern(fields map[string]any) error {
	for name, v := range fields {
		switch v := v.(type) {
		case map[string]any:
			if err := checkPattern(v); err != nil {
				return err
			}
		case []any:
			for _, option := range v {
				if m, ok := option.(map[string]any); ok && (len(m) != 1 || m["prefix"] == nil) {
					return fmt.Errorf("event pattern %s: %v is not supported; the local cloud knows values and prefixes", name, m)
				}
			}
		default:
			return fmt.Errorf("event pattern %s: %v must be a list or an object", name, v)
		}
	}
	return nil
}

// Matches tells whether the event, as decoded JSON, has an allowed value in every field
// of the pattern.
func (p Pattern) Matches(event map[string]any) bool { return matches(p.fields, event) }

func matches(pattern, event map[string]any) bool {
	for name, want := range pattern {
		switch want := want.(type) {
		case map[string]any:
			below, ok := event[name].(map[string]any)
			if !ok || !matches(want, below) {
				return false
			}
		case []any:
			if !matchesAny(want, event[name]) {
				return false
			}
		}
	}
	return true
}

func matchesAny(options []any, got any) bool {
	for _, option := range options {
		if m, ok := option.(map[string]any); ok {
			text, isText := got.(string)
			if isText && strings.HasPrefix(text, fmt.Sprint(m["prefix"])) {
				return true
			}
		} else if reflect.DeepEqual(option, got) {
			return true
		}
	}
	return false
}
