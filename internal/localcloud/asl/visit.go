package asl

import (
	"context"
	"time"
)

// visit is one stay in a state: entered once, however often it is retried.
type visit struct {
	x       *execution
	state   *state
	frame   frame
	raw     any // the state's input before InputPath
	context map[string]any
	retries int
}

// frame is what a state has from where it is: the variables of its scope, and of the Map
// around it the item that is worked on.
type frame struct {
	vars *variables
	item map[string]any // "Map" of the context object; nil outside of one
}

// inner is the frame of a branch or iteration.
func (f frame) inner() frame { return frame{newVariables(f.vars), f.item} }

func (v *visit) entered() {
	v.context = v.x.contextFor(v.state.name)
	if v.frame.item != nil {
		v.context["Map"] = v.frame.item
	}
	v.x.event(v.state.Type+"StateEntered", v.state.name, nil)
}

func (v *visit) exited() { v.x.event(v.state.Type+"StateExited", v.state.name, nil) }

// contextFor builds the context object as it is seen from a state.
func (x *execution) contextFor(state string) map[string]any {
	return map[string]any{
		"Execution": map[string]any{
			"Id": x.ARN, "Input": x.input, "Name": x.Name, "RoleArn": x.RoleARN,
			"StartTime": Timestamp(x.started), "RedriveCount": number(0),
		},
		"StateMachine": map[string]any{"Id": x.MachineARN, "Name": x.MachineName},
		"State":        map[string]any{"Name": state, "EnteredTime": Timestamp(x.Clock.Now())},
	}
}

// Timestamp writes an instant as the context object does: to the millisecond, without a
// fraction when that is zero.
func Timestamp(t time.Time) string {
	if t.Nanosecond() < int(time.Millisecond) {
		return t.UTC().Format("2006-01-02T15:04:05Z")
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// scope is what expressions see over some input.
func (v *visit) scope(input any) scope {
	return scope{input: input, context: v.context, vars: v.frame.vars, random: v.x.Random}
}

// resultScope is what they see when the state has a result: JSONPath's "$" is then the
// result, JSONata keeps the input and has the result beside it.
func (v *visit) resultScope(name string, result any) scope {
	if v.state.lang == jsonPath {
		return v.scope(result)
	}
	s := v.scope(v.raw)
	s.states = map[string]any{name: result}
	return s
}

// asError names an error and, if it is one of JSONata, writes it into the history.
func (v *visit) asError(err error) *Error {
	failed := asError(v.state.name, err)
	if failed.Name == ErrNameQuery {
		v.x.event("EvaluationFailed", v.state.name, failed)
	}
	return failed
}

// run returns the state's output and the next state's name, "" at the end.
func (v *visit) run(ctx context.Context) (output any, next string, failed *Error) {
	input, err := v.state.InputPath.apply(v.scope(v.raw), map[string]any{})
	if err != nil {
		return nil, "", v.asError(err)
	}
	switch v.state.Type {
	case "Fail":
		return nil, "", v.fail(input)
	case "Choice":
		return v.choose(input)
	case "Task", "Parallel", "Map":
		return v.runRetried(ctx, input)
	}
	result, failed := v.runPlain(ctx, input)
	if failed == nil {
		output, failed = v.finish(result)
	}
	return output, v.state.Next, failed
}

// runPlain runs the states that have neither Retry nor Catch.
func (v *visit) runPlain(ctx context.Context, input any) (any, *Error) {
	switch v.state.Type {
	case "Pass":
		return v.pass(input)
	case "Wait":
		return input, v.wait(ctx, input)
	}
	return input, nil
}

func (v *visit) pass(input any) (any, *Error) {
	if v.state.Result != nil {
		result, err := decodeJSON(v.state.Result)
		if err != nil {
			return nil, runtimeError(v.state.name, "Result: %v", err)
		}
		return result, nil
	}
	return v.parameters(input)
}

// parameters makes what a state works on: Parameters in JSONPath, Arguments in JSONata.
func (v *visit) parameters(input any) (any, *Error) {
	field := &v.state.Parameters
	if v.state.lang == jsonata {
		field = &v.state.Arguments
	}
	if !field.given {
		return input, nil
	}
	out, err := field.eval(v.scope(input))
	if err != nil {
		return nil, v.asError(err)
	}
	return out, nil
}

// finish makes the state's output of its result, and then assigns: everything sees the
// variables as they were.
func (v *visit) finish(result any) (any, *Error) {
	if v.state.lang == jsonata {
		output, err := v.output(&v.state.Output, v.resultScope("result", result), result)
		if err != nil {
			return nil, err
		}
		return output, v.assign(&v.state.Assign, v.resultScope("result", result))
	}
	if s := &v.state.ResultSelector; s.given {
		selected, err := s.eval(v.scope(result))
		if err != nil {
			return nil, v.asError(err)
		}
		result = selected
	}
	output, failed := v.place(result)
	if failed != nil {
		return nil, failed
	}
	return output, v.assign(&v.state.Assign, v.scope(result))
}

// place puts a result where ResultPath says and takes the output out of that. The place
// is in the state's whole input: what InputPath left out of sight is not lost.
func (v *visit) place(result any) (any, *Error) {
	var err error
	switch {
	case v.state.ResultPath.null:
		result = v.raw
	case v.state.ResultPath.path != nil:
		if result, err = v.state.ResultPath.path.put(v.raw, result); err != nil {
			return nil, v.asError(err)
		}
	}
	output, err := v.state.OutputPath.apply(v.scope(result), map[string]any{})
	if err != nil {
		return nil, v.asError(err)
	}
	return output, nil
}

// output evaluates an Output of JSONata; without one the output is what is given.
func (v *visit) output(field *value, s scope, missing any) (any, *Error) {
	if !field.given {
		return missing, nil
	}
	out, err := field.eval(s)
	if err != nil {
		return nil, v.asError(err)
	}
	return out, nil
}

func (v *visit) assign(field *value, s scope) *Error {
	if !field.given {
		return nil
	}
	values, err := field.eval(s)
	if err != nil {
		return v.asError(err)
	}
	object, ok := values.(map[string]any)
	if !ok {
		return runtimeError(v.state.name, "Assign: %v must be an object", values)
	}
	v.frame.vars.assign(object)
	return nil
}

// apply returns what the path finds: everything when there is none, and dropped when it
// is null.
func (f pathField) apply(s scope, dropped any) (any, error) {
	switch {
	case f.null:
		return dropped, nil
	case f.path == nil:
		return s.input, nil
	}
	return f.path.get(s)
}
