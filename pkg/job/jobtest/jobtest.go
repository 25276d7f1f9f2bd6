// Package jobtest is a drill for the authors of jobs. It answers the question what would have
// happened if two runs had reached the same write at the same moment.
//
//	func TestLateWrites(t *testing.T) {
//		jobtest.Drill(t, jobtest.Job{Work: cleanup, Reset: emptyTables, State: readTables})
//	}
//
// The drill runs the job's work twice, as two runs with fence n and n+1, and holds either at
// each of its writes while the other goes on: the older run before, after or between any two
// of its writes, the newer one likewise. Then the older one wakes up late. What it writes from
// then on must leave no trace in the state.
//
// A run is held at points: before and after each write that a package makes which fences
// writes, and where the work calls job.Point. It is judged by the state. So the drill also
// finds a plain write before or after a fenced one; a run is not held between two writes with
// no point between them, such as a check of the author's own and the plain write after it. Of
// that it can tell only this much, and fails for it: a work that meets no point at all, and a
// transaction of the author's own (fencesql.Check, fencedynamo.GuardCheck, Condition) without a
// point after it.
//
// It is about late writes alone. A run that ends half-way, because it was refused, stopped or
// killed, leaves half of its writes, and the drill is content with that: put what belongs
// together in one transaction.
package jobtest

import (
	"context"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/job"
)

// Job is what a drill needs to know.
type Job struct {
	// Work is the write path. Each of its runs must do its writes one after the other, and the
	// same ones whenever it begins from the same state. It must pass its context on.
	Work job.Work
	// Reset puts everything back as it was before the first run, fences included.
	Reset func(ctx context.Context) error
	// State reads whatever the work writes, from where it is: rows, items, objects. Two states
	// are the same when reflect.DeepEqual says so; leave out what differs from run to run
	// without need, such as times and random ids.
	State func(ctx context.Context) (any, error)
	// Begin, if set, does what makes a run its job's holder. Needed where writes are held to
	// the guard: it puts the run and its fence there.
	Begin func(ctx context.Context, run job.Run) error
	// Run is the older run; the newer one differs in tick, id and fence. Default: a run of
	// scheduler "drill", job "drill", with an hour to go, no payload and a fence like a real one.
	Run job.Run
}

// Drill fails the test for each interleaving in which a late write leaves a trace:
//
//   - The older run wakes up after the newer one has ended: the state must not change.
//   - The older run wakes up while the newer one is at work: in the end the state must be what
//     it would be had the older run stopped at some point, and the newer one run after it.
//
// It returns how many interleavings it tried: about the square of the number of points.
func Drill(t testing.TB, j Job) int {
	t.Helper()
	if j.Work == nil || j.Reset == nil || j.State == nil {
		t.Fatal("drill: Work, Reset and State must be set")
	}
	d := &drill{Job: j, t: t, older: orDefault(j.Run)}
	d.newer = next(d.older)
	points := d.rehearse()
	for held := 0; held <= points; held++ {
		d.wakesAfterTheEnd(held)
	}
	d.states = append(d.states, d.oneAfterTheOther())
	for held := 0; held <= points; held++ {
		for ahead := 0; ahead <= points; ahead++ {
			d.wakesBetween(held, ahead)
		}
	}
	if d.found > maxShown {
		t.Errorf("and late writes in %d more of %d interleavings", d.found-maxShown, d.tried)
	}
	return d.tried
}

// orDefault fills in what a run needs.
func orDefault(run job.Run) job.Run {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	set(&run.Scheduler, "drill")
	set(&run.Job, "drill")
	set(&run.Tick, "2026-09-07T02:00:00Z")
	set(&run.ID, run.Job+"-20260907T020000Z-1")
	if run.Fence == 0 {
		run.Fence = 1_796_046_370_079 // as large as a real one: a column of 32 bits does not hold it
	}
	run.Attempt = max(run.Attempt, 1)
	if run.Deadline.IsZero() {
		run.Deadline = time.Now().Add(time.Hour)
	}
	return run
}

// next is the run after an older one.
func next(older job.Run) job.Run {
	newer := older
	newer.Tick, newer.ID = "2026-09-07T02:15:00Z", older.Job+"-20260907T021500Z-1"
	newer.Fence++
	return newer
}
