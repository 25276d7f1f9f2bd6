package jobtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/internal/step"
)

const (
	// maxPoints bounds the drill, which runs the work twice for about each pair of points.
	maxPoints = 64
	// maxShown is how many interleavings are described; the others are alike.
	maxShown = 3
	// maxState is how much of a state is shown, in bytes.
	maxState = 2000
	// patience is how long a run may take to its next point before it is said to wait for the
	// other one: a drill that hangs tells nothing.
	patience = 20 * time.Second
)

// drill is one Drill.
type drill struct {
	Job
	t            testing.TB
	older, newer job.Run
	// states are those after the older run stopped for good at each point, and in the end, and
	// the newer one ran.
	states       []any
	tried, found int
}

// rehearse runs the work alone, twice, and returns how many points it has. Where the drill
// could hold no run and would pass in silence it fails.
func (d *drill) rehearse() (points int) {
	d.t.Helper()
	var states [2]any
	for i := range states {
		d.reset()
		r := d.start(d.older, never)
		d.await(r, "the older run, alone,")
		if r.err != nil {
			d.t.Fatalf("drill: the work failed alone, from the beginning (does Reset put the fences back?): %v", r.err)
		}
		if states[i] = d.state(); r.points > maxPoints {
			d.t.Fatalf("drill: the work has %d points, %d at most: let it do less", r.points, maxPoints)
		}
		points = r.points
		if blind := cmp.Or(r.blind, r.owed); blind != "" && i == 0 {
			d.t.Errorf("drill: no point follows a write fenced with %s, so that no run can be held between it and what comes next: call job.Point(ctx) once it is made, after the commit", blind)
		}
	}
	if points == 0 {
		d.t.Errorf("drill: the work met no point, so that no run can be held at its writes: make them through a package that fences them, with the context the work was given, or call job.Point(ctx) before and after each")
	}
	if !reflect.DeepEqual(states[0], states[1]) {
		d.t.Fatalf("drill: two equal runs leave different states: let State leave out what need not be the same\n%s", compare("first", states[0], "second", states[1]))
	}
	return points
}

// wakesAfterTheEnd holds the older run at a point while the newer one runs to its end.
func (d *drill) wakesAfterTheEnd(held int) {
	d.t.Helper()
	older, newer := d.both(held, never)
	defer older.release()
	d.await(newer, "the newer run")
	d.succeeded(newer, held)
	before := d.state()
	d.states = append(d.states, before)
	older.release()
	d.await(older, "the older run")
	if after := d.state(); !reflect.DeepEqual(before, after) {
		d.report(fmt.Sprintf("a late write landed: the older run was held at point %d, the newer one ran to its end, then the older one woke up", held),
			compare("before", before, "after", after))
	}
}

// oneAfterTheOther is the state after both ran without meeting.
func (d *drill) oneAfterTheOther() any {
	d.t.Helper()
	older, newer := d.both(never, never)
	d.await(older, "the older run")
	d.await(newer, "the newer run")
	d.succeeded(newer, never)
	return d.state()
}

// wakesBetween holds the older run at a point, and the newer one at another while the older
// one wakes up and runs to its end.
func (d *drill) wakesBetween(held, ahead int) {
	d.t.Helper()
	older, newer := d.both(held, ahead)
	defer older.release()
	defer newer.release()
	older.release()
	d.await(older, "the older run")
	newer.release()
	d.await(newer, "the newer run")
	d.succeeded(newer, held)
	after := d.state()
	for _, s := range d.states[held:] {
		if reflect.DeepEqual(s, after) {
			return
		}
	}
	d.report(fmt.Sprintf("a late write landed: the older run was held at point %d, the newer one at point %d, then the older one woke up and ran to its end, and then the newer one", held, ahead),
		compare("had the older run stopped there", d.states[held], "in the end", after))
}

// both starts the older run, and then the newer one, from the beginning, up to their points.
func (d *drill) both(held, ahead int) (older, newer *runner) {
	d.t.Helper()
	d.tried++
	d.reset()
	older = d.start(d.older, held)
	d.reach(older, "the older run")
	if older.err != nil {
		d.t.Fatalf("drill: the older run failed before the newer one began (does Reset put the fences back?): %v", older.err)
	}
	newer = d.start(d.newer, ahead)
	d.reach(newer, "the newer run")
	return older, newer
}

func (d *drill) succeeded(newer *runner, held int) {
	d.t.Helper()
	if newer.err != nil {
		d.report(fmt.Sprintf("the newer run failed, while the older one was held at point %d", held), newer.err.Error())
	}
}

func (d *drill) report(what, detail string) {
	d.t.Helper()
	if d.found++; d.found <= maxShown {
		d.t.Errorf("%s (points are before and after each fenced write, and where the work calls job.Point; 0 is before the work begins)\n%s", what, detail)
	}
}

func (d *drill) reset() {
	d.t.Helper()
	if err := d.Reset(d.t.Context()); err != nil {
		d.t.Fatalf("drill: reset: %v", err)
	}
}

func (d *drill) state() any {
	d.t.Helper()
	s, err := d.State(d.t.Context())
	if err != nil {
		d.t.Fatalf("drill: read state: %v", err)
	}
	return s
}

func compare(a string, x any, b string, y any) string {
	shownX, shownY := fmt.Sprintf("%+v", x), fmt.Sprintf("%+v", y)
	// JSON follows pointers, such as DynamoDB's attribute values, and leaves out what is not
	// exported: it is better where it shows the difference.
	jsonX, noX := json.Marshal(x)
	jsonY, noY := json.Marshal(y)
	if noX == nil && noY == nil && !bytes.Equal(jsonX, jsonY) {
		shownX, shownY = string(jsonX), string(jsonY)
	}
	return fmt.Sprintf("%s: %.*s\n%s: %.*s", a, maxState, shownX, b, maxState, shownY)
}

// never is the point at which a run that is not held is held.
const never = -1

// runner is one run of the work that can be held at one point.
type runner struct {
	err     error
	points  int
	owed    string        // the fenced write that no point has followed so far
	blind   string        // one that none followed before the next
	reached chan struct{} // closed when it is held
	wake    chan struct{}
	done    chan struct{} // closed when it has ended; then what is above may be read
}

var errGoexit = errors.New("the work left its goroutine, as t.FailNow does, instead of returning")

// owe notes a write after which the work has to call job.Point, and one after which it did
// not before it made the next.
func (r *runner) owe(what string) {
	if r.owed != "" {
		r.blind = r.owed
	}
	r.owed = what
}

// release lets a run that is, or will be, held go on. It may be called again.
func (r *runner) release() {
	select {
	case <-r.wake:
	default:
		close(r.wake)
	}
}

func (d *drill) start(run job.Run, holdAt int) *runner {
	r := &runner{reached: make(chan struct{}), wake: make(chan struct{}), done: make(chan struct{})}
	hold := func() {
		if r.points == holdAt {
			close(r.reached)
			<-r.wake
		}
	}
	ctx := step.With(d.t.Context(), step.Watcher{
		At:  func() { r.points++; r.owed = ""; hold() },
		Owe: r.owe,
	})
	go func() {
		defer close(r.done)
		err := errGoexit
		defer func() { r.err = err }()
		if d.Begin != nil {
			if err = d.Begin(d.t.Context(), run); err != nil {
				return
			}
		}
		err = errGoexit
		hold()
		err = job.Do(ctx, run, d.Work)
	}()
	return r
}

// reach waits until a run is held or has ended.
func (d *drill) reach(r *runner, who string) {
	d.t.Helper()
	select {
	case <-r.reached:
	case <-r.done:
	case <-time.After(patience):
		r.release()
		d.t.Fatalf("drill: %s hangs: it may wait for what the other one has locked", who)
	}
}

// await waits until a run has ended.
func (d *drill) await(r *runner, who string) {
	d.t.Helper()
	select {
	case <-r.done:
	case <-time.After(patience):
		d.t.Fatalf("drill: %s hangs: it may wait for what the other one has locked", who)
	}
}
