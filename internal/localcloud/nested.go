package localcloud

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/asl"
	"github.com/cronfence/cronfence/internal/localcloud/process"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// startResource runs another state machine; with .sync it is waited for, with .sync:2 its
// input and output are JSON and no text.
const startResource = "arn:aws:states:::states:startExecution"

func startsExecution(resource string) bool {
	switch strings.TrimPrefix(resource, startResource) {
	case "", ".sync", ".sync:2":
		return strings.HasPrefix(resource, startResource)
	}
	return false
}

// startExecution plays Step Functions' integration of itself.
func (t *tasks) startExecution(ctx context.Context, task asl.Task) (any, error) {
	params, _ := task.Input.(map[string]any)
	machineARN, _ := params["StateMachineArn"].(string)
	name, _ := params["Name"].(string)
	if name == "" {
		name = rand.Text()
	}
	input := []byte("{}")
	if given, ok := params["Input"]; ok {
		var err error
		if input, err = encode(given); err != nil {
			return nil, err
		}
	}
	if err := t.states.Start(ctx, machineARN, name, string(input)); err != nil {
		return nil, startError(machineARN, err)
	}
	x := t.states.find(schema.ExecutionARN(machineARN, name))
	if task.Resource == startResource {
		return map[string]any{"ExecutionArn": x.arn, "StartDate": millis(x.StartedAt)}, nil
	}
	if j := t.jobOf(task.Execution); j != nil {
		j.working(+1)
		defer j.working(-1)
		var end func()
		ctx, end = t.begin(ctx, j, task)
		defer end()
	}
	task.Submitted()
	select {
	case <-x.done:
		return t.states.ended(x, strings.HasSuffix(task.Resource, ":2"))
	case <-ctx.Done(): // as on AWS, a cancelled task stops what it waits for
		_ = t.states.Stop(context.Background(), x.arn, "", "")
		if errors.Is(context.Cause(ctx), process.ErrKilled) {
			return t.states.ended(x, false)
		}
		return nil, ctx.Err()
	}
}

func startError(machineARN string, err error) error {
	name := "StepFunctions.InvalidExecutionInputException"
	switch {
	case errors.Is(err, machine.ErrExists):
		name = "StepFunctions.ExecutionAlreadyExistsException"
	case strings.Contains(err.Error(), "does not exist"):
		name = "StepFunctions.StateMachineDoesNotExistException"
		return &asl.Error{Name: name, Cause: "state machine " + machineARN + " is not in the assembly; give the job a command with --exec"}
	}
	return &asl.Error{Name: name, Cause: err.Error()}
}

// ended describes an execution that is over, as the result or the cause of a .sync task.
func (f *stepFunctions) ended(x *execution, asJSON bool) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	included := map[string]any{"Included": true}
	d := map[string]any{
		"ExecutionArn": x.arn, "Name": x.name, "StateMachineArn": x.machine.arn, "Status": string(x.Status),
		"StartDate": millis(x.StartedAt), "StopDate": millis(x.StoppedAt), "Input": x.Input, "InputDetails": included,
	}
	if x.Status != machine.Succeeded {
		if x.Error != "" {
			d["Error"] = x.Error
		}
		if x.Cause != "" {
			d["Cause"] = x.Cause
		}
		text, err := encode(d)
		if err != nil {
			return nil, err
		}
		return nil, &asl.Error{Name: asl.ErrNameTaskFailed, Cause: string(text)}
	}
	d["Output"], d["OutputDetails"] = string(x.output), included
	if asJSON {
		for field, text := range map[string][]byte{"Input": []byte(x.Input), "Output": x.output} {
			v, err := decode(text)
			if err != nil {
				return nil, err
			}
			d[field] = v
		}
	}
	return d, nil
}

func millis(t time.Time) json.Number { return json.Number(strconv.FormatInt(t.UnixMilli(), 10)) }
