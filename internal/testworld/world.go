// Package testworld is a scheduler in memory for the tests of the handlers: records, a
// Step Functions that does as told, a clock that stands still until it is moved.
package testworld

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/heartbeat"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/settle"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Scheduler is the name of the world's scheduler.
const Scheduler = "test"

// World is one scheduler with its records and runs.
type World struct {
	t     *testing.T
	Store *Counter
	Runs  *Runs
	Out   bytes.Buffer // log and metric lines
	Clock time.Time
	clock sync.Mutex // held by At and Now, so that a server may ask for the time
	Told  []Told     // by Engine
	token int
}

// Midnight is when the world begins: 2026-09-07T00:00:00Z, a Monday.
var Midnight = time.Date(2026, 9, 7, 0, 0, 0, 0, time.UTC)

// New returns a world at Midnight over a store, in memory when it is nil.
func New(t *testing.T, store guard.Store) *World {
	if store == nil {
		store = guard.NewMemory()
	}
	w := &World{t: t, Store: &Counter{Store: store}, Clock: Midnight}
	w.Runs = &Runs{executions: map[string]*machine.Execution{}, now: w.Now}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the handlers:\n%s", w.Out.String())
		}
	})
	return w
}

// Now is the world's clock.
func (w *World) Now() time.Time {
	w.clock.Lock()
	defer w.clock.Unlock()
	return w.Clock
}

// At sets the clock to a time of the first day, "02:00:30".
func (w *World) At(clock string) time.Time {
	w.t.Helper()
	at, err := time.Parse(time.TimeOnly, clock)
	if err != nil {
		w.t.Fatal(err)
	}
	w.clock.Lock()
	defer w.clock.Unlock()
	w.Clock = Midnight.Add(at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)))
	return w.Clock
}

func (w *World) newToken() string {
	w.token++
	return fmt.Sprintf("token%d", w.token)
}

// Minutely is a job with beats that runs every minute.
func Minutely(job string) schema.Spec { return Spec(job, "cron(* * * * ? *)") }

// Spec is a job with beats, the default lease and no drain.
func Spec(job, expression string) schema.Spec {
	return schema.Spec{
		Version: schema.SpecVersion, Scheduler: Scheduler, Job: job, Schedule: expression, Beats: true,
		Machine:      "arn:aws:states:us-east-1:000000000000:stateMachine:" + schema.MachineName(Scheduler, job),
		LeaseSeconds: 120, RenewalSeconds: 30, MaxRunSeconds: 3600, MachineTimeoutSeconds: 3700, StartDeadlineSeconds: 900,
	}
}

// Tick delivers a tick of the first day, "02:00", and fails the test on an error.
func (w *World) Tick(spec schema.Spec, clock string) dispatch.Reply {
	w.t.Helper()
	r, err := w.Deliver(spec, Midnight.Format("2006-01-02T")+clock+":00Z")
	if err != nil {
		w.t.Fatalf("tick %s: %v", clock, err)
	}
	return r
}

// Established lets a tick run and end at once, and puts the job into the state of one that
// has ticked for long: everything before that tick is on record.
func (w *World) Established(spec schema.Spec, clock string) {
	w.t.Helper()
	w.At(clock + ":00")
	if _, err := w.Succeed(w.Tick(spec, clock)); err != nil {
		w.t.Fatal(err)
	}
	g := w.Guard(spec.Job)
	err := w.Store.Store.Commit(w.t.Context(), guard.Commit{Job: spec.Job, Token: "established", Writes: []guard.Write{{
		SK:    schema.GuardSK,
		If:    []guard.Cond{{Field: "version", Op: guard.Is, Value: g.Version}},
		Patch: guard.Patch{Set: guard.Fields{{Name: "lastTick", Value: schema.MillisOf(w.Clock)}}},
	}}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Store.Reset()
}

// Deliver delivers a tick as EventBridge Scheduler would.
func (w *World) Deliver(spec schema.Spec, tick string) (dispatch.Reply, error) {
	return w.Event(schema.TickEvent{Job: spec.Job, Tick: tick, Spec: spec})
}

// Event hands the dispatcher an event, as bytes.
func (w *World) Event(event any) (dispatch.Reply, error) {
	h := &dispatch.Handler{
		Scheduler: Scheduler, Store: w.Store, Machines: w.Runs, Now: w.Now, NewToken: w.newToken, Out: &w.Out,
	}
	out, err := h.Handle(context.Background(), encode(w.t, event))
	if err != nil {
		return dispatch.Reply{}, err
	}
	return out.(dispatch.Reply), nil
}

// Beat renews a run's lease as its state machine would.
func (w *World) Beat(r dispatch.Reply) error {
	h := &heartbeat.Handler{Scheduler: Scheduler, Store: w.Store, Now: w.Now, Out: &w.Out}
	_, err := h.Handle(context.Background(), encode(w.t, schema.BeatEvent{
		Job: r.Job, Tick: r.Tick, Run: r.Run, Fence: r.Fence, Interval: 60, LeaseSeconds: 120,
		StartedAt: w.Now().Add(-time.Minute).Format(time.RFC3339),
	}))
	return err
}

// Succeed ends a run well, one second before now, and reports it as its machine would.
func (w *World) Succeed(r dispatch.Reply) (settle.Reply, error) {
	return w.end(r, schema.RunSucceeded, nil)
}

// Fail ends a run with an error and reports it as its machine would.
func (w *World) Fail(r dispatch.Reply, name, cause string) (settle.Reply, error) {
	return w.end(r, schema.RunFailed, &schema.EndError{Error: name, Cause: cause})
}

func (w *World) end(r dispatch.Reply, status schema.RunStatus, end *schema.EndError) (settle.Reply, error) {
	x, ok := w.Runs.Execution(r.Run)
	if !ok {
		w.t.Fatalf("no execution of run %q", r.Run)
	}
	var in schema.RunInput
	if err := json.Unmarshal([]byte(x.Input), &in); err != nil {
		w.t.Fatal(err)
	}
	return w.Settle(schema.SettleEvent{
		Job: r.Job, Tick: r.Tick, Run: r.Run, Fence: r.Fence, Attempt: in.Attempt, Interval: in.Interval, Status: status, End: end,
		StartedAt: x.StartedAt.Format(time.RFC3339Nano), EndedAt: w.Now().Format(time.RFC3339Nano),
	})
}

// Settle hands the settler an event, as bytes.
func (w *World) Settle(event any) (settle.Reply, error) {
	h := &settle.Handler{
		Scheduler: Scheduler, Store: w.Store, Machines: w.Runs, Now: w.Now, NewToken: w.newToken, Out: &w.Out,
	}
	out, err := h.Handle(context.Background(), encode(w.t, event))
	if err != nil {
		return settle.Reply{}, err
	}
	return out.(settle.Reply), nil
}

// StatusEvent is EventBridge's word on a run's execution as it is now.
func (w *World) StatusEvent(run string) schema.StatusEvent {
	arn, x := w.Runs.find(run)
	if x == nil {
		w.t.Fatalf("no execution of run %q", run)
	}
	return schema.StatusEvent{DetailType: schema.StatusDetailType, Detail: schema.StatusDetail{
		ExecutionARN: arn, Name: run, Status: string(x.Status), Input: x.Input,
		StartDate: x.StartedAt.UnixMilli(), StopDate: x.StoppedAt.UnixMilli(),
	}}
}

// Guard returns the job's guard.
func (w *World) Guard(job string) guard.Guard {
	w.t.Helper()
	g, err := w.Store.Store.Guard(context.Background(), job)
	if err != nil || g == nil {
		w.t.Fatalf("guard of %s: %v, %v", job, g, err)
	}
	return *g
}

// Row returns the ledger row of a tick of the first day, "02:00".
func (w *World) Row(job, clock string) guard.Row {
	w.t.Helper()
	row, err := w.Store.Store.Row(context.Background(), job, Midnight.Format("2006-01-02T")+clock+":00Z")
	if err != nil || row == nil {
		w.t.Fatalf("row %s of %s: %v, %v", clock, job, row, err)
	}
	return *row
}

// Lines counts the log lines that contain the text.
func (w *World) Lines(text string) int { return strings.Count(w.Out.String(), text) }

func encode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	if raw, ok := v.(string); ok {
		return json.RawMessage(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Counter counts the requests to a store.
type Counter struct {
	guard.Store
	mu      sync.Mutex
	Commits int
	Reads   int
	// Fail, if set, may answer a commit in the store's place.
	Fail func(c guard.Commit) error
}

// Reset forgets what was counted and returns it.
func (c *Counter) Reset() (requests int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	requests = c.Commits + c.Reads
	c.Commits, c.Reads = 0, 0
	return requests
}

func (c *Counter) count(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

// Commit implements guard.Store.
func (c *Counter) Commit(ctx context.Context, commit guard.Commit) error {
	c.count(&c.Commits)
	if c.Fail != nil {
		if err := c.Fail(commit); err != nil {
			return err
		}
	}
	return c.Store.Commit(ctx, commit)
}

// Guard implements guard.Store.
func (c *Counter) Guard(ctx context.Context, job string) (*guard.Guard, error) {
	c.count(&c.Reads)
	return c.Store.Guard(ctx, job)
}

// Row implements guard.Store.
func (c *Counter) Row(ctx context.Context, job, tick string) (*guard.Row, error) {
	c.count(&c.Reads)
	return c.Store.Row(ctx, job, tick)
}

// Gaps implements guard.Store.
func (c *Counter) Gaps(ctx context.Context, job, from, to string, limit int) ([]guard.Gap, error) {
	c.count(&c.Reads)
	return c.Store.Gaps(ctx, job, from, to, limit)
}

// Guards implements guard.Store.
func (c *Counter) Guards(ctx context.Context, after string, limit int) (guard.GuardPage, error) {
	c.count(&c.Reads)
	return c.Store.Guards(ctx, after, limit)
}

// Rows implements guard.Store.
func (c *Counter) Rows(ctx context.Context, q guard.RowQuery) (guard.RowPage, error) {
	c.count(&c.Reads)
	return c.Store.Rows(ctx, q)
}
