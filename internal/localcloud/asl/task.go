package asl

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"regexp"
	"strings"
	"time"
)

// runRetried runs a Task, Parallel or Map with its Retry and Catch.
func (v *visit) runRetried(ctx context.Context, input any) (any, string, *Error) {
	done := make([]int, len(v.state.Retry))
	for {
		output, failed := v.attempt(ctx, input)
		if ctx.Err() != nil {
			return nil, "", nil
		}
		if failed == nil {
			return output, v.state.Next, nil
		}
		delay, again := v.nextTry(failed, done)
		if !again {
			v.gaveUp(failed)
			return v.catch(failed)
		}
		if v.x.Clock.Sleep(ctx, delay) != nil {
			return nil, "", nil
		}
		v.retries++
	}
}

// nextTry finds the first Retry entry that takes the error. An entry that takes it and
// has no attempt left ends the retrying: later entries are not asked.
func (v *visit) nextTry(failed *Error, done []int) (time.Duration, bool) {
	for i := range v.state.Retry {
		r := &v.state.Retry[i]
		if !failed.matches(r.ErrorEquals) {
			continue
		}
		delay, ok := r.delay(done[i], v.x.Random)
		done[i]++
		return delay, ok
	}
	return 0, false
}

func (v *visit) gaveUp(failed *Error) {
	if v.state.Type != "Task" && !failed.fatal() {
		v.x.event(v.state.Type+"StateFailed", v.state.name, failed)
	}
}

// catch hands an error to the first Catch entry that takes it. The state's own
// ResultPath and OutputPath play no part: what is put into the input is the error.
func (v *visit) catch(failed *Error) (any, string, *Error) {
	for _, c := range v.state.Catch {
		if !failed.matches(c.ErrorEquals) {
			continue
		}
		s := v.resultScope("errorOutput", failed.output())
		output, problem := v.caught(c, failed, s)
		if problem == nil {
			problem = v.assign(&c.Assign, s)
		}
		return output, c.Next, problem
	}
	return nil, "", failed
}

func (v *visit) caught(c *catcher, failed *Error, s scope) (any, *Error) {
	switch {
	case v.state.lang == jsonata:
		return v.output(&c.Output, s, failed.output())
	case c.ResultPath.null:
		return v.raw, nil
	case c.ResultPath.path == nil:
		return failed.output(), nil
	}
	output, err := c.ResultPath.path.put(v.raw, failed.output())
	if err != nil {
		return nil, v.asError(err)
	}
	return output, nil
}

// attempt makes one try, from Parameters to OutputPath.
func (v *visit) attempt(ctx context.Context, input any) (any, *Error) {
	if v.state.Type == "Task" {
		state, _ := v.context["State"].(map[string]any)
		state["RetryCount"] = number(v.retries)
		if v.waitsForEnd() {
			v.context["Task"] = map[string]any{"Token": rand.Text()}
		}
	}
	if v.state.Type == "Map" {
		return v.finishAttempt(ctx)(v.runMap(ctx, input))
	}
	params, failed := v.parameters(input)
	if failed != nil {
		return nil, failed
	}
	if v.state.Type == "Task" {
		return v.finishAttempt(ctx)(v.runTask(ctx, params, input))
	}
	return v.finishAttempt(ctx)(v.runParallel(ctx, params))
}

// finishAttempt makes the output of a result, if there is one.
func (v *visit) finishAttempt(ctx context.Context) func(any, *Error) (any, *Error) {
	return func(result any, failed *Error) (any, *Error) {
		if failed != nil || ctx.Err() != nil {
			return nil, failed
		}
		return v.finish(result)
	}
}

var waitSuffix = regexp.MustCompile(`\.(waitForTaskToken|sync|sync:2)$`)

// waitsForEnd tells a task that goes on after its call: it has a token, also where it is
// not the token that ends it.
func (v *visit) waitsForEnd() bool { return waitSuffix.MatchString(v.state.Resource) }

// errTaskTimeout ends a task whose timeout is over or whose heartbeat did not come.
var errTaskTimeout = errors.New("the task's timeout is over")

func (v *visit) runTask(ctx context.Context, params, input any) (any, *Error) {
	timeout, failed := v.seconds("TimeoutSeconds", &v.state.TimeoutSeconds, v.state.TimeoutSecondsPath, input)
	if failed != nil {
		return nil, failed
	}
	beat, failed := v.seconds("HeartbeatSeconds", &v.state.HeartbeatSeconds, v.state.HeartbeatSecondsPath, input)
	if failed != nil {
		return nil, failed
	}
	taskCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	v.taskEvent("Scheduled", nil)
	v.taskEvent("Started", nil)
	over := func() { cancel(errTaskTimeout) }
	limit := newAlarm(v.x.Clock, timeout, over)
	defer limit.stop()
	silence := newAlarm(v.x.Clock, beat, over)
	defer silence.stop()
	token, _ := v.context["Task"].(map[string]any)
	text, _ := token["Token"].(string)
	result, err := v.x.Tasks.RunTask(taskCtx, Task{
		State: v.state.name, Resource: v.state.Resource, Input: startedBy(v.state.Resource, params), Timeout: timeout,
		Execution: v.x.ARN, Token: text, Beat: silence.restart,
		Submitted: func() { v.taskEvent("Submitted", nil) },
	})
	return v.taskEnd(ctx, taskCtx, result, err)
}

// taskEnd says what the end of a task was.
func (v *visit) taskEnd(ctx, taskCtx context.Context, result any, err error) (any, *Error) {
	switch {
	case ctx.Err() != nil: // cancelled from outside
		return nil, nil
	case errors.Is(context.Cause(taskCtx), errTaskTimeout):
		failed := &Error{Name: ErrNameTimeout}
		v.taskEvent("TimedOut", failed)
		return nil, failed
	case err != nil:
		failed := taskError(err)
		v.taskEvent("Failed", failed)
		return nil, failed
	}
	v.taskEvent("Succeeded", nil)
	return result, nil
}

// startedBy adds to the parameters what Step Functions itself does: ECS tasks that it waits
// for say who started them.
func startedBy(resource string, params any) any {
	object, ok := params.(map[string]any)
	if !ok || resource != "arn:aws:states:::ecs:runTask.sync" || object["StartedBy"] != nil {
		return params
	}
	object = maps.Clone(object)
	object["StartedBy"] = "AWS Step Functions"
	return object
}

// taskError keeps a named error and calls everything else States.TaskFailed.
func taskError(err error) *Error {
	var named *Error
	if errors.As(err, &named) {
		return named
	}
	return &Error{Name: ErrNameTaskFailed, Cause: err.Error()}
}

// taskEvent writes a task's own event. Lambda ARNs as resources have events of their own name.
func (v *visit) taskEvent(kind string, failed *Error) {
	prefix := "Task"
	if strings.Contains(v.state.Resource, ":lambda:") && strings.Contains(v.state.Resource, ":function:") {
		prefix = "LambdaFunction"
	}
	v.x.observe(Event{Type: prefix + kind, State: v.state.name, Error: failed, Attempt: v.retries + 1})
}
