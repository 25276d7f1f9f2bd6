package asl

import "fmt"

// choose runs a Choice.
func (v *visit) choose(input any) (any, string, *Error) {
	s := v.scope(input)
	for i := range v.state.choices {
		rule := &v.state.choices[i]
		ok, err := rule.test(s)
		if err != nil {
			return nil, "", v.asError(err)
		}
		if ok {
			return v.leave(input, &rule.Output, &rule.Assign, rule.Next)
		}
	}
	if v.state.Default == "" {
		return nil, "", &Error{Name: ErrNameNoChoiceMatched, Cause: "no choice of state '" + v.state.name + "' matched and it has no Default"}
	}
	return v.leave(input, &v.state.Output, &v.state.Assign, v.state.Default)
}

// leave makes a Choice's output on the way it takes.
func (v *visit) leave(input any, output, assign *value, next string) (any, string, *Error) {
	out, failed := v.place(input)
	if v.state.lang == jsonata {
		out, failed = v.output(output, v.scope(v.raw), v.raw)
	}
	if failed == nil {
		failed = v.assign(assign, v.scope(input))
	}
	return out, next, failed
}

// fail makes the error of a Fail.
func (v *visit) fail(input any) *Error {
	name, failed := v.text("Error", &v.state.Error, v.state.ErrorPath, input)
	if failed != nil {
		return failed
	}
	cause, failed := v.text("Cause", &v.state.Cause, v.state.CausePath, input)
	if failed != nil {
		return failed
	}
	return &Error{Name: name, Cause: cause}
}

// text reads a field that must come out as a string.
func (v *visit) text(name string, field *value, path *exprField, input any) (string, *Error) {
	var eval expr
	switch {
	case path != nil:
		eval = path.eval
	case !field.given:
		return "", nil
	case v.state.lang == jsonPath:
		text, _ := field.raw.(string) // checked when the definition was read
		return text, nil
	default:
		eval = field.eval
	}
	got, err := eval(v.scope(input))
	if err == nil {
		if text, ok := got.(string); ok {
			return text, nil
		}
		err = v.mistyped(fmt.Sprintf("the field %s must be a string, not %v", name, got))
	}
	return "", v.asError(err)
}

// mistyped is the error of a value that does not fit its field.
func (v *visit) mistyped(cause string) error {
	if v.state.lang == jsonata {
		return &Error{Name: ErrNameQuery, Cause: cause}
	}
	return runtimeError(v.state.name, "%s", cause)
}
