package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

var errThrottled = errors.New("throttled")

// A start deadline bounds the start, not the claim alone, however long the lease is.
func TestStartIsSentByItsStartDeadlineOrNever(t *testing.T) {
	for _, c := range []struct {
		claimed, again string
		started        bool
	}{
		{"02:00:30", "02:00:40", true},
		{"02:00:30", "02:00:45", false}, // the sender itself may take 15 s
		{"02:00:30", "02:50:00", false},
	} {
		w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "cron(0 * * * ? *)")
		spec.LeaseSeconds, spec.StartDeadlineSeconds = 3600, 60
		w.Established(spec, "01:00")
		n := w.Runs.Started
		w.At(c.claimed)
		w.Runs.FailStart = errThrottled
		if _, err := w.Deliver(spec, "2026-09-07T02:00:00Z"); err == nil {
			t.Fatal("want it throttled")
		}
		w.Runs.FailStart = nil
		w.At(c.again)
		w.Tick(spec, "02:00")
		if started := w.Runs.Started > n; started != c.started {
			t.Errorf("claimed at %s, delivered again at %s: started %v", c.claimed, c.again, started)
		}
	}
}

func TestTickClaimedAtTheLastMomentIsStartedByWhoClaimedIt(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "cron(0 * * * ? *)")
	spec.StartDeadlineSeconds = 60
	w.Established(spec, "01:00")
	w.At("02:01:00")
	if r := w.Tick(spec, "02:00"); !r.Started {
		t.Errorf("%+v: want it started", r)
	}
}

func TestHandedOverTickIsNotStartedPastItsStartDeadline(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "cron(0/10 * * * ? *)")
	spec.Overlap, spec.StartDeadlineSeconds = policy.QueueOne, 600
	w.Established(spec, "01:50")
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	for at := testworld.Midnight.Add(2*time.Hour + 30*time.Second); at.Before(testworld.Midnight.Add(2*time.Hour + 19*time.Minute + 50*time.Second)); at = at.Add(30 * time.Second) {
		w.At(at.Format(time.TimeOnly))
		if at.Minute() == 10 && at.Second() == 0 {
			w.Tick(spec, "02:10")
		}
		must(t)(nil, w.Beat(run))
	}
	n := w.Runs.Started
	w.Runs.FailStart = errThrottled
	w.At("02:19:50")
	must(t)(w.Succeed(run))
	w.Runs.FailStart = nil
	w.At("02:20:40")
	w.Sweep("cleanup")
	if w.Runs.Started > n {
		t.Errorf("started at %v, its start deadline was 02:20:00", w.Clock)
	}
}

// pausing is Step Functions whose answers to a look take time.
type pausing struct {
	machine.Runner
	after func()
}

func (p pausing) Describe(ctx context.Context, arn string) (machine.Execution, error) {
	x, err := p.Runner.Describe(ctx, arn)
	p.after()
	return x, err
}

// A start that is in time may land between a look and its answer, which a slow network or a fast
// clock puts behind the instant at which the run is given up.
func TestLookFromBeforeARunWasGivenUpProvesNothing(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	spec.Beats, spec.RenewalSeconds, spec.MaxRunSeconds, spec.MachineTimeoutSeconds, spec.DrainSeconds = false, 0, 600, 630, 300
	w.Established(spec, "01:59")
	w.At("02:00:00")
	w.Runs.FailStart = errThrottled
	_, _ = w.Deliver(spec, "2026-09-07T02:00:00Z") // it may be started until 02:01:15
	w.Runs.FailStart = nil
	row := w.Row("cleanup", "02:00")
	input, err := json.Marshal(schema.RunInput{Job: row.Job, Tick: row.Tick, Run: row.Run, Fence: row.Fence, Attempt: 1})
	must(t)(nil, err)
	w.At("02:01:12")
	e := w.Engine()
	e.Now = func() time.Time { return w.Now().Add(10 * time.Second) }
	e.Machines = pausing{w.Runs, func() {
		w.At("02:01:13")
		_ = w.Runs.Start(t.Context(), spec.Machine, row.Run, string(input)) // a second one is the same
		w.At("02:01:16")
	}}
	must(t)(nil, second(e.Release(t.Context(), "cleanup", "", "me", "why")))
	if g := w.Guard("cleanup"); g.Run == nil && g.DrainUntil == 0 {
		t.Errorf("guard %+v, row %s: the run is at work and was given up", g, w.Row("cleanup", "02:00").Outcome)
	}
}

func second(_ guard.Guard, _ bool, err error) error { return err }

// With the guard and the row of a run deleted its name is taken by a stranger that works on.
func TestStrangerOfTheSameNameIsStoppedBeforeTheGuardIsGivenOn(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	w.Tick(spec, "02:00")
	m := w.Store.Store.(*guard.Memory)
	m.Delete("cleanup", schema.GuardSK)
	m.Delete("cleanup", schema.TickSK("2026-09-07T02:00:00Z"))
	w.At("02:00:20")
	if _, err := w.Deliver(spec, "2026-09-07T02:00:00Z"); err == nil {
		t.Error("want the start refused while the stranger is being stopped")
	}
	w.At("02:00:40")
	must(t)(w.Deliver(spec, "2026-09-07T02:00:00Z"))
	w.At("02:01:00")
	w.Tick(spec, "02:01")
	if n := w.Runs.Running(); n > 1 {
		t.Errorf("%d executions run", n)
	}
	if row := w.Row("cleanup", "02:00"); row.Outcome != guard.Failed || row.Error != "Cronfence.NameUsed" {
		t.Errorf("row %+v: want it failed for the name", row)
	}
}

func TestReplaceIsAskedForAgainWhenAPauseIsOver(t *testing.T) {
	w, spec := testworld.New(t, nil), minutely(policy.Replace, func(s *schema.Spec) { s.GraceSeconds = 30 })
	w.At("02:00:00")
	w.Tick(spec, "02:00")
	w.At("02:01:00")
	w.Tick(spec, "02:01")
	w.At("02:01:10")
	must(t)(w.Engine().Pause(t.Context(), "cleanup", guard.Pause{By: "me", Why: "oops"}))
	w.At("02:01:15")
	must(t)(w.Engine().Resume(t.Context(), "cleanup"))
	if g := w.Guard("cleanup"); g.Stop == nil || g.Stop.ByTick != g.Waiting.Tick || g.StopDeadline != schema.MillisOf(w.Clock.Add(30*time.Second)) {
		t.Errorf("stop %+v until %v: want it asked again, with the whole grace time", g.Stop, g.StopDeadline)
	}
}
