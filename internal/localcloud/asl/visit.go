package asl

import (
	"context"
	"time"
)

// visit is one stay in a state: entered once, however often it is retried.
type visit struct {
	x       *execution
	state   *state
	raw     any // the state's input before InputPath
	context map[string]any
	retries int
}

func (v *visit) entered() {
	v.context = v.x.contextFor(v.state.name)
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

// run returns the state's output and the next state's name, "" at the end.
func (v *visit) run(ctx context.Context) (output any, next string, failed *Error) {
	input, err := v.state.InputPath.apply(scope{v.raw, v.context}, map[string]any{})
	if err != nil {
		return nil, "", asError(v.state.name, err)
	}
	switch v.state.Type {
	case "Fail":
		return nil, "", v.fail(input)
	case "Choice":
		return v.choose(input)
	case "Task", "Parallel":
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

func (v *visit) parameters(input any) (any, *Error) {
	if v.state.Parameters == nil {
		return input, nil
	}
	out, err := v.state.Parameters.eval(scope{input, v.context})
	if err != nil {
		return nil, asError(v.state.name, err)
	}
	return out, nil
}

// finish puts a result in its place and takes the state's output out of that. The place
// is in the state's whole input: what InputPath left out of sight is not lost.
func (v *visit) finish(result any) (any, *Error) {
	var err error
	if s := v.state.ResultSelector; s != nil {
		if result, err = s.eval(scope{result, v.context}); err != nil {
			return nil, asError(v.state.name, err)
		}
	}
	switch {
	case v.state.ResultPath.null:
		result = v.raw
	case v.state.ResultPath.path != nil:
		if result, err = v.state.ResultPath.path.put(v.raw, result); err != nil {
			return nil, asError(v.state.name, err)
		}
	}
	output, err := v.state.OutputPath.apply(scope{result, v.context}, map[string]any{})
	if err != nil {
		return nil, asError(v.state.name, err)
	}
	return output, nil
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

func (v *visit) choose(input any) (any, string, *Error) {
	output, failed := v.finish(input)
	if failed != nil {
		return nil, "", failed
	}
	for _, rule := range v.state.Choices {
		ok, err := rule.test(scope{input, v.context})
		if err != nil {
			return nil, "", asError(v.state.name, err)
		}
		if ok {
			return output, rule.Next, nil
		}
	}
	if v.state.Default == "" {
		return nil, "", &Error{ErrNameNoChoiceMatched, "no choice of state '" + v.state.name + "' matched and it has no Default"}
	}
	return output, v.state.Default, nil
}

func (v *visit) fail(input any) *Error {
	name, err := v.text(v.state.Error, v.state.ErrorPath, input)
	if err != nil {
		return err
	}
	cause, err := v.text(v.state.Cause, v.state.CausePath, input)
	if err != nil {
		return err
	}
	return &Error{name, cause}
}

func (v *visit) text(value *string, path *exprField, input any) (string, *Error) {
	if path == nil {
		return or(value, ""), nil
	}
	got, err := path.eval(scope{input, v.context})
	if err != nil {
		return "", asError(v.state.name, err)
	}
	text, ok := got.(string)
	if !ok {
		return "", runtimeError(v.state.name, "ErrorPath and CausePath must name a string, not %v", got)
	}
	return text, nil
}
