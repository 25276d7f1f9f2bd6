// Package chaos kills the built dispatcher between every two requests that it sends to AWS, at each
// in turn, and shows that whatever comes next - the same delivery again, or the sentinel alone -
// brings the tick to one outcome with at most one execution. DynamoDB and Step Functions are
// moto's.
package chaos

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

var every = flag.Bool("chaos.every", false, "kill both before and after each request, with either recovery; else one of the four for each, in turn")

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

// situation is what a tick finds.
type situation struct {
	name    string
	prepare func(*job)
	holder  guard.Outcome // of the run it finds, in the end; empty for none
	want    guard.Outcome // of the tick itself
}

const longAgo = 30 * time.Minute // past every lease

var situations = []situation{
	{"a free guard", (*job).established, "", guard.Succeeded},
	{"a new job", func(*job) {}, "", guard.Succeeded},
	{"a dead holder", func(j *job) { j.claimed(longAgo, true) }, guard.LeaseLost, guard.Succeeded},
	{"a holder that never started", func(j *job) { j.claimed(longAgo, false) }, guard.Abandoned, guard.Succeeded},
	{"a living holder", func(j *job) { j.claimed(time.Minute, true) }, guard.Succeeded, guard.Skipped},
	{"a living holder to wait for", func(j *job) {
		j.spec.Overlap = policy.QueueOne
		j.claimed(time.Minute, true)
	}, guard.Succeeded, guard.Succeeded},
	{"a living holder to replace", func(j *job) {
		j.spec.Overlap, j.spec.GraceSeconds = policy.Replace, 30
		j.claimed(time.Minute, true)
	}, guard.Succeeded, guard.Succeeded},
}

// ways are when exactly a request kills its process, and what comes next.
var ways = []struct {
	after   bool
	name    string
	recover func(*trial)
}{
	{false, "delivered again", (*trial).deliverAgain},
	{true, "the sentinel alone", (*trial).sweepAlone},
	{true, "delivered again", (*trial).deliverAgain},
	{false, "the sentinel alone", (*trial).sweepAlone},
}

func TestADispatcherKilledAnywhereLeavesOneOutcomeAndOneExecution(t *testing.T) {
	cloud := rig.Moto(t)
	d := newDispatcher(t, cloud)
	trials, turn := 0, 0
	for _, s := range situations {
		w := newWorld(t, cloud) // moto copies a whole table in every transaction
		d.table = w.table
		requests := w.begin(t, d, s, 0).kill(death{})
		if len(requests) == 0 {
			t.Fatalf("%s: the dispatcher sends nothing", s.name)
		}
		t.Logf("%s: %v", s.name, requests)
		for n := range requests {
			for i, way := range ways {
				if !*every && i != turn%len(ways) {
					continue
				}
				trials++
				when := death{n + 1, way.after}
				t.Run(fmt.Sprintf("%s/%v (%s)/%s", s.name, when, requests[n], way.name), func(t *testing.T) {
					x := w.begin(t, d, s, trials)
					x.kill(when)
					x.note()
					way.recover(x)
					x.oneOutcome()
				})
			}
			turn++
		}
	}
	t.Logf("%d deaths", trials)
}

// trial is one death and what follows.
type trial struct {
	*job
	situation
	dispatcher *dispatcher
	found      string // the tick of the run that was there before
	missed     bool   // the tick may be on record as one that never came
}

func (w *world) begin(t *testing.T, d *dispatcher, s situation, number int) *trial {
	t.Helper()
	x := &trial{job: w.newJob(t, 1000*number+d.starts), situation: s, dispatcher: d}
	s.prepare(x.job)
	x.note()
	if g := x.guard(); g != nil && g.Run != nil {
		x.found = g.Run.Tick
	}
	return x
}

// kill delivers the tick to a process that dies, or does not. It returns the process's requests.
func (x *trial) kill(when death) []string {
	x.t.Helper()
	return x.dispatcher.deliver(x.t, x.event(), when)
}

// note checks that fences only rise.
func (x *trial) note() {
	x.t.Helper()
	var fence int64
	if g := x.guard(); g != nil {
		fence = g.Fence
	}
	if n := len(x.fences); n > 0 && fence < x.fences[n-1] {
		x.t.Errorf("the fence fell to %d after %v", fence, x.fences)
	}
	x.fences = append(x.fences, fence)
}

// deliverAgain is EventBridge Scheduler's and Lambda's retry.
func (x *trial) deliverAgain() {
	x.t.Helper()
	x.kill(death{})
	x.note()
	x.endRuns()
}

// sweepAlone lets nobody deliver the tick again.
func (x *trial) sweepAlone() {
	x.t.Helper()
	x.missed = true // a death before the claim leaves nothing but a tick that never came
	now := time.Now()
	x.sweep(now.Add(schema.Sweep)) // when a sender that lives would have sent
	x.note()
	x.endRuns()
	x.sweep(now.Add(longAgo))
	x.note()
	x.endRuns()
}

// endRuns lets every run succeed that is at work, those that waited for it too.
func (x *trial) endRuns() {
	x.t.Helper()
	for range 3 {
		for _, row := range x.open() {
			if row.Outcome == guard.Running && x.executions(row.Tick) == 1 {
				x.succeed(row, time.Now())
			}
		}
	}
}

// oneOutcome checks what the tick came to, and that a late duplicate changes nothing.
func (x *trial) oneOutcome() {
	x.t.Helper()
	tick := x.event().Tick
	outcome := x.outcomeOf(tick)
	want := map[guard.Outcome]int{guard.Succeeded: 1, guard.Skipped: 0}
	if x.missed {
		want[guard.Missed] = 0
		if x.fences[0] == 0 { // nothing is expected of a job before its first record
			want[""] = 0
		}
	} else if outcome != x.want {
		x.t.Errorf("the tick is %s, want %s", outcome, x.want)
	}
	if n, known := want[outcome]; !known || x.executions(tick) != n {
		x.t.Errorf("the tick is %s with %d executions %v, want one of %v", outcome, x.executions(tick), x.allExecutions(), want)
	}
	if x.found != "" {
		if got := x.outcomeOf(x.found); got != x.holder {
			x.t.Errorf("the run that it found is %s, want %s", got, x.holder)
		}
	}
	if open := x.open(); len(open) > 0 {
		x.t.Errorf("left open: %+v", open)
	}
	if g := x.guard(); g.Run != nil || g.Waiting != nil {
		x.t.Errorf("the guard is left with run %+v, waiting %+v", g.Run, g.Waiting)
	}
	if outcome == "" { // of before the job's first record: it is decided if it comes after all
		return
	}
	executions := len(x.allExecutions())
	result := x.deliverHere()
	if again := x.outcomeOf(tick); again != outcome || result != "Duplicate" || len(x.allExecutions()) != executions {
		x.t.Errorf("delivered late, the tick is answered with %s and is %s, want Duplicate and %s; executions %v", result, again, outcome, x.allExecutions())
	}
	x.note()
}

// outcomeOf is a tick's, on record or in a gap.
func (x *trial) outcomeOf(tick string) guard.Outcome {
	x.t.Helper()
	if row := x.row(tick); row != nil {
		return row.Outcome
	}
	gaps, err := x.store.Gaps(x.t.Context(), x.spec.Job, tick, tick, 0)
	if err != nil {
		x.t.Fatal(err)
	}
	if len(gaps) == 1 {
		return guard.Missed
	}
	return ""
}
