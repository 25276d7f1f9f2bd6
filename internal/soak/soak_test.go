// Package soak runs fifty jobs through the real handlers over an emulator's DynamoDB, in a clock
// that runs faster than real time, while processes die, answers are lost, requests are throttled
// and deliveries come late, twice or not at all. At the end every expected tick has one outcome,
// fences only rose and no two runs of a job worked at once. Run it with `make soak`.
//
// Step Functions and EventBridge Scheduler are fakes, in states_test.go and deliver_test.go. What
// happens depends on the machine's speed too: a seed repeats the faults that are drawn, not the run.
package soak

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

var (
	long  = flag.Duration("soak", 0, "how long ticks are delivered, in real time; 0 skips the soak")
	speed = flag.Float64("soak.speed", 10, "how much faster than real time the clock runs")
	seed  = flag.Uint64("soak.seed", 0, "of what is drawn; 0 draws one")
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

const (
	scheduler = "soak"
	jobCount  = 50
	// patience is how long, in the clock's time, what is open at the end may take to come to its
	// outcome. A run lost at its last tick takes a lease, a tick that never came its start deadline
	// and the delivery grace, each then a round of sweeps.
	patience = 40 * time.Minute
)

// specs are jobs of every policy, every 1 to 5 minutes, with beats and without.
func specs() []schema.Spec {
	var all []schema.Spec
	policies := []policy.Overlap{policy.Skip, policy.QueueOne, policy.Replace, policy.Skip, policy.Allow}
	for i := range jobCount {
		s := schema.Spec{
			Version: schema.SpecVersion, Scheduler: scheduler, Job: fmt.Sprintf("job%02d", i),
			Schedule: fmt.Sprintf("cron(0/%d * * * ? *)", []int{1, 1, 2, 3, 5}[i/2%5]), Overlap: policies[i%5], Beats: i%5 != 4 && i%3 != 0,
			LeaseSeconds: 120, MaxRunSeconds: 45, StartDeadlineSeconds: 120, GraceSeconds: 10, Retries: i % 2,
		}
		if s.Beats {
			s.RenewalSeconds, s.MaxRunSeconds = 30, 240
		}
		s.MachineTimeoutSeconds = s.MaxRunSeconds + 15
		s.Machine = "arn:aws:states:eu-west-1:000000000000:stateMachine:" + schema.MachineName(scheduler, s.Job)
		all = append(all, s)
	}
	return all
}

func TestEveryTickHasOneOutcomeWhateverFails(t *testing.T) {
	if *long == 0 {
		t.Skip("takes minutes: run `make soak`")
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("%d jobs for %v at %v times real time, seed %d", jobCount, *long, *speed, *seed)
	c := newCloud(t, specs(), *seed)
	c.sweepOnce() // introduces the jobs: from here on their ticks are expected
	begin := c.clock.Now()
	end := begin.Add(time.Duration(float64(*long) * *speed))

	c.faulty.Store(true)
	sweeping, stop := context.WithCancel(c.ctx)
	c.work.Go(func() { c.keepSweeping(sweeping) })
	watched := make(chan struct{})
	go func() { defer close(watched); c.keepWatching(sweeping) }()
	c.tickUntil(end)

	deadline := end.Add(patience)
	for c.clock.Now().Before(deadline) && len(c.unsettled(begin, end)) > 0 {
		_ = c.clock.Sleep(c.ctx, schema.Sweep) // it ends with the test only
	}
	stop()
	c.close()
	<-watched
	c.check(begin, end)
}
