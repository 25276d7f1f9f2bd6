package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/internal/heartbeat"
	"github.com/cronfence/cronfence/internal/machine"
	settler "github.com/cronfence/cronfence/internal/settle"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// async is an asynchronous invocation: Lambda tries twice more, one and two minutes later.
// finally hears how it came out.
func (w *World) async(name string, timeout time.Duration, body func(p *process) error, finally func(outcome)) {
	var try func(n int)
	try = func(n int) {
		w.spawn(w.numbered(name, n), timeout, body, func(o outcome) {
			if (o.died || o.err != nil) && n < 2 {
				w.send(Millis(n+1)*60_000, func() { try(n + 1) })
				return
			}
			if finally != nil {
				finally(o)
			}
		})
	}
	try(0)
}

// named names a process for whoever reads the trace.
func (w *World) named(what, tick string) string {
	if !w.tracing {
		return what
	}
	return what + short(tick)
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
	spec := x.spec
	b := guard.Beat{Job: x.in.Job, Tick: x.in.Tick, Run: x.in.Run, Fence: x.in.Fence, Lease: spec.Lease()}
	var refusal string
	w.spawn(w.named("heartbeat ", x.in.Tick), schema.HeartbeatTimeout, func(p *process) error {
		answer, _, err := p.engine().Beat(context.Background(), b)
		refusal = heartbeat.Refusal(answer)
		return err
	}, func(o outcome) {
		switch {
		case x.phase != working:
		case o.err != nil || o.died:
			if try < beatRetries(*spec) {
				w.after(w.jitter(min(time.Second<<try, 10*time.Second)), func() { w.beat(x, try+1) })
				return
			}
			w.endJob(x, schema.ErrorLeaseLost, "the heartbeat failed until the lease was as good as out")
		case refusal != "":
			w.observe(observation{told: x, answer: refusal})
			w.endJob(x, refusal, "")
		default:
			var held Millis
			if w.faults.chance(10) {
				held = w.between(Millis(spec.Renewal().Milliseconds()), Millis(2*spec.Lease().Milliseconds()))
			}
			w.beatAfter(x, held)
		}
	})
}

// beatAfter is the wait state before a beat, which is held back by so much.
func (w *World) beatAfter(x *execution, held Millis) {
	w.after(Millis(x.spec.Renewal().Milliseconds())+held, func() {
		if held > 0 && x.phase == working {
			w.faults.struck(BeatLate)
		}
		w.beat(x, 0)
	})
}

// settleRetries is how often the settle step is tried again.
const settleRetries = 8

// settle is the settle step of the machine.
func (w *World) settle(x *execution, try int) {
	if x.phase != settling {
		return
	}
	event := schema.SettleEvent{
		Job: x.in.Job, Tick: x.in.Tick, Run: x.in.Run, Fence: x.in.Fence, Attempt: x.in.Attempt, Interval: x.in.Interval,
		StartedAt: x.StartedAt.Format(time.RFC3339Nano), EndedAt: x.endAt.Format(time.RFC3339Nano),
		Machine: w.plan.Spec.Machine, Chain: x.spec.Chain, Status: x.status, End: x.end,
	}
	w.spawn(w.named("settler ", x.in.Tick), schema.DispatcherTimeout, func(p *process) error {
		end, err := settler.Reported(event)
		if err != nil {
			return err
		}
		_, err = p.engine().Settle(context.Background(), end)
		return err
	}, func(o outcome) {
		switch {
		case (o.err != nil || o.died) && try < settleRetries:
			w.after(w.jitter(min(time.Second<<try, 20*time.Second)), func() { w.settle(x, try+1) })
		case x.end == nil:
			if x.output = x.Input; o.err != nil || o.died {
				x.output = `{"` + schema.UnsettledField + `":{}}`
			}
			w.close(x, machine.Succeeded, "", "")
		default:
			w.close(x, machine.Failed, x.end.Error, x.end.Cause)
		}
	})
}

// announce sends the status event of an execution that ended: at best once, in any order.
func (w *World) announce(x *execution) {
	event := schema.StatusEvent{DetailType: schema.StatusDetailType, Detail: schema.StatusDetail{
		ExecutionARN: schema.ExecutionARN(w.plan.Spec.Machine, x.name()), MachineARN: w.plan.Spec.Machine, Name: x.name(),
		Status: string(x.Status), StartDate: x.StartedAt.UnixMilli(), StopDate: x.StoppedAt.UnixMilli(), Input: x.Input, Output: x.output,
	}}
	if w.faults.chance(10) { // it was too long
		event.Detail.Output = ""
	}
	send := func() {
		w.async(w.named("settler (status) ", x.in.Tick), schema.DispatcherTimeout, func(p *process) error {
			if event.Detail.SettledInside() {
				return nil
			}
			end, err := settler.Observed(context.Background(), runner{p}, simScheduler, event, p.now)
			if err != nil {
				return err
			}
			_, err = p.engine().SettleObserved(context.Background(), end)
			return err
		}, nil)
	}
	delay := w.latency()
	switch {
	case w.faults.chance(6):
		w.faults.struck(StatusDropped)
		return
	case w.faults.chance(10):
		w.faults.struck(StatusTwice)
		w.send(w.between(0, 90_000), send)
	case w.faults.chance(10):
		w.faults.struck(StatusLate)
		delay = w.between(60_000, 600_000)
	}
	w.send(delay, send)
}
