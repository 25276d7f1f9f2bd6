package cost

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// Target is what does a job's work, by the names of the constructs.
type Target string

// Targets.
const (
	Lambda       Target = "lambda"
	TaskToken    Target = "task-token"
	ECS          Target = "ecs"
	Batch        Target = "batch"
	Glue         Target = "glue"
	StateMachine Target = "state-machine"
	Chain        Target = "chain"
)

// Targets are all of them.
var Targets = []Target{Lambda, TaskToken, ECS, Batch, Glue, StateMachine, Chain}

// ParseTarget reads a target.
func ParseTarget(text string) (Target, error) {
	if t := Target(text); slices.Contains(Targets, t) {
		return t, nil
	}
	names := make([]string, len(Targets))
	for i, t := range Targets {
		names[i] = string(t)
	}
	return "", fmt.Errorf("%q: must be one of %s", text, strings.Join(names, ", "))
}

// DefaultTarget is a function where one can work for so long, else a container.
func DefaultTarget(runTime time.Duration) Target {
	if runTime > schema.MaxFunctionTimeout {
		return ECS
	}
	return Lambda
}

// DefaultMaxRun is the maximum run time of a job that names none: of a function its own timeout,
// which only the function knows, so Lambda's limit; or the run time where that is longer.
func (t Target) DefaultMaxRun(runTime time.Duration) time.Duration {
	if t == Lambda {
		return schema.MaxFunctionTimeout
	}
	whole := (runTime + time.Second - 1).Truncate(time.Second)
	return max(schema.DefaultMaxRun, whole)
}

// bounded tells whether the work's own timeout would not stop it, so that a clock runs in a
// branch beside it where no heartbeat does.
func (t Target) bounded() bool { return t != Lambda && t != TaskToken && t != "" }

// Job is what costs depend on. The zero value of what has a default is that.
type Job struct {
	TicksPerMonth float64
	RunTime       time.Duration // of a run
	MaxRunTime    time.Duration // the job's own bound; it decides on the shape of the machine
	SkipShare     float64       // of the ticks: 0 to 1
	Target        Target        // default: Lambda
	// Overlap is policy.Skip by default. The runs of policy.Allow have no heartbeat. What becomes of
	// a tick that waits under the other two is not estimated.
	Overlap     policy.Overlap
	ChainStates int           // that a run enters in the user's own chain
	Lease       time.Duration // default: 2 minutes, or what the renewal needs
	Renewal     time.Duration // default: 30 s
}

func (j Job) renewal() time.Duration {
	if j.Renewal > 0 {
		return j.Renewal
	}
	return schema.DefaultRenewal
}

func (j Job) lease() time.Duration {
	if j.Lease > 0 {
		return j.Lease
	}
	return max(schema.DefaultLease, schema.MinLease(j.renewal()))
}

// Check refuses what the constructs would refuse, in their words.
func (j Job) Check() error {
	if j.Target == Lambda && j.RunTime > schema.MaxFunctionTimeout {
		return fmt.Errorf("target %s: a run of %v: must be at most %v, the longest that a function works", j.Target, j.RunTime, schema.MaxFunctionTimeout)
	}
	renewal := j.renewal()
	if !j.HasBeats() {
		renewal = 0
	}
	if err := schema.CheckTimes(j.MaxRunTime, j.lease(), renewal, j.ownEvents()); err != nil {
		return fmt.Errorf("no job can be like this: %w", err)
	}
	return nil
}

// ownEvents are those of history that the target adds: of a chain that succeeds without
// retries, as if each of its states were a task.
func (j Job) ownEvents() int64 {
	switch {
	case j.Target == Chain:
		return int64(j.ChainStates) * schema.EventsPerTask
	case j.Target.bounded():
		return schema.SyncEvents
	}
	return 0
}

// HasBeats tells whether a run's machine has a heartbeat: those of policy.Allow hold no guard, and
// so no lease that is to be renewed.
func (j Job) HasBeats() bool {
	return !j.shared() && !schema.FitsWithoutBeats(j.MaxRunTime, j.lease())
}

// Beats is how many beats a run sends.
func (j Job) Beats() int {
	if !j.HasBeats() {
		return 0
	}
	return int(j.RunTime / j.renewal())
}

// Shape says what a run's machine is.
func (j Job) Shape() string {
	switch {
	case j.HasBeats():
		return "the work beside a heartbeat"
	case j.Target.bounded():
		return "the work beside a clock, without a heartbeat"
	}
	return "the work alone, without a heartbeat"
}

// TransitionsPerRun counts the states that a run enters: the work and its settling; with a
// heartbeat, or a clock where that bounds the work, also the Parallel around them, the first
// wait and the end of the job's branch, and two a beat. A chain has the same around it and its
// own states within.
func (j Job) TransitionsPerRun() int {
	n := 2 + j.ChainStates
	if j.HasBeats() || j.Target.bounded() {
		n += 3 + 2*j.Beats()
	}
	return n
}

// shared tells whether a run holds no guard. It is settled by two requests more: the blind one is
// refused, and its row is read.
func (j Job) shared() bool { return j.Overlap == policy.Allow }

// RequestsPerRun counts the requests to the table: a claim, a settling, one a beat.
func (j Job) RequestsPerRun() int {
	if j.shared() {
		return 4
	}
	return 2 + j.Beats()
}

// RequestsPerSkip counts those of a skipped tick: the blind claim that is refused, and the skip.
const RequestsPerSkip = 2
