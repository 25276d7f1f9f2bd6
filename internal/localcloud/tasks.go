package localcloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cronfence/cronfence/internal/localcloud/asl"
	"github.com/cronfence/cronfence/internal/localcloud/lambdaapi"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// errorNotRunHere is the error of a task that only AWS can run.
const errorNotRunHere = "LocalCloud.NotRunHere"

const invokeResource = "arn:aws:states:::lambda:invoke"

// tasks runs the tasks of state machines: invocations of functions.
type tasks struct {
	lambda  *lambdaapi.Server
	journal *journal
	states  *stepFunctions
	// jobs are by the name of their machine. Only their own work is counted, not what
	// guards it.
	jobs   map[string]*job
	guards map[string]bool   // names of the functions that guard
	begun  func(*job, *work) // hears of a job's work as it begins
}

var _ asl.Tasks = (*tasks)(nil)

// runsHere tells whether a task's resource is a function or another state machine. Of
// another service's only the command that stands in for it can run here.
func runsHere(resource string) bool {
	return resource == invokeResource || functionOf(resource) != "" || startsExecution(resource)
}

// RunTask implements asl.Tasks.
func (t *tasks) RunTask(ctx context.Context, task asl.Task) (any, error) {
	if name := functionOf(task.Resource); name != "" {
		return t.invoke(ctx, task, name, task.Input)
	}
	if startsExecution(task.Resource) {
		return t.startExecution(ctx, task)
	}
	if !runsHere(task.Resource) {
		return nil, &asl.Error{Name: errorNotRunHere, Cause: task.Resource + " does not run in the local cloud; give the job a command with --exec"}
	}
	params, _ := task.Input.(map[string]any)
	for name, v := range params {
		waits := name == "InvocationType" && v == "RequestResponse"
		if name != "FunctionName" && name != "Payload" && name != "Qualifier" && !waits {
			return nil, &asl.Error{Name: asl.ErrNameRuntime, Cause: fmt.Sprintf("parameter %q of %s is not supported; the local cloud knows FunctionName, Payload and Qualifier", name, task.Resource)}
		}
	}
	function, _ := params["FunctionName"].(string)
	if name := functionOf(function); name != "" {
		function = name
	}
	payload, given := params["Payload"]
	if !given {
		payload = map[string]any{}
	}
	answer, err := t.invoke(ctx, task, function, payload)
	if err != nil {
		return nil, err
	}
	return map[string]any{"ExecutedVersion": "$LATEST", "Payload": answer, "StatusCode": json.Number("200")}, nil
}

// functionOf returns the name in a function's ARN, "" for anything else.
func functionOf(arn string) string {
	p := strings.Split(arn, ":")
	if len(p) < 7 || p[2] != "lambda" || p[5] != "function" {
		return ""
	}
	return p[6]
}

func (t *tasks) invoke(ctx context.Context, task asl.Task, function string, payload any) (any, error) {
	text, err := encode(payload)
	if err != nil {
		return nil, err
	}
	var watch lambdaapi.Watch
	if j := t.jobOf(task.Execution); j != nil && !t.guards[function] {
		watch = lambdaapi.Watch{Working: j.working, Late: func(failed error) { t.late(j, task, failed) }}
		var end func()
		ctx, end = t.begin(ctx, j, task)
		defer end()
	}
	answer, err := t.lambda.InvokeWatched(ctx, function, text, watch)
	if err != nil {
		return nil, taskError(function, err)
	}
	return decode(answer)
}

// late tells of work that nobody waited for any more: its execution had ended before. What it
// still wrote where a fence is checked was refused.
func (t *tasks) late(j *job, task asl.Task, failed error) {
	if t.states.ctx.Err() != nil {
		return // everything ends
	}
	_, run, _ := schema.ParseExecutionARN(task.Execution) // it was read to find the job
	end := "well"
	if failed != nil {
		end = "with " + failed.Error()
	}
	t.journal.late(j.name, run, end)
}

// begin makes a task of a job's one that can be killed, until end is called.
func (t *tasks) begin(ctx context.Context, j *job, task asl.Task) (_ context.Context, end func()) {
	_, run, _ := schema.ParseExecutionARN(task.Execution) // it was read to find the job
	ctx, cancel := context.WithCancelCause(ctx)
	w := &work{run: run, cancel: cancel}
	j.begins(w)
	t.begun(j, w)
	return ctx, func() {
		j.ends(w)
		cancel(nil)
	}
}

func (t *tasks) jobOf(executionARN string) *job {
	name, _, err := schema.ParseExecutionARN(executionARN)
	if err != nil {
		return nil
	}
	return t.jobs[name]
}

// taskError names an error as Step Functions does: by the function's own errorType, with
// its whole answer as the cause.
func taskError(function string, err error) error {
	var failed *lambdaapi.FunctionError
	switch {
	case errors.As(err, &failed) && failed.Type == "":
		return &asl.Error{Name: "Lambda.Unknown", Cause: failed.Payload}
	case errors.As(err, &failed):
		return &asl.Error{Name: failed.Type, Cause: failed.Payload}
	case errors.Is(err, lambdaapi.ErrNoFunction):
		return &asl.Error{Name: "Lambda.ResourceNotFoundException", Cause: "function " + function + " does not run in the local cloud; give the job a command with --exec"}
	}
	return err
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

func decode(b []byte) (any, error) {
	if len(b) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, &asl.Error{Name: "Lambda.Unknown", Cause: "the function's answer is no JSON: " + err.Error()}
	}
	return v, nil
}
