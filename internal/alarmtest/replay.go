package alarmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/heartbeat"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/sentinel"
	"github.com/cronfence/cronfence/internal/settle"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// History says what happens to a job.
type History struct {
	Spec schema.Spec
	From time.Time
	To   time.Time
	// Run says what the run of a tick does.
	Run func(tick time.Time) Run
	// Lost ticks never reach the dispatcher. It may be nil.
	Lost func(tick time.Time) bool
	// StopDenied says when StopExecution is refused. It may be nil.
	StopDenied func(now time.Time) bool
	// Sentinel is the name of the sentinel's function, as its alarms have it.
	Sentinel string
}

// Run is what the work of a run does.
type Run struct {
	Takes time.Duration
	Fails bool
	// Hangs: neither does it end by itself nor does its heartbeat come.
	Hangs bool
}

// Replayed is what came of a history.
type Replayed struct {
	Points   []Point
	Lines    [][]byte
	Messages []Message // to the notice topic
	World    *testworld.World
}

// Message is one that was sent to the notice topic.
type Message struct {
	At            time.Time
	Subject, Text string
}

// When in its minute a thing happens: what EventBridge and Step Functions take.
const (
	deliveryTakes = 2 * time.Second
	sweepsAt      = 30 * time.Second
)

// replay is a scheduler of one job in virtual time: the real handlers over the memory store.
type replay struct {
	History
	*Replayed
	t      *testing.T
	active []*execution
	sweep  *sentinel.Handler
	tokens int
}

// execution is a run that Step Functions would be carrying out.
type execution struct {
	in    schema.RunInput
	run   Run
	start time.Time
	beat  time.Time // the next one; zero: none
	end   time.Time // zero: by itself never
}

// Replay lets a history happen, and holds every line that it leaves against the schema.
func Replay(t *testing.T, h History) *Replayed {
	w := testworld.New(t, nil)
	w.Clock = h.From
	r := &replay{History: h, Replayed: &Replayed{World: w}, t: t}
	r.sweep = &sentinel.Handler{
		Scheduler: h.Spec.Scheduler, Store: w.Store, Machines: machines{w.Runs, r}, Schedules: group{h}, Notices: r, Now: w.Now, NewToken: r.token, Out: &w.Out,
	}
	plan, err := engine.ScheduleOf(h.Spec)
	if err != nil {
		t.Fatal(err)
	}
	tick, _ := plan.Next(h.From.Add(-time.Second))
	for sweep := h.From.Add(sweepsAt); ; {
		at, what := tick.Add(deliveryTakes), func() {
			r.deliver(tick)
			tick, _ = plan.Next(tick)
		}
		if sweep.Before(at) {
			at, what = sweep, func() {
				r.look()
				sweep = sweep.Add(time.Minute)
			}
		}
		if x, when := r.next(); x != nil && when.Before(at) {
			at, what = when, func() { r.proceed(x, when) }
		}
		if at.After(h.To) {
			break
		}
		w.Clock = at
		if h.StopDenied != nil {
			w.Runs.FailStop = nil
			if h.StopDenied(at) {
				w.Runs.FailStop = errors.New("AccessDeniedException")
			}
		}
		what()
		r.reap()
		r.collect()
	}
	return r.Replayed
}

func (r *replay) token() string {
	r.tokens++
	return fmt.Sprintf("t%d", r.tokens)
}

// next is the execution that does something next.
func (r *replay) next() (first *execution, at time.Time) {
	for _, x := range r.active {
		for _, when := range []time.Time{x.beat, x.end} {
			if !when.IsZero() && (first == nil || when.Before(at)) {
				first, at = x, when
			}
		}
	}
	return first, at
}

func (r *replay) deliver(tick time.Time) {
	if r.Lost != nil && r.Lost(tick) {
		return
	}
	h := &dispatch.Handler{
		Scheduler: r.Spec.Scheduler, Store: r.World.Store, Machines: machines{r.World.Runs, r}, Now: r.World.Now, NewToken: r.token, Out: &r.World.Out,
	}
	if _, err := h.Handle(r.t.Context(), r.encode(schema.TickEvent{Job: r.Spec.Job, Tick: schema.TickID(tick), Spec: r.Spec})); err != nil {
		r.t.Fatalf("tick %v: %v", tick, err)
	}
}

// machines carry out what anybody starts: the dispatcher a tick's run, the settler and the sentinel
// one that waited.
type machines struct {
	*testworld.Runs
	r *replay
}

// Start implements machine.Runner.
func (m machines) Start(ctx context.Context, machineARN, name, input string) error {
	before := m.Started
	err := m.Runs.Start(ctx, machineARN, name, input)
	if m.Started > before {
		m.r.begin(input)
	}
	return err
}

// begin lets an execution do what the history says of its tick.
func (r *replay) begin(input string) {
	x := &execution{start: r.World.Clock}
	if err := json.Unmarshal([]byte(input), &x.in); err != nil {
		r.t.Fatal(err)
	}
	_, planned := guard.KindOf(x.in.Tick)
	x.run = r.Run(planned.Time())
	switch {
	case !r.Spec.Beats: // the task's own timeout bounds it
		x.end = x.start.Add(min(x.run.Takes, r.Spec.MaxRun()))
		if x.run.Hangs {
			x.end = x.start.Add(r.Spec.MaxRun())
		}
	case !x.run.Hangs:
		x.end, x.beat = x.start.Add(x.run.Takes), x.start.Add(r.Spec.Renewal())
	}
	r.active = append(r.active, x)
}

// proceed lets an execution do what it does next: the end first where both are due.
func (r *replay) proceed(x *execution, at time.Time) {
	if at.Equal(x.end) {
		failure := ""
		switch {
		case x.run.Hangs || x.run.Takes > r.Spec.MaxRun():
			failure = "States.Timeout"
		case x.run.Fails:
			failure = "Boom"
		}
		r.finish(x, failure)
		return
	}
	h := &heartbeat.Handler{Scheduler: r.Spec.Scheduler, Store: r.World.Store, Now: r.World.Now, Out: &r.World.Out}
	_, err := h.Handle(r.t.Context(), r.encode(schema.BeatEvent{
		Job: x.in.Job, Tick: x.in.Tick, Run: x.in.Run, Fence: x.in.Fence, Interval: x.in.Interval,
		StartedAt: x.start.Format(time.RFC3339Nano), LeaseSeconds: r.Spec.LeaseSeconds,
	}))
	var told messages.InvokeResponse_Error
	switch {
	case errors.As(err, &told):
		r.finish(x, told.Type)
	case err != nil:
		r.t.Fatalf("beat of %s: %v", x.in.Run, err)
	default:
		x.beat = at.Add(r.Spec.Renewal())
	}
}

// finish ends an execution as its machine does: it reports its end as its last step.
func (r *replay) finish(x *execution, failure string) {
	now := r.World.Clock
	ev := schema.SettleEvent{
		Job: x.in.Job, Tick: x.in.Tick, Run: x.in.Run, Fence: x.in.Fence, Attempt: x.in.Attempt, Interval: x.in.Interval,
		StartedAt: x.start.Format(time.RFC3339Nano), EndedAt: now.Format(time.RFC3339Nano), Status: schema.RunSucceeded,
	}
	status := machine.Succeeded
	if failure != "" {
		status, ev.Status, ev.End = machine.Failed, schema.RunFailed, &schema.EndError{Error: failure}
	}
	r.settle(ev)
	r.World.Runs.End(x.in.Run, status, failure)
}

// reap tells the settler of executions that ended, as EventBridge does.
func (r *replay) reap() {
	were := r.active
	r.active = nil // what settles one may begin another
	for _, x := range were {
		if is, _ := r.World.Runs.Execution(x.in.Run); is.Status == machine.Running {
			r.active = append(r.active, x)
			continue
		}
		r.settle(r.World.StatusEvent(x.in.Run))
	}
}

func (r *replay) settle(ev any) {
	h := &settle.Handler{
		Scheduler: r.Spec.Scheduler, Store: r.World.Store, Machines: machines{r.World.Runs, r}, Now: r.World.Now, NewToken: r.token, Out: &r.World.Out,
	}
	if _, err := h.Handle(r.t.Context(), r.encode(ev)); err != nil {
		r.t.Fatalf("settle: %v", err)
	}
}

// look is a sweep, with the points that Lambda makes of it.
func (r *replay) look() {
	_, err := r.sweep.Handle(r.t.Context(), nil)
	failed := 0.0
	if err != nil {
		failed = 1
	}
	of := map[string]string{"FunctionName": r.Sentinel}
	r.Points = append(r.Points,
		Point{"AWS/Lambda", "Invocations", of, r.World.Clock, 1},
		Point{"AWS/Lambda", "Errors", of, r.World.Clock, failed})
}

// collect reads the lines that were written since.
func (r *replay) collect() {
	for text := range bytes.Lines(bytes.Clone(r.World.Out.Bytes())) {
		points, err := Points(text)
		if err != nil {
			r.t.Fatalf("%s: %v", text, err)
		}
		r.Points = append(r.Points, points...)
		r.Lines = append(r.Lines, text)
	}
	r.World.Out.Reset()
}

// Notify implements sentinel.Notices.
func (r *replay) Notify(_ context.Context, subject, text string) error {
	r.Messages = append(r.Messages, Message{r.World.Clock, subject, text})
	return nil
}

func (r *replay) encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// group is the one schedule of a history.
type group struct{ History }

// List implements sentinel.Schedules.
func (g group) List(context.Context) ([]sentinel.Schedule, error) {
	spec := g.History.Spec
	return []sentinel.Schedule{{Name: schema.ScheduleName(spec.Scheduler, spec.Job), Job: spec.Job, Modified: g.From}}, nil
}

// Spec implements sentinel.Schedules.
func (g group) Spec(context.Context, string) (schema.Spec, error) { return g.History.Spec, nil }
