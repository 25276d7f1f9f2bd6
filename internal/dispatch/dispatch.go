// Package dispatch is the dispatcher: it decides on one delivered tick and starts its run.
package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Handler handles deliveries of ticks.
type Handler struct {
	Scheduler string // the one whose jobs it serves
	Store     guard.Store
	Machines  machine.Runner
	Now       func() time.Time
	NewToken  func() string
	Out       io.Writer // log and metric lines
}

// Reply tells the caller what a delivery came to. EventBridge Scheduler drops it.
type Reply struct {
	Job     string        `json:"job"`
	Tick    string        `json:"tick"`
	Result  string        `json:"result"` // the outcome, or "Duplicate"
	Run     string        `json:"run,omitempty"`
	Fence   int64         `json:"fence,omitempty"`
	Why     string        `json:"why,omitempty"`
	Holder  *guard.Holder `json:"holder,omitempty"`
	Started bool          `json:"started,omitempty"`
}

// Handle decides on one delivery. A skip and a duplicate are no errors: an error means
// that the event is bad, or that delivering it again can help.
func (h *Handler) Handle(ctx context.Context, event json.RawMessage) (_ any, err error) {
	log := &telemetry.Writer{Scheduler: h.Scheduler, Out: h.Out, Now: h.Now}
	var ev schema.TickEvent
	defer func() {
		if r := recover(); r != nil { // a crash must reach Lambda's retries as an error
			err = fmt.Errorf("dispatch tick %q of %q: panic: %v", ev.Tick, ev.Job, r)
		}
		if err != nil {
			log.Line("ERROR", "tick not dispatched", ev.Job, map[string]any{"tick": ev.Tick, "error": err.Error(), "delivery": ev.Delivery}, nil)
		}
	}()
	if err := json.Unmarshal(event, &ev); err != nil {
		return nil, fmt.Errorf("read tick event: %w", err)
	}
	d, err := h.delivery(ctx, ev)
	if err != nil {
		return nil, err
	}
	res, err := h.engine(log).Deliver(ctx, d)
	if err != nil {
		return nil, err
	}
	return report(log, ev, res), nil
}

func (h *Handler) engine(log *telemetry.Writer) *engine.Engine {
	return &engine.Engine{
		Store: h.Store, Machines: h.Machines, Now: h.Now, NewToken: h.NewToken,
		Timeout: schema.DispatcherTimeout, Observe: log,
	}
}

// early is how far ahead of this clock a tick may be planned: one that ran before its time
// would be taken for a duplicate when it is due. Whether a tick is on the schedule is not
// asked: EventBridge Scheduler is the one that says when to fire, and a job must not stand
// still where this reading of an expression differs from its own.
const early = time.Minute

// delivery validates the event. Nothing is written before it is known to be good.
func (h *Handler) delivery(ctx context.Context, ev schema.TickEvent) (guard.Delivery, error) {
	var none guard.Delivery
	if err := schema.CheckJob(ev.Job); err != nil {
		return none, err
	}
	spec, err := h.spec(ctx, ev)
	if err != nil {
		return none, err
	}
	if err := spec.Check(); err != nil {
		return none, fmt.Errorf("job %s: %w", ev.Job, err)
	}
	if spec.Job != ev.Job || spec.Scheduler != h.Scheduler {
		return none, fmt.Errorf("job %s: the spec is of job %q of scheduler %q; this is the dispatcher of scheduler %q", ev.Job, spec.Job, spec.Scheduler, h.Scheduler)
	}
	now := h.Now()
	d, err := engine.ScheduledDelivery(spec, ev.Tick, now)
	if err != nil {
		return none, fmt.Errorf("job %s: %w", ev.Job, err)
	}
	if ahead := d.At.Time().Sub(now); ahead > early {
		return none, fmt.Errorf("job %s: tick %q is planned %v ahead: a tick is delivered when it is due", ev.Job, ev.Tick, ahead.Round(time.Second))
	}
	return d, nil
}

// spec returns the event's spec, or the one the job was last seen with.
func (h *Handler) spec(ctx context.Context, ev schema.TickEvent) (schema.Spec, error) {
	if ev.Spec != (schema.Spec{}) {
		return ev.Spec, nil
	}
	g, err := h.Store.Guard(ctx, ev.Job)
	switch {
	case err != nil:
		return schema.Spec{}, fmt.Errorf("read guard of %s: %w", ev.Job, err)
	case g == nil || g.Spec == nil:
		return schema.Spec{}, fmt.Errorf("job %q is unknown to scheduler %s: the event carries no spec and no tick of the job was ever seen", ev.Job, h.Scheduler)
	}
	return *g.Spec, nil
}

func report(log *telemetry.Writer, ev schema.TickEvent, res engine.Result) Reply {
	row := res.Row
	r := Reply{Job: ev.Job, Tick: ev.Tick, Result: string(row.Outcome), Run: row.Run, Fence: row.Fence, Why: row.Why, Holder: row.Holder, Started: res.Sent}
	msg := "started"
	switch {
	case row.Outcome == guard.Queued && res.Verdict == guard.Done:
		msg = "queued"
	case res.Verdict == guard.Duplicate:
		r.Result, msg = "Duplicate", "duplicate"
	case res.Verdict == guard.Start && !res.Sent:
		msg = "not started"
	case res.Verdict != guard.Start:
		return r // its outcome has been logged
	}
	fields := telemetry.RowFields(row)
	fields["tick"], fields["delivery"] = ev.Tick, ev.Delivery
	var metrics telemetry.Values
	if msg != "duplicate" { // let in: it ends a row of skips, as silence would not
		metrics = telemetry.Values{telemetry.Skipped: 0}
	}
	log.Line("INFO", msg, ev.Job, fields, metrics)
	return r
}
