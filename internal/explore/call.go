package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/settle"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// kind says which of our processes a call is.
type kind uint8

const (
	kindDeliver kind = iota // the dispatcher, for a tick
	kindReport              // the settler, called by the run's own machine
	kindStatus              // the settler, called by a status event
	kindBeat                // the heartbeat
	kindSweep               // the sentinel
)

var kindNames = [...]string{"dispatcher", "settler", "settler", "heartbeat", "sentinel"}

// call is everything an invocation was given. Equal calls do the same.
type call struct {
	kind  kind
	tick  int        // of a delivery: its place in the plan
	run   *execution // as it was when the call was made
	begun Millis
	skew  Millis
	again int // of a duplicate delivery: tells it from the others of its tick
}

func (c call) String() string {
	s := kindNames[c.kind]
	switch c.kind {
	case kindDeliver:
		s += fmt.Sprintf(" T%d", c.tick+1)
	case kindReport, kindBeat:
		s += " " + shortRun(c.run.run)
	case kindStatus:
		s += " " + shortRun(c.run.run) + " (event)"
	case kindSweep:
	}
	if c.again > 0 {
		s += fmt.Sprintf(" again (%d)", c.again)
	}
	if c.skew > 0 {
		s += " (fast clock)"
	} else if c.skew < 0 {
		s += " (slow clock)"
	}
	return s
}

// node is a call between two effects: the answers it got, hence what it does next. Nodes
// form a tree; a call that gets the same answers at the same instants is the same node.
type node struct {
	call     call
	parent   *node
	step     step
	id       uint64
	depth    int
	next     *effect // nil: the call is over
	result   result
	hurt     bool // a fault put an error into an answer
	children map[step]*node
	commits  map[*records]committed
}

// result is how a call ended.
type result struct {
	err     error
	verdict guard.Verdict
	renewal guard.Renewal
	outcome guard.Outcome
}

// decided is when the call read the clock last: what it does next was decided then.
func (n *node) decided() Millis {
	if n.parent == nil {
		return n.call.begun
	}
	return n.step.at
}

// root returns the call before its first effect.
func (x *explorer) root(c call) *node {
	if n, ok := x.roots[c]; ok {
		return n
	}
	n := x.newNode(&node{call: c})
	x.roots[c] = n
	return n
}

// child returns the call after one more answer.
func (x *explorer) child(n *node, s step) *node {
	if c, ok := n.children[s]; ok {
		return c
	}
	if n.children == nil {
		n.children = map[step]*node{}
	}
	c := x.newNode(&node{call: n.call, parent: n, step: s, depth: n.depth + 1, hurt: n.hurt || s.answer.injected})
	n.children[s] = c
	return c
}

// newNode replays the call up to its next effect.
func (x *explorer) newNode(n *node) *node {
	x.lastID++
	n.id = mix(x.lastID)
	h := &host{answers: make([]step, n.depth), clock: n.call.begun + n.call.skew, skew: n.call.skew, name: tokenPrefix(n.call)}
	for at := n; at.parent != nil; at = at.parent {
		h.answers[at.depth-1] = at.step
	}
	r := x.run(n.call, h)
	if n.next = h.next; n.next == nil {
		n.result = r
	} else if x.cfg.hook.breaks != nil {
		x.cfg.hook.breaks(n.next)
	}
	return n
}

// run is the real code of the process, over the host.
func (x *explorer) run(c call, h *host) result {
	ctx := context.Background()
	e := &engine.Engine{Store: h, Machines: h, Now: h.now, NewToken: h.token, Timeout: schema.DispatcherTimeout}
	switch c.kind {
	case kindDeliver:
		d, err := engine.ScheduledDelivery(*x.spec, x.ticks[c.tick].id, h.now())
		if err != nil {
			return result{err: err}
		}
		r, err := e.Deliver(ctx, d)
		return result{err: err, verdict: r.Verdict, outcome: r.Row.Outcome}
	case kindBeat:
		in := c.run.in
		renewal, _, err := e.Beat(ctx, guard.Beat{Job: job, Tick: in.Tick, Run: in.Run, Fence: in.Fence, Lease: x.spec.Lease()})
		return result{err: err, renewal: renewal}
	case kindSweep:
		return result{err: x.sweep(ctx, e, h)}
	default:
		s := &settle.Handler{Scheduler: x.spec.Scheduler, Store: h, Machines: h, Now: h.now, NewToken: h.token, Out: io.Discard}
		_, err := s.Handle(ctx, settleEvent(*x.spec, c))
		return result{err: err}
	}
}

// sweep is what a sentinel does for a job whose schedule it compares for the first time.
func (x *explorer) sweep(ctx context.Context, e *engine.Engine, store guard.Store) error {
	page, err := store.Guards(ctx, "", 0)
	if err != nil {
		return err
	}
	if len(page.Guards) == 0 {
		return e.Introduce(ctx, *x.spec)
	}
	return e.SweepGuard(ctx, page.Guards[0])
}

// settleEvent is what the settler gets, from the run's machine or as a status event.
func settleEvent(spec schema.Spec, c call) json.RawMessage {
	r := c.run
	if c.kind == kindStatus {
		return encode(schema.StatusEvent{DetailType: schema.StatusDetailType, Detail: schema.StatusDetail{
			ExecutionARN: schema.ExecutionARN(spec.Machine, r.run), MachineARN: spec.Machine, Name: r.run,
			Status: string(r.status), Input: r.input, StartDate: int64(r.startedAt), StopDate: int64(r.stoppedAt),
		}})
	}
	ev := schema.SettleEvent{
		Job: job, Tick: r.in.Tick, Run: r.run, Fence: r.in.Fence, Attempt: r.in.Attempt, Interval: r.in.Interval,
		StartedAt: r.startedAt.Time().Format(time.RFC3339Nano), EndedAt: r.endedAt.Time().Format(time.RFC3339Nano),
		Machine: spec.Machine, Status: schema.RunSucceeded,
	}
	if r.error != "" {
		ev.Status, ev.End = schema.RunFailed, &schema.EndError{Error: r.error}
	}
	return encode(ev)
}

func tokenPrefix(c call) string { return fmt.Sprintf("%s@%d/", c, c.begun) }
