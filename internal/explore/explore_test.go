package explore

import (
	"flag"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/policy"
)

var (
	full      = flag.Bool("explore.full", false, "explore the whole model, not a small one: minutes, and gigabytes")
	maxStates = flag.Int("explore.states", 0, "end each configuration beyond so many states; 0 is never")
	match     = flag.String("explore.match", "", "explore only configurations whose name contains this")
)

// configs are the models of every policy, with and without beats.
func configs(ticks, faults int) []Config {
	var all []Config
	for _, beats := range []bool{false, true} {
		for _, o := range []policy.Overlap{policy.Skip, policy.QueueOne, policy.Replace} {
			all = append(all, Config{Overlap: o, Beats: beats, Ticks: ticks, Faults: faults, MaxStates: *maxStates})
		}
	}
	return all
}

func bounds() []Config {
	if *full {
		aligned := configs(maxTicks, 1)[3:]
		for i := range aligned {
			aligned[i].Aligned = true
		}
		return slices.Concat(configs(maxTicks, 2), configs(maxTicks, 1), aligned)
	}
	few := append(configs(maxTicks, 0), configs(2, 1)[:3]...)
	return append(few,
		Config{Overlap: policy.Replace, Beats: true, Ticks: 2, Faults: 1},
		Config{Overlap: policy.Skip, Ticks: 2, Faults: 2, Only: []Fault{Crash, Paused}},
		Config{Overlap: policy.Replace, Ticks: maxTicks, Faults: 1, Only: []Fault{StopDenied}},
	)
}

// TestInvariantsHoldInEveryState explores three ticks with no fault, and two with one. With
// -explore.full it is three ticks with every pair of faults, as many states as -explore.states
// allows, and with every single one whole, also where beats and ticks fall on the same instants.
func TestInvariantsHoldInEveryState(t *testing.T) {
	if *full { // what is kept is kept for good: collecting it often gains nothing, as long as it fits
		defer debug.SetGCPercent(debug.SetGCPercent(300))
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(14 << 30))
	}
	struck := exploreAll(t, bounds())
	for f := NoFault + 1; f < faultCount; f++ {
		if struck[f] == 0 && *match == "" {
			t.Errorf("fault %q struck nowhere", f)
		}
	}
}

// exploreAll explores two configurations at a time and prints their figures.
func exploreAll(t *testing.T, all []Config) (struck [faultCount]int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for _, cfg := range all {
		if !strings.Contains(cfg.String(), *match) {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			start := time.Now()
			res, err := Explore(cfg)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			t.Log(res, time.Since(start).Round(time.Second/10))
			if res.Violation != nil {
				t.Errorf("%s: %v", cfg, res.Violation)
			}
			for f, n := range res.Struck {
				struck[f] += n
			}
		})
	}
	wg.Wait()
	return struck
}
