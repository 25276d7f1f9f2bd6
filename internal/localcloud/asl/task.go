package asl

import (
	"context"
	"errors"
	"strings"
	"time"
)

// runRetried runs a Task or Parallel with its Retry and Catch.
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
		switch {
		case c.ResultPath.null:
			return v.raw, c.Next, nil
		case c.ResultPath.path == nil:
			return failed.output(), c.Next, nil
		}
		output, err := c.ResultPath.path.put(v.raw, failed.output())
		if err != nil {
			return nil, "", asError(v.state.name, err)
		}
		return output, c.Next, nil
	}
	return nil, "", failed
}

// attempt makes one try, from Parameters to OutputPath.
func (v *visit) attempt(ctx context.Context, input any) (any, *Error) {
	state, _ := v.context["State"].(map[string]any)
	if v.state.Type == "Task" {
		state["RetryCount"] = number(v.retries)
	}
	params, failed := v.parameters(input)
	if failed != nil {
		return nil, failed
	}
	var result any
	if v.state.Type == "Task" {
		result, failed = v.runTask(ctx, params, input)
	} else {
		result, failed = v.runParallel(ctx, params)
	}
	if failed != nil || ctx.Err() != nil {
		return nil, failed
	}
	return v.finish(result)
}

var errTaskTimeout = errors.New("the task's timeout is over")

func (v *visit) runTask(ctx context.Context, params, input any) (any, *Error) {
	timeout, failed := v.taskTimeout(input)
	if failed != nil {
		return nil, failed
	}
	taskCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	v.taskEvent("Scheduled", nil)
	v.taskEvent("Started", nil)
	if timeout > 0 {
		stop := v.x.Clock.AfterFunc(timeout, func() { cancel(errTaskTimeout) })
		defer stop()
	}
	result, err := v.x.Tasks.RunTask(taskCtx, Task{
		State: v.state.name, Resource: v.state.Resource, Input: params, Timeout: timeout, Execution: v.x.ARN,
	})
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

// taskError keeps a named error and calls everything else States.TaskFailed.
func taskError(err error) *Error {
	var named *Error
	if errors.As(err, &named) {
		return named
	}
	return &Error{ErrNameTaskFailed, err.Error()}
}

// taskEvent writes a task's own event. Lambda ARNs as resources have events of their own name.
func (v *visit) taskEvent(kind string, failed *Error) {
	prefix := "Task"
	if strings.Contains(v.state.Resource, ":lambda:") && strings.Contains(v.state.Resource, ":function:") {
		prefix = "LambdaFunction"
	}
	v.x.observe(Event{Type: prefix + kind, State: v.state.name, Error: failed, Attempt: v.retries + 1})
}

// taskTimeout is the shorter of timeout and heartbeat: no task that runs here beats.
func (v *visit) taskTimeout(input any) (time.Duration, *Error) {
	timeout, failed := v.limit("TimeoutSecondsPath", v.state.TimeoutSeconds, v.state.TimeoutSecondsPath, input)
	if failed != nil {
		return 0, failed
	}
	beat, failed := v.limit("HeartbeatSecondsPath", v.state.HeartbeatSeconds, v.state.HeartbeatSecondsPath, input)
	if failed != nil {
		return 0, failed
	}
	if beat > 0 && (timeout == 0 || beat < timeout) {
		timeout = beat
	}
	return timeout, nil
}

func (v *visit) limit(field string, n *int64, p *Path, input any) (time.Duration, *Error) {
	if p != nil {
		return v.seconds(field, p, input)
	}
	return time.Duration(or(n, 0)) * time.Second, nil
}
