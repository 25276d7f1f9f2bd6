package sim

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	seedFlag    = flag.Uint64("sim.seed", 0, "the first seed; 0 draws one")
	countFlag   = flag.Int("sim.n", 300, "how many schedules")
	verboseFlag = flag.Bool("sim.v", false, "print the trace of every schedule")
	firstFlag   = flag.Bool("sim.first", false, "stop at the first violation and leave the table alone")
)

// TestSchedules runs schedules with faults. A failing one is replayed with
// go test ./internal/sim -run TestSchedules -sim.seed=SEED -sim.n=1 -sim.v
func TestSchedules(t *testing.T) {
	first := *seedFlag
	if first == 0 {
		first = rand.Uint64() >> 16
	}
	t.Logf("seeds %d to %d", first, first+uint64(*countFlag)-1)
	coverage, failed, unhurt := runMany(first, *countFlag)
	for _, r := range failed {
		t.Errorf("seed %d: %v\nreplay: go test ./internal/sim -run TestSchedules -sim.seed=%d -sim.n=1 -sim.v\n%s",
			r.Seed, r.Violation, r.Seed, tail(r))
	}
	if *verboseFlag && len(failed) == 0 {
		r := replay(first)
		t.Log(strings.Join(r.Trace, "\n"))
	}
	if unhurt > 0 {
		t.Errorf("%d schedules without a fault that took effect, or with fewer than ten ticks", unhurt)
	}
	if *firstFlag {
		return
	}
	t.Logf("\n%s", coverage)
	if zeros := coverage.Zeros(); len(zeros) > 0 && *countFlag >= 20_000 {
		t.Errorf("never met: %s", strings.Join(zeros, ", "))
	}
}

// tail replays a failing schedule and returns the end of its trace.
func tail(r Result) string {
	trace := replay(r.Seed).Trace
	if n := len(trace) - 60; n > 0 && !*verboseFlag {
		trace = append([]string{trace[0], fmt.Sprintf("... %d lines", n)}, trace[n:]...)
	}
	return strings.Join(trace, "\n")
}

func replay(seed uint64) Result {
	crew := &Crew{}
	defer crew.Close()
	return crew.Run(seed, &Coverage{}, true)
}

// maxFailures is how many violations are worth reading.
const maxFailures = 5

func runMany(first uint64, n int) (*Coverage, []Result, int) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // worlds are small and many
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	total := &Coverage{}
	var failed []Result
	unhurt := 0
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			mine, crew := &Coverage{}, &Crew{}
			defer crew.Close()
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				r := crew.Run(first+uint64(i), mine, false)
				mu.Lock()
				if r.Hits == 0 || r.Ticks < 10 {
					unhurt++
				}
				if r.Violation != nil {
					failed = append(failed, r)
					if len(failed) >= maxFailures || *firstFlag {
						next.Store(int64(n))
					}
				}
				mu.Unlock()
			}
			mu.Lock()
			total.Add(mine)
			mu.Unlock()
		})
	}
	wg.Wait()
	return total, failed, unhurt
}
