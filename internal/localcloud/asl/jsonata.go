package asl

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"

	jsonatalib "github.com/blues/jsonata-go"
)

// compileJSONata reads a field in which texts between {% and %} are expressions and
// everything else stands for itself. name is where errors say they happened.
func compileJSONata(v any, name string) (expr, error) {
	switch v := v.(type) {
	case string:
		if isExpression(v) {
			return compileExpression(strings.TrimSpace(v[2:len(v)-2]), name)
		}
	case map[string]any:
		fields := make(map[string]expr, len(v))
		for field, inner := range v {
			e, err := compileJSONata(inner, name+"/"+field)
			if err != nil {
				return nil, err
			}
			fields[field] = e
		}
		return objectOf(fields), nil
	case []any:
		items := make([]expr, len(v))
		for i, inner := range v {
			e, err := compileJSONata(inner, fmt.Sprintf("%s[%d]", name, i))
			if err != nil {
				return nil, err
			}
			items[i] = e
		}
		return listOf(items), nil
	}
	return func(scope) (any, error) { return v, nil }, nil
}

func compileExpression(text, name string) (expr, error) {
	if strings.Contains(text, "$eval") {
		return nil, fmt.Errorf("%s: JSONata expression %q: $eval is not supported by AWS", name, text)
	}
	if _, err := jsonatalib.Compile(text); err != nil {
		return nil, fmt.Errorf("%s: JSONata expression %q: %w", name, text, err)
	}
	steps := plainPath(text)
	return func(s scope) (any, error) {
		if v, ok := follow(steps, s); ok {
			return v, nil
		}
		v, err := evaluate(text, s)
		switch {
		case errors.Is(err, jsonatalib.ErrUndefined):
			return nil, queryError("The JSONata expression '%s' specified for the field '%s' returned nothing (undefined).", text, name)
		case err != nil:
			return nil, queryError("The JSONata expression '%s' specified for the field '%s' threw an error during evaluation. %v", text, name, err)
		}
		return v, nil
	}, nil
}

var plainPathText = regexp.MustCompile(`^\$[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)

// plainPath splits an expression that is nothing but a variable and names below it.
func plainPath(text string) []string {
	if !plainPathText.MatchString(text) {
		return nil
	}
	return strings.Split(text[1:], ".")
}

// follow goes a plain path through objects. The library would lose an empty list at its
// end, and the last digits of large numbers. It reports false where a list or nothing is
// on the way: there the library knows the rules.
func follow(steps []string, s scope) (any, bool) {
	if len(steps) == 0 {
		return nil, false
	}
	var at any
	ok := false
	if steps[0] == "states" {
		at, ok = s.statesVariable(), true
	} else {
		at, ok = s.vars.get(steps[0])
	}
	for _, name := range steps[1:] {
		object, isObject := at.(map[string]any)
		if !ok || !isObject {
			return nil, false
		}
		at, ok = object[name]
	}
	return at, ok
}

// statesVariable is JSONata's $states.
func (s scope) statesVariable() map[string]any {
	states := map[string]any{"input": s.input, "context": s.context}
	maps.Copy(states, s.states)
	return states
}

func queryError(format string, args ...any) *Error {
	return &Error{Name: ErrNameQuery, Cause: fmt.Sprintf(format, args...)}
}

// evaluate compiles anew each time: a compiled expression keeps the variables that it was
// given, and branches evaluate side by side.
func evaluate(text string, s scope) (result any, err error) {
	defer func() {
		if p := recover(); p != nil { // of the library, over a value that it does not expect
			result, err = nil, fmt.Errorf("%v", p)
		}
	}()
	e, err := jsonatalib.Compile(text)
	if err != nil {
		return nil, err
	}
	vars := s.vars.all()
	vars["states"] = s.statesVariable()
	for name, v := range vars {
		vars[name] = toJSONata(v)
	}
	if err := e.RegisterVars(vars); err != nil {
		return nil, err
	}
	if err := e.RegisterExts(jsonataFunctions(s)); err != nil {
		return nil, err
	}
	v, err := e.Eval(nil)
	if err != nil {
		return nil, err
	}
	return fromJSONata(v)
}

// jsonataNull is what the library takes for null; a plain nil it takes for nothing.
var jsonataNull *any

// toJSONata turns numbers into the floats that JSONata reckons with.
func toJSONata(v any) any {
	switch v := v.(type) {
	case nil:
		return jsonataNull
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return f
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			out[name] = toJSONata(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = toJSONata(inner)
		}
		return out
	}
	return v
}

// fromJSONata takes a result over, if it is JSON: a function is none.
func fromJSONata(v any) (any, error) {
	if _, isFunction := v.(interface{ ParamCount() int }); isFunction {
		return nil, errors.New("the result is a function, which is not supported")
	}
	text, err := encodeJSON(v)
	if err != nil {
		return nil, fmt.Errorf("the result is of a type that is not supported: %w", err)
	}
	return decodeJSON(text)
}

// jsonataFunctions are those that Step Functions adds to the language.
func jsonataFunctions(s scope) map[string]jsonatalib.Extension {
	return map[string]jsonatalib.Extension{
		"parse": {Func: func(text string) (any, error) {
			v, err := decodeJSON([]byte(text))
			return toJSONata(v), err
		}},
		"uuid": {Func: newUUID},
		"hash": {Func: func(data, algorithm string) (string, error) {
			sum, err := hashText(data, algorithm)
			text, _ := sum.(string)
			return text, err
		}},
		"partition": {Func: func(list []any, size float64) (any, error) { return partition(list, int(size)) }},
		"range": {Func: func(from, to, by float64) (any, error) {
			list, err := numberRange(int(from), int(to), int(by))
			if len(list) == 1 { // a sequence of one is that one, as AWS was recorded to do
				return toJSONata(list[0]), err
			}
			return toJSONata(list), err
		}},
		"random": {Func: s.random},
	}
}

func objectOf(fields map[string]expr) expr {
	return func(s scope) (any, error) {
		out := make(map[string]any, len(fields))
		for name, e := range fields {
			v, err := e(s)
			if err != nil {
				return nil, err
			}
			out[name] = v
		}
		return out, nil
	}
}

func listOf(items []expr) expr {
	return func(s scope) (any, error) {
		out := make([]any, len(items))
		for i, e := range items {
			v, err := e(s)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	}
}
