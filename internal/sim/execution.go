package sim

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// visibleWithin is how long DescribeExecution may lag behind. AWS names no bound.
const visibleWithin Millis = 3_000

// phase is where an execution stands.
type phase uint8

const (
	working  phase = iota // the job's branch, and with beats the heartbeat's
	settling              // the settle step, behind the job
	closed
)

// execution is one execution of the job's state machine, in either of its two shapes: the
// job alone, or beside its heartbeat.
type execution struct {
	machine.Execution
	in      schema.RunInput
	spec    *schema.Spec // that its machine was deployed with
	phase   phase
	begunAt Millis // the world's time; StartedAt is by AWS' clock
	endedAt Millis
	work    *work
	output  string // of a success

	stopSent bool // somebody asked for it to be stopped, and went on whatever the answer was

	// How long its work may go on behind its end, and whether it checks its fence: by the spec
	// that it was claimed under, see terms.
	drain  Millis
	fenced bool

	status schema.RunStatus // what the settle step reports
	end    *schema.EndError
	endAt  time.Time // when the settling state was entered, by AWS' clock
}

func (x *execution) name() string { return x.in.Run }

func (w *World) awsNow() time.Time { return (w.clock + w.awsSkew).Time() }

func (w *World) newExecution(name, input string) (*execution, error) {
	x := &execution{begunAt: w.clock, spec: w.plan.Spec}
	if err := json.Unmarshal([]byte(input), &x.in); err != nil || x.in.Run != name {
		return nil, fmt.Errorf("input of %s: %q", name, input)
	}
	x.Status, x.Input, x.StartedAt = machine.Running, input, w.awsNow()
	w.executions[name] = x
	w.terms(x)
	return x, nil
}

// terms are how the run's work ends. A deployment between its claim and its start, within seconds,
// may change them in truth, and nobody could know of it: that is left out.
func (w *World) terms(x *execution) {
	x.drain, x.fenced = Millis(x.spec.DrainSeconds*1000), x.spec.Fenced
	if w.faultless {
		return
	}
	if g := w.guard; g != nil && g.Run != nil && g.Run.ID == x.in.Run {
		x.drain, x.fenced = Millis(g.Run.Terms.DrainSeconds*1000), g.Run.Terms.Fenced
	}
}

// begin enters the machine's first state.
func (w *World) begin(x *execution) {
	spec := x.spec
	behaviour := w.plan.behave(w, x)
	w.after(behaviour.delay, func() {
		if x.phase == working {
			w.beginWork(x, behaviour)
		}
	})
	// The task's own timeout counts from the entry of its state, which may be retried while
	// Lambda is throttled; the machine's own timeout covers that.
	w.after(behaviour.delay+Millis(spec.MaxRun().Milliseconds()), func() {
		if behaviour.fault == RunHangs && x.phase == working {
			w.faults.struck(RunHangs)
		}
		w.endJob(x, "States.Timeout", "")
	})
	w.after(Millis(spec.MachineTimeout().Milliseconds()), func() { w.close(x, machine.TimedOut, "", "") })
	if behaviour.broken > 0 {
		w.after(behaviour.broken, func() {
			if x.phase != closed {
				w.faults.struck(RunBroken)
			}
			w.close(x, machine.Failed, "States.Runtime", "")
		})
	}
	if spec.Beats {
		w.beatAfter(x, behaviour.beatDelay)
	}
}

// endJob leaves the job's branch, or the Parallel around it, and enters the settle step. The
// heartbeat's branch is cancelled; a beat that is under way goes on, and nobody listens.
func (w *World) endJob(x *execution, errorName, cause string) {
	if x.phase != working {
		return
	}
	x.phase, x.endAt = settling, w.awsNow()
	x.status = schema.RunSucceeded
	if errorName != "" {
		x.status, x.end = schema.RunFailed, &schema.EndError{Error: errorName, Cause: cause}
	}
	w.cancelWork(x)
	w.settle(x, 0)
}

// abort is StopExecution.
func (w *World) abort(x *execution, errorName, cause string) {
	w.close(x, machine.Aborted, errorName, cause)
}

// close ends the execution, whatever it is doing.
func (w *World) close(x *execution, status machine.Status, errorName, cause string) {
	if x.phase == closed {
		return
	}
	x.phase, x.endedAt = closed, w.clock
	x.Status, x.StoppedAt, x.Error, x.Cause = status, w.awsNow(), errorName, cause
	if w.tracing {
		w.log("aws", "%s ends %s %s", x.name(), status, errorName)
	}
	w.cancelWork(x)
	w.observe(observation{closed: x})
	w.announce(x)
}
