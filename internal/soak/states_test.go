package soak

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/cronfence/cronfence/internal/heartbeat"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/settle"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// states is Step Functions: each execution does what the job's state machine does.
type states struct {
	cloud *cloud

	mu         sync.Mutex
	executions map[string]*execution // by ARN
}

type execution struct {
	machine.Execution
	arn    string
	spec   schema.Spec
	input  schema.RunInput
	cancel context.CancelFunc
	// worked is when its work ended, which may be before the execution does.
	worked time.Time
}

// machines is Step Functions as a process reaches it.
type machines struct{ *process }

var _ machine.Runner = (*machines)(nil)

// request lets a request pass or not; do takes effect when it arrives.
func (m *machines) request(do func() error) error {
	fate := m.fate()
	switch fate {
	case diesBefore:
		runtime.Goexit()
	case throttled:
		return errors.New("ThrottlingException: rate exceeded")
	case passes, answerLost, diesAfter:
	}
	err := do()
	switch fate {
	case diesAfter:
		runtime.Goexit()
	case answerLost:
		return errLost
	case passes, throttled, diesBefore:
	}
	return err
}

// Start implements machine.Runner.
func (m *machines) Start(_ context.Context, machineARN, name, input string) error {
	return m.request(func() error { return m.cloud.states.start(machineARN, name, input) })
}

// Describe implements machine.Runner.
func (m *machines) Describe(_ context.Context, arn string) (x machine.Execution, err error) {
	err = m.request(func() error { x, err = m.cloud.states.describe(arn); return err })
	return x, err
}

// Stop implements machine.Runner.
func (m *machines) Stop(_ context.Context, arn, _, _ string) error {
	return m.request(func() error {
		s := m.cloud.states
		s.mu.Lock()
		x := s.executions[arn]
		s.mu.Unlock()
		if x == nil {
			return machine.ErrNotFound
		}
		s.end(x, machine.Aborted, "")
		x.cancel()
		return nil
	})
}

func (s *states) start(machineARN, name, input string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	arn := schema.ExecutionARN(machineARN, name)
	if x := s.executions[arn]; x != nil {
		if x.Status == machine.Running && x.Input == input {
			return nil
		}
		return machine.ErrExists
	}
	x := &execution{arn: arn}
	if err := json.Unmarshal([]byte(input), &x.input); err != nil {
		return machine.ErrPermanent
	}
	x.spec = s.cloud.specs[x.input.Job]
	if x.spec.Machine != machineARN || !strings.HasPrefix(name, x.input.Job+"-") {
		s.cloud.t.Errorf("execution %s of machine %s", name, machineARN)
	}
	x.Status, x.Input, x.StartedAt = machine.Running, input, s.cloud.clock.Now()
	ctx, cancel := context.WithCancel(s.cloud.ctx)
	x.cancel = cancel
	s.executions[arn] = x
	s.cloud.count("run")
	s.cloud.work.Go(func() { defer cancel(); s.run(ctx, x) })
	return nil
}

func (s *states) describe(arn string) (machine.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.executions[arn]
	if x == nil {
		return machine.Execution{}, machine.ErrNotFound
	}
	return x.Execution, nil
}

// run works for a while, beats, and settles, unless it is stopped.
func (s *states) run(ctx context.Context, x *execution) {
	c := s.cloud
	failure := s.work(ctx, x)
	if ctx.Err() != nil {
		return // stopped, or the test is over
	}
	s.mu.Lock()
	x.worked = c.clock.Now()
	s.mu.Unlock()
	settled := false
	if c.chance(15) {
		c.count("machine that breaks before it settles")
	} else {
		settled = s.settle(ctx, x, failure)
	}
	if failure == "" && settled {
		s.end(x, machine.Succeeded, "")
		return
	}
	if failure == "" {
		failure = "States.Runtime"
	}
	s.end(x, machine.Failed, failure)
}

// work returns the error that the work ended with.
func (s *states) work(ctx context.Context, x *execution) (failure string) {
	c := s.cloud
	left := c.between(5*time.Second, 100*time.Second)
	if !x.spec.Beats {
		left = c.between(time.Second, 40*time.Second)
	}
	if c.chance(5) {
		c.count("run that hangs")
		left = time.Hour
	}
	until := c.clock.Now().Add(left)
	if !x.spec.Beats {
		if most := x.StartedAt.Add(x.spec.MaxRun()); until.After(most) {
			_ = c.clock.SleepUntil(ctx, most)
			return "States.Timeout"
		}
	}
	for x.spec.Beats && until.Sub(c.clock.Now()) > x.spec.Renewal() {
		_ = c.clock.Sleep(ctx, x.spec.Renewal())
		if failure := s.beat(ctx, x); failure != "" || ctx.Err() != nil {
			return failure
		}
	}
	_ = c.clock.SleepUntil(ctx, until)
	if c.chance(8) {
		return "OutOfStock"
	}
	return ""
}

// beat renews the lease, for as long as the machine's Retry would try.
func (s *states) beat(ctx context.Context, x *execution) (failure string) {
	c := s.cloud
	if c.chance(3) {
		c.count("heart that stops")
		_ = c.clock.Sleep(ctx, time.Hour)
	}
	event := schema.BeatEvent{
		Job: x.input.Job, Tick: x.input.Tick, Run: x.input.Run, Fence: x.input.Fence, Interval: x.input.Interval,
		StartedAt: x.StartedAt.Format(time.RFC3339Nano), LeaseSeconds: x.spec.LeaseSeconds,
	}
	for range 8 {
		err := c.invoke(schema.HeartbeatTimeout, event, func(ctx context.Context, p *process, payload json.RawMessage) (any, error) {
			h := &heartbeat.Handler{Scheduler: scheduler, Store: p.store, Now: p.now, Out: p.out()}
			return h.Handle(ctx, payload)
		})
		var typed messages.InvokeResponse_Error
		switch {
		case err == nil || ctx.Err() != nil:
			return ""
		case errors.As(err, &typed):
			c.count("run that a beat ends: " + typed.Type)
			return typed.Type
		}
		_ = c.clock.Sleep(ctx, 5*time.Second)
	}
	return schema.ErrorLeaseLost
}

// settle is the machine's last step.
func (s *states) settle(ctx context.Context, x *execution, failure string) bool {
	c := s.cloud
	event := schema.SettleEvent{
		Job: x.input.Job, Tick: x.input.Tick, Run: x.input.Run, Fence: x.input.Fence, Attempt: x.input.Attempt, Interval: x.input.Interval,
		StartedAt: x.StartedAt.Format(time.RFC3339Nano), EndedAt: c.clock.Now().Format(time.RFC3339Nano), Machine: x.spec.Machine,
		Status: schema.RunSucceeded,
	}
	if failure != "" {
		event.Status, event.End = schema.RunFailed, &schema.EndError{Error: failure, Cause: "in the soak"}
	}
	for try := range 3 {
		if err := c.invoke(schema.DispatcherTimeout, event, settler); err == nil {
			return true
		}
		_ = c.clock.Sleep(ctx, time.Duration(1+try)*5*time.Second)
	}
	c.count("run that cannot settle")
	return false
}

func settler(ctx context.Context, p *process, payload json.RawMessage) (any, error) {
	h := &settle.Handler{Scheduler: scheduler, Store: p.store, Machines: p.machines(), Now: p.now, NewToken: p.token, Out: p.out()}
	return h.Handle(ctx, payload)
}

// end closes an execution once, and tells the settler, which may not hear of it.
func (s *states) end(x *execution, status machine.Status, failure string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.Status != machine.Running {
		return
	}
	c := s.cloud
	x.Status, x.Error, x.StoppedAt = status, failure, c.clock.Now()
	if x.worked.IsZero() {
		x.worked = x.StoppedAt
	}
	detail := schema.StatusDetail{
		ExecutionARN: x.arn, MachineARN: x.spec.Machine, Name: x.input.Run, Status: string(status), Input: x.Input,
		StartDate: x.StartedAt.UnixMilli(), StopDate: x.StoppedAt.UnixMilli(),
	}
	if status == machine.Succeeded {
		detail.Output = "{}"
	}
	if c.chance(30) {
		c.count("status event that is lost")
		return
	}
	c.work.Go(func() {
		_ = c.clock.Sleep(c.ctx, c.between(0, 20*time.Second))
		c.async(schema.DispatcherTimeout, schema.StatusEvent{DetailType: schema.StatusDetailType, Detail: detail}, settler)
	})
}
