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
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

const jobs = 10_000

// atOnce is how many Lambda functions run at the same time.
const atOnce = 64

// machines starts everything and knows nothing.
type machines struct{ started, described atomic.Int64 }

func (m *machines) Start(context.Context, string, string, string) error {
	m.started.Add(1)
	return nil
}

func (m *machines) Describe(context.Context, string) (machine.Execution, error) {
	m.described.Add(1)
	return machine.Execution{Status: machine.Running}, nil
}

func (m *machines) Stop(context.Context, string, string, string) error { return nil }

func nameOf(i int) string { return fmt.Sprintf("job-%05d", i) }

func specOf(job string) schema.Spec {
	s := spec
	s.Job, s.Machine = job, "arn:aws:states:eu-west-1:123456789012:stateMachine:shop_"+job
	return s
}

// BenchmarkScale delivers the ticks of 10,000 jobs of the same second to the dispatcher, 64 at a
// time: first all start, then, a minute later, all are skipped. Then the sentinel sweeps over
// their guards, each held by a run that beats: as a new process, and when it knows all schedules.
func BenchmarkScale(b *testing.B) {
	all := Scale{Setting: begin(), Emulator: emulator(b), Jobs: jobs}
	known := guard.Store(guard.NewMemory()) // the same guards, to learn the schedules over in little time
	b.Run("memory", func(b *testing.B) {
		all.Worlds = append(all.Worlds, scale(b, known, known, func() int { return 0 }))
	})
	b.Run("ministack", func(b *testing.B) {
		c := rig.Ministack(b)
		all.Worlds = append(all.Worlds, scale(b, dynamo.New(dynamodb.NewFromConfig(c.Config), c.Table(b)), known, c.Requests.Total))
	})
	if *record {
		all.LoadAfter = load()
		write(b, "scale", &all)
	}
}

func scale(b *testing.B, store, known guard.Store, requests func() int) (w World) {
	m := &machines{}
	ready(b, store, now, jobs)
	minute := func(at guard.Millis) (perSecond, each float64) {
		h := &dispatch.Handler{Scheduler: "shop", Store: store, Machines: m, Now: at.Time, NewToken: rand.Text, Out: io.Discard}
		before, began := requests(), time.Now()
		deliver(b, h, at)
		return jobs / time.Since(began).Seconds(), float64(requests()-before) / jobs
	}
	w.Starts, w.RequestsPerStart = minute(now)
	if n := m.started.Load(); n != jobs {
		b.Fatalf("%d runs started, want %d", n, jobs)
	}
	renew(b, store)
	w.Skips, w.RequestsPerSkip = minute(now.Add(time.Minute))

	s := newSentinel(store, m, requests)
	w.Cold = s.sweep(b)
	s.handler.Store = known
	for w.SweepsUntilWarm = 1; s.sweep(b).Requests.GetSchedule > 0; w.SweepsUntilWarm++ {
	}
	s.handler.Store = store
	for b.Loop() {
		w.Warm = s.sweep(b)
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	w.MB = float64(stats.Sys) / (1 << 20)
	b.ReportMetric(w.Starts, "starts/s")
	b.ReportMetric(w.Skips, "skips/s")
	b.ReportMetric(w.Cold.Seconds, "cold-s")
	b.ReportMetric(float64(w.Warm.Requests.DynamoDB), "requests/op")
	b.ReportMetric(w.MB, "MB")
	return w
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
