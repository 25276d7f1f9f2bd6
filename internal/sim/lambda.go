package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/cronfence/cronfence/internal/heartbeat"
	"github.com/cronfence/cronfence/internal/machine"
	settler "github.com/cronfence/cronfence/internal/settle"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// async is an asynchronous invocation: Lambda tries twice more, one and two minutes later.
// finally hears how it came out.
func (w *World) async(name string, timeout time.Duration, body func(p *process) error, finally func(outcome)) {
	var try func(n int)
	try = func(n int) {
		w.spawn(w.numbered(name, n), timeout, body, func(o outcome) {
			if (o.died || o.err != nil) && n < 2 {
				w.after(Millis(n+1)*60_000, func() { try(n + 1) })
				return
			}
			if finally != nil {
				finally(o)
			}
		})
	}
	try(0)
}

func (w *World) numbered(name string, try int) string {
	if !w.tracing || try == 0 {
		return name
	}
	return fmt.Sprintf("%s/%d", name, try+1)
}

// beat is the heartbeat state of the machine, try counting its retries.
func (w *World) beat(x *execution, try int) {
	if x.phase != working {
		return
	}
	spec := &w.plan.Spec
	event := schema.BeatEvent{
		Job: x.in.Job, Tick: x.in.Tick, Run: x.in.Run, Fence: x.in.Fence, Interval: x.in.Interval,
		StartedAt: x.StartedAt.Format(time.RFC3339Nano), LeaseSeconds: spec.LeaseSeconds,
	}
	w.spawn("heartbeat "+short(x.in.Tick), schema.HeartbeatTimeout, func(p *process) error {
		h := heartbeat.Handler{Scheduler: spec.Scheduler, Store: store{p}, Now: p.now, Out: io.Discard}
		return handle(h.Handle, event)
	}, func(o outcome) {
		var typed messages.InvokeResponse_Error
		switch {
		case x.phase != working:
		case o.err == nil && !o.died:
			wait := Millis(spec.Renewal().Milliseconds())
			if w.faults.chance(12) {
				w.faults.struck(BeatLate)
				wait += w.between(wait, Millis(2*spec.Lease().Milliseconds()))
			}
			w.after(wait, func() { w.beat(x, 0) })
		case errors.As(o.err, &typed):
			w.observe(observation{told: x, answer: typed.Type})
			w.endJob(x, typed.Type, typed.Message)
		case try < w.plan.beatRetries:
			w.after(w.jitter(min(time.Second<<try, 10*time.Second)), func() { w.beat(x, try+1) })
		default:
			w.endJob(x, schema.ErrorLeaseLost, "the heartbeat failed until the lease was as good as out")
		}
	})
}

// settleRetries is how often the settle step is tried again.
const settleRetries = 8

// settle is the settle step of the machine.
func (w *World) settle(x *execution, try int) {
	if x.phase != settling {
		return
	}
	spec := &w.plan.Spec
	event := schema.SettleEvent{
		Job: x.in.Job, Tick: x.in.Tick, Run: x.in.Run, Fence: x.in.Fence, Attempt: x.in.Attempt, Interval: x.in.Interval,
		StartedAt: x.StartedAt.Format(time.RFC3339Nano), EndedAt: x.endAt.Format(time.RFC3339Nano),
		Machine: spec.Machine, Chain: spec.Chain, Status: x.status, End: x.end,
	}
	w.spawn("settler "+short(x.in.Tick), schema.DispatcherTimeout, func(p *process) error {
		return handle(p.settler().Handle, event)
	}, func(o outcome) {
		switch {
		case (o.err != nil || o.died) && try < settleRetries:
			w.after(w.jitter(min(time.Second<<try, 20*time.Second)), func() { w.settle(x, try+1) })
		case x.end == nil:
			w.close(x, machine.Succeeded, "", "")
		default:
			w.close(x, machine.Failed, x.end.Error, x.end.Cause)
		}
	})
}

func (p *process) settler() *settler.Handler {
	return &settler.Handler{
		Scheduler: p.w.plan.Spec.Scheduler, Store: store{p}, Machines: runner{p}, Now: p.now, NewToken: p.w.token, Out: io.Discard,
	}
}

// announce sends the status event of an execution that ended: at best once, in any order.
func (w *World) announce(x *execution) {
	event := schema.StatusEvent{DetailType: schema.StatusDetailType, Detail: schema.StatusDetail{
		ExecutionARN: schema.ExecutionARN(w.plan.Spec.Machine, x.name()), MachineARN: w.plan.Spec.Machine, Name: x.name(),
		Status: string(x.Status), StartDate: x.StartedAt.UnixMilli(), StopDate: x.StoppedAt.UnixMilli(), Input: x.Input,
	}}
	send := func() {
		w.async("settler (status) "+short(x.in.Tick), schema.DispatcherTimeout, func(p *process) error {
			return handle(p.settler().Handle, event)
		}, nil)
	}
	delay := w.latency()
	switch {
	case w.faults.chance(6):
		w.faults.struck(StatusDropped)
		return
	case w.faults.chance(10):
		w.faults.struck(StatusTwice)
		w.after(w.between(0, 90_000), send)
	case w.faults.chance(10):
		w.faults.struck(StatusLate)
		delay = w.between(60_000, 600_000)
	}
	w.after(delay, send)
}

// handle calls a handler as Lambda does, with bytes.
func handle(handler func(context.Context, json.RawMessage) (any, error), event any) error {
	b, err := json.Marshal(event)
	if err != nil {
		return err
	}
	_, err = handler(context.Background(), b)
	return err
}
