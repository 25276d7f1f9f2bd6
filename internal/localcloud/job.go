package localcloud

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cronfence/cronfence/pkg/policy"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// job is one schedule of the assembly with the state machine behind it, and what the
// local cloud itself has seen of it.
type job struct {
	name        string
	scheduler   string
	overlap     policy.Overlap
	table       string
	schedule    schedule.Schedule
	scheduleARN string
	disabled    bool
	input       string        // of the schedule's target, context attributes not filled in
	window      time.Duration // in which a tick is delivered
	handOver    retryPolicy   // of EventBridge Scheduler
	dispatcher  string        // function name
	machineARN  string
	command     string // name of the function that runs the user's command, if any
	work        *tracker

	mu         sync.Mutex
	ticks      []string // fired, in order
	atWork     []*work  // what is waited for, oldest first
	running    int      // tasks at work now, also those nobody waits for any more
	maxRunning int
}

func (j *job) fired(tick string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ticks = append(j.ticks, tick)
}

// working counts the job's own work: the local cloud's view, which asks no guard.
func (j *job) working(n int) {
	j.work.add(n)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.running += n
	j.maxRunning = max(j.maxRunning, j.running)
}

// work is a task of the job's that can be killed.
type work struct {
	run    string // the execution's name
	cancel context.CancelCauseFunc
}

func (j *job) begins(w *work) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.atWork = append(j.atWork, w)
}

func (j *job) ends(w *work) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.atWork = slices.DeleteFunc(j.atWork, func(other *work) bool { return other == w })
}

func (j *job) oldestAtWork() *work {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.atWork) == 0 {
		return nil
	}
	return j.atWork[0]
}

func (j *job) seen() (ticks []string, maxRunning int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.ticks), j.maxRunning
}
