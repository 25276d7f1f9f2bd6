package bench

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/internal/sentinel"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

const jobs = 10_000

// atOnce is how many Lambda functions run at the same time.
const atOnce = 64

// machines starts everything and knows nothing.
type machines struct{ started atomic.Int64 }

func (m *machines) Start(context.Context, string, string, string) error {
	m.started.Add(1)
	return nil
}

func (m *machines) Describe(context.Context, string) (machine.Execution, error) {
	return machine.Execution{Status: machine.Running}, nil
}

func (m *machines) Stop(context.Context, string, string, string) error { return nil }

// schedules are those of all jobs, known already.
type schedules struct{}

func (schedules) List(context.Context) ([]sentinel.Schedule, error) {
	list := make([]sentinel.Schedule, jobs)
	for i := range list {
		list[i] = sentinel.Schedule{Name: schema.ScheduleName("shop", nameOf(i)), Job: nameOf(i)}
	}
	return list, nil
}

func (schedules) Spec(_ context.Context, name string) (schema.Spec, error) {
	return specOf(schema.JobOfSchedule(name)), nil
}

func nameOf(i int) string { return fmt.Sprintf("job-%05d", i) }

func specOf(job string) schema.Spec {
	s := spec
	s.Job, s.Machine = job, "arn:aws:states:eu-west-1:123456789012:stateMachine:shop_"+job
	return s
}

// stores are those that scale is measured on, and how the requests to them are counted.
func stores() map[string]func(b *testing.B) (guard.Store, func() int) {
	return map[string]func(b *testing.B) (guard.Store, func() int){
		"memory": func(*testing.B) (guard.Store, func() int) { return guard.NewMemory(), func() int { return 0 } },
		"ministack": func(b *testing.B) (guard.Store, func() int) {
			c := rig.Ministack(b)
			return dynamo.New(dynamodb.NewFromConfig(c.Config), c.Table(b)), c.Requests.Total
		},
	}
}

// BenchmarkTenThousandJobs delivers the ticks of 10,000 jobs of the same second to the dispatcher,
// 64 at a time: first all start, then, a minute later, all are skipped.
func BenchmarkTenThousandJobs(b *testing.B) {
	for name, open := range stores() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				store, requests := open(b)
				m := &machines{}
				ready(b, store, now, jobs)
				at := now
				for _, what := range []string{"start", "skip"} {
					h := &dispatch.Handler{Scheduler: "shop", Store: store, Machines: m, Now: at.Time, NewToken: rand.Text, Out: io.Discard}
					before, began := requests(), time.Now()
					deliver(b, h, at)
					b.ReportMetric(jobs/time.Since(began).Seconds(), what+"s/s")
					b.ReportMetric(float64(requests()-before)/jobs, "requests/"+what)
					at = at.Add(time.Minute)
				}
				if n := m.started.Load(); n != jobs {
					b.Fatalf("%d runs started, want %d", n, jobs)
				}
			}
		})
	}
}

// BenchmarkSweep lets the sentinel look at 10,000 healthy guards, each held by a run that beats,
// in as many sweeps as it takes.
func BenchmarkSweep(b *testing.B) {
	for name, open := range stores() {
		b.Run(name, func(b *testing.B) {
			store, requests := open(b)
			d := &dispatch.Handler{Scheduler: "shop", Store: store, Machines: &machines{}, Now: now.Time, NewToken: rand.Text, Out: io.Discard}
			ready(b, store, now, jobs)
			deliver(b, d, now)
			renew(b, store)
			h := &sentinel.Handler{
				Scheduler: "shop", Store: store, Machines: &machines{}, Schedules: schedules{}, Now: now.Add(40 * time.Second).Time,
				NewToken: rand.Text, Out: io.Discard,
			}
			sweep := func() (looked int) {
				for {
					reply, err := h.Handle(context.Background(), nil)
					if err != nil {
						b.Fatal(err)
					}
					r := reply.(sentinel.Reply)
					if looked += r.Guards; r.Complete {
						return looked
					}
				}
			}
			sweep() // the first one compares every schedule with its guard
			before := requests()
			looked := 0
			for b.Loop() {
				looked = sweep()
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(looked), "guards")
			b.ReportMetric(float64(requests()-before)/float64(b.N), "requests/op")
			b.ReportMetric(float64(m.Sys)/(1<<20), "MB")
		})
	}
}

// ready makes the guards of so many jobs, as of jobs that have ticked for long.
func ready(b testing.TB, store guard.Store, at guard.Millis, jobs int) {
	each(b, jobs, func(ctx context.Context, i int) error {
		s := specOf(nameOf(i))
		hash := s.Hash()
		return store.Commit(ctx, guard.Commit{Job: s.Job, Token: rand.Text(), Writes: []guard.Write{{
			SK: schema.GuardSK, Absent: true,
			Patch: guard.Patch{Set: guard.Fields{
				{Name: "version", Value: int64(1)},
				{Name: "ready", Value: true},
				{Name: "lastTick", Value: at.Add(-time.Minute)},
				{Name: "spec", Value: &s},
				{Name: "specHash", Value: hash},
				{Name: "specSince", Value: at.Add(-time.Hour)},
			}},
		}}})
	})
}

// renew lets every run send its first beat.
func renew(b *testing.B, store guard.Store) {
	each(b, jobs, func(ctx context.Context, i int) error {
		g, err := store.Guard(ctx, nameOf(i))
		if err != nil {
			return err
		}
		beat := guard.Beat{Job: g.Job, Tick: g.Run.Tick, Run: g.Run.ID, Fence: g.Fence, Lease: g.Spec.Lease()}
		return store.Commit(ctx, guard.BlindBeat(beat, now.Add(30*time.Second)))
	})
}

// deliver hands the tick of an instant to every job.
func deliver(b *testing.B, h *dispatch.Handler, at guard.Millis) {
	each(b, jobs, func(ctx context.Context, i int) error {
		event, err := json.Marshal(schema.TickEvent{Job: nameOf(i), Tick: schema.TickID(at.Time()), Spec: specOf(nameOf(i))})
		if err != nil {
			return err
		}
		_, err = h.Handle(ctx, event)
		return err
	})
}

// each does it for the numbers of all jobs, as many at once as there are functions.
func each(b testing.TB, jobs int, do func(ctx context.Context, i int) error) {
	b.Helper()
	var next atomic.Int64
	var work sync.WaitGroup
	for range atOnce {
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < jobs; i = int(next.Add(1)) - 1 {
				if err := do(context.Background(), i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
}
