package bench

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/cronfence/cronfence/internal/awsscheduler"
	"github.com/cronfence/cronfence/internal/sentinel"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Scale is what 10,000 jobs take, in scale.json.
type Scale struct {
	Setting
	Emulator string  `json:"emulator"`
	Jobs     int     `json:"jobs"`
	Worlds   []World `json:"worlds"` // the memory store, the emulator
}

// World is what they take over one store.
type World struct {
	Starts           float64 `json:"startsPerSecond"`
	RequestsPerStart float64 `json:"requestsPerStart"` // to DynamoDB
	Skips            float64 `json:"skipsPerSecond"`
	RequestsPerSkip  float64 `json:"requestsPerSkip"`
	Cold             Sweep   `json:"coldSweep"` // the first of a process
	SweepsUntilWarm  int     `json:"sweepsUntilWarm"`
	Warm             Sweep   `json:"warmSweep"`
	MB               float64 `json:"megabytes"` // of the process, with all that was measured before
}

// Sweep is what the sentinel took to look at all guards.
type Sweep struct {
	Guards   int     `json:"guards"`
	Sweeps   int     `json:"sweeps"` // more than one: its time was over
	Seconds  float64 `json:"seconds"`
	Requests Asked   `json:"requests"`
}

// Asked is what a sweep asked for.
type Asked struct {
	DynamoDB          int `json:"dynamoDB"`
	ListSchedules     int `json:"listSchedules"`
	GetSchedule       int `json:"getSchedule"`
	DescribeExecution int `json:"describeExecution"`
}

func (s Sweep) String() string {
	if s.Sweeps > 1 {
		return fmt.Sprintf("%.1f s in %d sweeps", s.Seconds, s.Sweeps)
	}
	return fmt.Sprintf("%.1f s", s.Seconds)
}

func (a Asked) String() string {
	return fmt.Sprintf("%d / %d / %d / %d", a.DynamoDB, a.ListSchedules, a.GetSchedule, a.DescribeExecution)
}

func (s *Scale) table() string {
	const asked = "its requests: DynamoDB / ListSchedules / GetSchedule / DescribeExecution"
	rows := [][]string{}
	row := func(name string, cell func(w World) string) {
		cells := []string{name}
		for _, w := range s.Worlds {
			cells = append(cells, cell(w))
		}
		rows = append(rows, cells)
	}
	row("starts a second", func(w World) string { return fmt.Sprintf("%.0f", w.Starts) })
	row("requests to DynamoDB, each", func(w World) string { return fmt.Sprintf("%.4g", w.RequestsPerStart) })
	row("skips a second", func(w World) string { return fmt.Sprintf("%.0f", w.Skips) })
	row("requests to DynamoDB, each", func(w World) string { return fmt.Sprintf("%.4g", w.RequestsPerSkip) })
	row("a sweep", func(w World) string { return w.Warm.String() })
	row(asked, func(w World) string { return w.Warm.Requests.String() })
	row("the first sweep of a cold sentinel", func(w World) string { return w.Cold.String() })
	row(asked, func(w World) string { return w.Cold.Requests.String() })
	row("sweeps until it knows every schedule", func(w World) string { return strconv.Itoa(w.SweepsUntilWarm) })
	row("memory of the process", func(w World) string { return fmt.Sprintf("%.0f MB", w.MB) })
	return fmt.Sprintf("%s.\n\n", s.Setting) + tabulate([]string{fmt.Sprintf("%d jobs", s.Jobs), "memory store", s.Emulator}, rows)
}

// broken is of the warm sweep: a cold one reads each schedule too, in as many sweeps as that takes.
// Schedules are listed by the hundred, one by one only by a process that does not know them, and no
// execution is looked at whose run beats.
func (s *Scale) broken() []string {
	const seconds, megabytes, readCold = 30, 256, 500
	var b bounds
	if len(s.Worlds) != 2 {
		b = append(b, "not measured on both stores")
	}
	for _, w := range s.Worlds {
		b.atMost("seconds of a sweep", w.Warm.Seconds, seconds)
		b.atMost("MB of the process", w.MB, megabytes)
		b.atMost("sweeps for all guards", float64(w.Warm.Sweeps), 1)
		b.atMost("guards not swept", float64(s.Jobs-w.Warm.Guards), 0)
		b.atMost("lists of schedules", float64(w.Warm.Requests.ListSchedules), float64(s.Jobs)/100)
		b.atMost("schedules read", float64(w.Warm.Requests.GetSchedule), 0)
		b.atMost("executions looked at", float64(w.Warm.Requests.DescribeExecution), 0)
		b.atMost("schedules read cold", float64(w.Cold.Requests.GetSchedule), readCold)
	}
	return b
}

// schedules is EventBridge Scheduler with the group of all jobs. It answers at once.
type schedules struct{ listed, got int }

func (s *schedules) ListSchedules(_ context.Context, in *scheduler.ListSchedulesInput, _ ...func(*scheduler.Options)) (*scheduler.ListSchedulesOutput, error) {
	s.listed++
	from := 0
	if in.NextToken != nil {
		var err error
		if from, err = strconv.Atoi(*in.NextToken); err != nil {
			return nil, err
		}
	}
	out := &scheduler.ListSchedulesOutput{}
	to := min(from+int(*in.MaxResults), jobs)
	for i := from; i < to; i++ {
		out.Schedules = append(out.Schedules, types.ScheduleSummary{
			Name: aws.String(schema.ScheduleName("shop", nameOf(i))), State: types.ScheduleStateEnabled, LastModificationDate: aws.Time(now.Time()),
		})
	}
	if to < jobs {
		out.NextToken = aws.String(strconv.Itoa(to))
	}
	return out, nil
}

func (s *schedules) GetSchedule(_ context.Context, in *scheduler.GetScheduleInput, _ ...func(*scheduler.Options)) (*scheduler.GetScheduleOutput, error) {
	s.got++
	job := schema.JobOfSchedule(*in.Name)
	input, err := json.Marshal(schema.TickEvent{Job: job, Spec: specOf(job)})
	return &scheduler.GetScheduleOutput{Target: &types.Target{Input: aws.String(string(input))}}, err
}

// watched is a sentinel of which everything it asks for is counted.
type watched struct {
	handler   *sentinel.Handler
	schedules *schedules
	machines  *machines
	requests  func() int // to DynamoDB
}

func newSentinel(store guard.Store, m *machines, requests func() int) *watched {
	s := &schedules{}
	return &watched{schedules: s, machines: m, requests: requests, handler: &sentinel.Handler{
		Scheduler: "shop", Store: store, Machines: m, Schedules: awsscheduler.New(s, "shop"), NewToken: rand.Text, Out: io.Discard,
	}}
}

func (w *watched) asked() Asked {
	return Asked{w.requests(), w.schedules.listed, w.schedules.got, int(w.machines.described.Load())}
}

// sweep looks at all guards, in as many sweeps as it takes. All runs have just been renewed when
// a sweep begins, and its time passes.
func (w *watched) sweep(b *testing.B) (s Sweep) {
	b.Helper()
	before, began := w.asked(), time.Now()
	for done := false; !done; s.Sweeps++ {
		from := time.Now()
		w.handler.Now = func() time.Time { return now.Add(70*time.Second + time.Since(from)).Time() }
		reply, err := w.handler.Handle(context.Background(), nil)
		if err != nil {
			b.Fatal(err)
		}
		r := reply.(sentinel.Reply)
		s.Guards, done = s.Guards+r.Guards, r.Complete
	}
	after := w.asked()
	s.Seconds = time.Since(began).Seconds()
	s.Requests = Asked{
		after.DynamoDB - before.DynamoDB, after.ListSchedules - before.ListSchedules, after.GetSchedule - before.GetSchedule,
		after.DescribeExecution - before.DescribeExecution,
	}
	return s
}
