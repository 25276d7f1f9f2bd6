package asl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// expr computes a value from a state's scope. Templates and paths are compiled into it
// when the definition is read, so what is not supported is found before anything runs.
type expr func(scope) (any, error)

// decodeJSON keeps numbers as they were written.
func decodeJSON(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return v, nil
}

// encodeJSON writes v without escaping angle brackets, as AWS does.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// compileTemplate reads Parameters and the like: fields whose names end in .$ are paths
// or intrinsic functions, everything else stands for itself.
func compileTemplate(v any) (expr, error) {
	switch v := v.(type) {
	case map[string]any:
		return compileObject(v)
	case []any:
		return compileList(v)
	}
	return func(scope) (any, error) { return v, nil }, nil
}

func compileObject(object map[string]any) (expr, error) {
	fields := make(map[string]expr, len(object))
	for name, v := range object {
		plain, dynamic := strings.CutSuffix(name, ".$")
		var e expr
		var err error
		if dynamic {
			text, ok := v.(string)
			if !ok {
				return nil, fmt.Errorf("field %q: must be a path or an intrinsic function", name)
			}
			e, err = compileExpr(text)
		} else {
			e, err = compileTemplate(v)
		}
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		fields[plain] = e
	}
	for name, e := range fields {
		fields[name] = inField(name, e)
	}
	return objectOf(fields), nil
}

// inField says in errors where they happened; those with a name of their own keep it.
func inField(name string, e expr) expr {
	return func(s scope) (any, error) {
		v, err := e(s)
		if err != nil {
			err = fmt.Errorf("field %q: %w", name, err)
		}
		return v, err
	}
}

func compileList(list []any) (expr, error) {
	items := make([]expr, len(list))
	for i, v := range list {
		e, err := compileTemplate(v)
		if err != nil {
			return nil, err
		}
		items[i] = e
	}
	return listOf(items), nil
}

// compileExpr reads what may stand behind a .$ name: a path or an intrinsic function.
func compileExpr(text string) (expr, error) {
	if strings.HasPrefix(text, "States.") {
		return compileIntrinsic(text)
	}
	p, err := parsePath(text)
	if err != nil {
		return nil, err
	}
	return p.get, nil
}
