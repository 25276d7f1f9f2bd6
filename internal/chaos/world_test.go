package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/cronfence/cronfence/internal/awssfn"
	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

const scheduler = testworld.Scheduler

// world is a scheduler on an emulator, with one new job for each case.
type world struct {
	table  string
	store  guard.Store
	states *sfn.Client
	tokens int
}

func newWorld(t *testing.T, cloud rig.Cloud) *world {
	t.Helper()
	table := cloud.Table(t)
	return &world{table: table, store: dynamo.New(dynamodb.NewFromConfig(cloud.Config), table), states: sfn.NewFromConfig(cloud.Config)}
}

// job is a job of its own name and state machine, and the current minute's tick.
type job struct {
	*world
	t    *testing.T
	spec schema.Spec
	tick time.Time
	// fences that its guard has had, in order.
	fences []int64
}

func (w *world) newJob(t *testing.T, number int) *job {
	t.Helper()
	j := &job{world: w, t: t, spec: testworld.Minutely(fmt.Sprint("job", number)), tick: time.Now().UTC().Truncate(time.Minute)}
	made, err := w.states.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String(schema.MachineName(scheduler, j.spec.Job)), RoleArn: aws.String("arn:aws:iam::123456789012:role/run"),
		Definition: aws.String(`{"StartAt":"Work","States":{"Work":{"Type":"Pass","End":true}}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	j.spec.Machine = *made.StateMachineArn
	j.spec.LeaseSeconds, j.spec.MaxRunSeconds = 600, 600 // longer than a case takes
	return j
}

func (j *job) event() schema.TickEvent {
	return schema.TickEvent{Job: j.spec.Job, Tick: schema.TickID(j.tick), Spec: j.spec}
}

// engine acts for the job at an instant, in this process.
func (j *job) engine(at time.Time) *engine.Engine {
	return &engine.Engine{
		Store: j.store, Machines: awssfn.New(j.states), Now: func() time.Time { return at },
		NewToken: func() string { j.tokens++; return fmt.Sprint("token", j.tokens) }, Timeout: schema.DispatcherTimeout,
	}
}

// claimed delivers an earlier tick at its time. unless started, its run never reaches Step Functions.
func (j *job) claimed(before time.Duration, started bool) guard.Row {
	j.t.Helper()
	at := j.tick.Add(-before)
	d, err := engine.ScheduledDelivery(j.spec, schema.TickID(at), at)
	if err != nil {
		j.t.Fatal(err)
	}
	e := j.engine(at)
	if !started {
		e.Machines = lost{e.Machines}
	}
	res, err := e.Deliver(j.t.Context(), d)
	if err != nil && started {
		j.t.Fatal(err)
	}
	if err != nil {
		return *j.row(schema.TickID(at))
	}
	return res.Row
}

// deliverHere delivers the tick once more, in this process.
func (j *job) deliverHere() string {
	j.t.Helper()
	event, err := json.Marshal(j.event())
	if err != nil {
		j.t.Fatal(err)
	}
	e := j.engine(time.Now())
	h := &dispatch.Handler{Scheduler: scheduler, Store: e.Store, Machines: e.Machines, Now: e.Now, NewToken: e.NewToken, Out: io.Discard}
	reply, err := h.Handle(j.t.Context(), event)
	if err != nil {
		j.t.Fatal(err)
	}
	return reply.(dispatch.Reply).Result
}

// lost is Step Functions out of reach.
type lost struct{ machine.Runner }

func (lost) Start(context.Context, string, string, string) error { return machine.ErrNotFound }

// established is a job whose record ends with the tick before this one, which succeeded.
func (j *job) established() {
	j.t.Helper()
	row := j.claimed(time.Minute, true)
	j.succeed(row, j.tick.Add(-30*time.Second))
	g := j.guard()
	err := j.store.Commit(j.t.Context(), guard.Commit{Job: j.spec.Job, Token: "established", Writes: []guard.Write{{
		SK: schema.GuardSK, If: []guard.Cond{{Field: "version", Op: guard.Is, Value: g.Version}},
		Patch: guard.Patch{Set: guard.Fields{{Name: "lastTick", Value: schema.MillisOf(j.tick.Add(-time.Minute))}}},
	}}})
	if err != nil {
		j.t.Fatal(err)
	}
}

// succeed reports a run's success as its state machine does.
func (j *job) succeed(row guard.Row, at time.Time) {
	j.t.Helper()
	_, err := j.engine(at).Settle(j.t.Context(), guard.End{
		Job: row.Job, Tick: row.Tick, Run: row.Run, Fence: row.Fence, Attempt: row.Attempt, Interval: row.Interval,
		Outcome: guard.Succeeded, StartedAt: row.ClaimedAt, EndedAt: schema.MillisOf(at),
	})
	if err != nil {
		j.t.Fatal(err)
	}
}

// sweep is what the sentinel does about the job at an instant.
func (j *job) sweep(at time.Time) {
	j.t.Helper()
	e := j.engine(at)
	if err := e.Introduce(j.t.Context(), j.spec); err != nil {
		j.t.Fatal(err)
	}
	if err := e.SweepGuard(j.t.Context(), *j.guard()); err != nil {
		j.t.Fatal(err)
	}
}

func (j *job) guard() *guard.Guard {
	j.t.Helper()
	g, err := j.store.Guard(j.t.Context(), j.spec.Job)
	if err != nil {
		j.t.Fatal(err)
	}
	return g
}

func (j *job) row(tick string) *guard.Row {
	j.t.Helper()
	row, err := j.store.Row(j.t.Context(), j.spec.Job, tick)
	if err != nil {
		j.t.Fatal(err)
	}
	return row
}

// open are the rows that go on.
func (j *job) open() []guard.Row {
	j.t.Helper()
	page, err := j.store.Rows(j.t.Context(), guard.RowQuery{Job: j.spec.Job, OpenOnly: true})
	if err != nil || page.Next != "" {
		j.t.Fatalf("open rows: %v, next %q", err, page.Next)
	}
	return page.Rows
}

// executions counts those of the tick's runs.
func (j *job) executions(tick string) int {
	j.t.Helper()
	n := 0
	for _, x := range j.allExecutions() {
		if strings.HasPrefix(x, schema.RunID(j.spec.Job, tick, 1)) {
			n++
		}
	}
	return n
}

func (j *job) allExecutions() []string {
	j.t.Helper()
	out, err := j.states.ListExecutions(j.t.Context(), &sfn.ListExecutionsInput{StateMachineArn: &j.spec.Machine})
	if err != nil {
		j.t.Fatal(err)
	}
	var names []string
	for _, x := range out.Executions {
		names = append(names, aws.ToString(x.Name))
	}
	return names
}
