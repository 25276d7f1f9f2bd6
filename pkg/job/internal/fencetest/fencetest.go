// Package fencetest interleaves the writes of runs that should not be writing at the same
// time, and counts those that land late. Only tests import it.
package fencetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/internal/step"
)

// Full is how many interleavings an adapter must survive (make fences). Few is how many are
// tried where somebody waits.
const (
	Full = 10_000
	Few  = 500
)

// Many is how many interleavings to try: a few, or as many as CRONFENCE_INTERLEAVINGS says,
// up to Full.
func Many(t testing.TB) int {
	t.Helper()
	if s := os.Getenv("CRONFENCE_INTERLEAVINGS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("CRONFENCE_INTERLEAVINGS: %v", err)
		}
		return min(n, Full)
	}
	return Few
}

// Place is where runs write. Each interleaving has a place, and a job, of its own.
type Place struct {
	// Begin is what a run does before its first write, if anything. A refusal ends the run.
	Begin func(ctx context.Context, run job.Run, n int) error
	// Write makes one write: nil when it landed, job.ErrFenced when it was refused.
	Write func(ctx context.Context, run job.Run, n int) error
	// Landed returns the fences of the writes that landed at a place, in their order. The
	// negative of a fence stands for the beginning of its run: older writes are late from
	// then on.
	Landed func(ctx context.Context, n int) ([]int64, error)
}

// At moves a place to numbers from first on, so that two tests can share tables.
func (p Place) At(first int) Place {
	return Place{
		Begin: p.Begin, Write: p.Write,
		Landed: func(ctx context.Context, n int) ([]int64, error) { return p.Landed(ctx, n+first) },
	}
}

// Result counts what came of all interleavings.
type Result struct {
	Interleavings, Landed, Refused, Late int64
}

func (r Result) String() string {
	return fmt.Sprintf("%d interleavings: %d writes landed, %d refused, %d late", r.Interleavings, r.Landed, r.Refused, r.Late)
}

// Interleave makes n interleavings: a run is paused in the middle of a write, two newer ones
// write at the same time, and the first wakes up before, while or after they do.
func Interleave(t *testing.T, n int, p Place) Result {
	t.Helper()
	const workers = 4
	var total Result
	var mu sync.Mutex
	var next atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !t.Failed(); i = int(next.Add(1)) - 1 {
				one, err := interleave(t.Context(), i, p)
				if err != nil {
					t.Errorf("interleaving %d: %v", i, err)
					return
				}
				mu.Lock()
				total.Interleavings++
				total.Landed += one.Landed
				total.Refused += one.Refused
				total.Late += one.Late
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%v, in %v", total, time.Since(began).Round(time.Millisecond))
	return total
}

// Holds fails the test when a late write landed, or when nothing was refused or landed.
func Holds(t *testing.T, n int, p Place) {
	t.Helper()
	if r := Interleave(t, n, p); r.Late != 0 || r.Refused == 0 || r.Landed == 0 {
		t.Errorf("%v: want none late, and some of the others", r)
	}
}

// LetsThrough fails the test unless late writes land: without fences they must, or the test
// could not fail.
func LetsThrough(t *testing.T, n int, p Place) {
	t.Helper()
	if r := Interleave(t, n, p); r.Late == 0 {
		t.Errorf("%v: want late writes to land where no fence is checked", r)
	}
}

// Fence is the fence of the run of that rank, 1 being the oldest.
func Fence(rank int64) int64 { return 1_796_046_370_000 + rank }

// Refuses fails the test unless write returns an error that names the fence, for each number
// that is none. It must do nothing else before.
func Refuses(t *testing.T, name string, write func(run job.Run) error) {
	t.Helper()
	for _, n := range []int64{-1, 0, 1 << 53, 1 << 62} {
		run := NewRun(0, 1)
		run.Fence = n
		if err := write(run); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("fence %d: must be from 1 to 9007199254740991", n)) {
			t.Errorf("%s with fence %d: %v: want it refused", name, n, err)
		}
	}
}

// NewRun is the run of that rank at place n.
func NewRun(n int, rank int64) job.Run {
	name := fmt.Sprintf("job-%d", n)
	return job.Run{
		Scheduler: "shop", Job: name, Tick: fmt.Sprintf("2026-09-07T02:0%d:00Z", rank),
		ID: fmt.Sprintf("%s-%d", name, rank), Fence: Fence(rank), Attempt: 1,
		Deadline: time.Now().Add(time.Hour), Interval: time.Minute,
	}
}

func interleave(ctx context.Context, n int, p Place) (Result, error) {
	random := rand.New(rand.NewPCG(uint64(n), 7))
	c := &counter{place: p, n: n}
	paused := NewRun(n, 1)
	if err := c.begin(ctx, paused); err != nil {
		return Result{}, err
	}
	asleep, wake := make(chan struct{}), make(chan struct{})
	held, pausesAt, points := sync.OnceFunc(func() { close(asleep); <-wake }), random.IntN(3), 0
	var old sync.WaitGroup
	old.Go(func() {
		if pausesAt == 0 {
			held()
		}
		c.write(step.With(ctx, step.Watcher{At: func() {
			if points++; points == pausesAt {
				held()
			}
		}}), paused)
		held() // where the write has fewer points it is not late, and nobody waits for it
	})
	<-asleep

	var both sync.WaitGroup
	for rank := int64(2); rank <= 3; rank++ {
		writes := 1 + random.IntN(2)
		both.Go(func() {
			if c.begin(ctx, NewRun(n, rank)) != nil {
				return
			}
			for range writes {
				c.write(ctx, NewRun(n, rank))
			}
		})
	}
	if random.IntN(3) > 0 {
		both.Wait()
	}
	close(wake)
	both.Wait()
	old.Wait()
	return c.result(ctx)
}

// counter counts what the runs of one interleaving are told.
type counter struct {
	place Place
	n     int

	landed, refused atomic.Int64
	mu              sync.Mutex
	err             error
}

func (c *counter) begin(ctx context.Context, run job.Run) error {
	if c.place.Begin == nil {
		return nil
	}
	err := c.place.Begin(ctx, run, c.n)
	c.note(err)
	return err
}

func (c *counter) write(ctx context.Context, run job.Run) {
	err := c.place.Write(ctx, run, c.n)
	switch {
	case err == nil:
		c.landed.Add(1)
	case errors.Is(err, job.ErrFenced):
		c.refused.Add(1)
	}
	c.note(err)
}

func (c *counter) note(err error) {
	if err == nil || errors.Is(err, job.ErrFenced) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = errors.Join(c.err, err)
}

func (c *counter) result(ctx context.Context) (Result, error) {
	if c.err != nil {
		return Result{}, c.err
	}
	fences, err := c.place.Landed(ctx, c.n)
	if err != nil {
		return Result{}, err
	}
	r := Result{Refused: c.refused.Load()}
	var newest int64
	for _, f := range fences {
		if f > 0 {
			r.Landed++
		}
		if f > 0 && f < newest {
			r.Late++
		}
		newest = max(newest, f, -f)
	}
	if said := c.landed.Load(); said != r.Landed {
		return Result{}, fmt.Errorf("%d writes were said to land, these did: %v", said, fences)
	}
	return r, nil
}
