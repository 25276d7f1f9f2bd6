package heartbeat_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// typeOf is the name under which Step Functions sees the error, "" for one to be retried.
func typeOf(err error) string {
	if typed, ok := err.(messages.InvokeResponse_Error); ok { //nolint:errorlint // the plain value is what counts
		return typed.Type
	}
	return ""
}

func TestRunThatBeatsIsNeverTakenOver(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	r := w.Tick(spec, "02:00")
	for range 40 { // twenty minutes
		w.Clock = w.Clock.Add(30 * time.Second)
		if err := w.Beat(r); err != nil {
			t.Fatalf("%v: %v", w.Clock, err)
		}
		if w.Clock.Second() == 0 {
			if skip := w.Tick(spec, w.Clock.Format("15:04")); skip.Result != "Skipped" {
				t.Fatalf("%v: %+v", w.Clock, skip)
			}
		}
	}
	if g := w.Guard("cleanup"); g.Fence != r.Fence {
		t.Errorf("fence %d, want %d: a renewal leaves it", g.Fence, r.Fence)
	}
}

func TestLateBeatIsFineIfNobodyTookTheGuard(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	r := w.Tick(spec, "02:00")
	w.At("02:03:48") // 1.9 leases
	if err := w.Beat(r); err != nil {
		t.Errorf("late beat: %v", err)
	}
}

func TestRunThatSleptPastItsLeaseLearnsIt(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	first := w.Tick(spec, "02:00")
	w.At("02:03:00")
	second := w.Tick(spec, "02:03") // looks, marks, stops, takes over
	if !second.Started {
		t.Fatalf("%+v: want the silent holder taken over", second)
	}
	w.At("02:03:30")
	if _, err := w.Succeed(second); err != nil {
		t.Fatal(err)
	}
	before := w.Guard("cleanup")
	if err := w.Beat(first); typeOf(err) != schema.ErrorLeaseLost {
		t.Errorf("beat on a free guard: %v, want %s", err, schema.ErrorLeaseLost)
	}
	if g := w.Guard("cleanup"); g.Version != before.Version || g.Run != nil {
		t.Errorf("guard %+v: a refused beat must not acquire it", g)
	}
	if row := w.Row("cleanup", "02:00"); row.Outcome != guard.LeaseLost {
		t.Errorf("row %+v: want LeaseLost", row)
	}
}

func TestMarkedRunCannotRenewButItsOwnEndStillCounts(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	r := w.Tick(spec, "02:00")
	w.Runs.FailStop = errors.New("AccessDeniedException")
	w.At("02:03:00")
	if skip := w.Tick(spec, "02:03"); skip.Result != "Skipped" || w.Runs.Started != 1 {
		t.Fatalf("%+v: a holder that cannot be stopped keeps its place", skip)
	}
	if w.Lines(`"msg":"stop denied"`) != 1 || w.Lines(`"StopDenied":1`) != 1 {
		t.Error("a denied stop must be warned of and counted")
	}
	if err := w.Beat(r); typeOf(err) != schema.ErrorLeaseLost {
		t.Errorf("beat of a marked run: %v, want %s", err, schema.ErrorLeaseLost)
	}
	if got, err := w.Succeed(r); err != nil || got.Outcome != guard.Succeeded {
		t.Errorf("%+v, %v: want its own success on record", got, err)
	}
}

func TestBeatPastTheMaximumRunTimeEndsTheRun(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	spec.MaxRunSeconds = 60
	w.At("02:00:00")
	r := w.Tick(spec, "02:00")
	w.At("02:02:20") // the start may take until 02:01:20
	if err := w.Beat(r); typeOf(err) != schema.ErrorMaxRunTime {
		t.Errorf("%v, want %s", err, schema.ErrorMaxRunTime)
	}
}

func TestBeatOfARunThatIsEndingIsNoLostLease(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	r := w.Tick(spec, "02:00")
	if _, err := w.Succeed(r); err != nil {
		t.Fatal(err)
	}
	w.At("02:00:30")
	if err := w.Beat(r); err != nil {
		t.Errorf("beat behind the end: %v", err)
	}
}

func TestRepeatedBeatMeetsItsOwnWrite(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	r := w.Tick(spec, "02:00")
	w.At("02:00:30")
	for range 2 { // the same instant: the second finds its lease as it wants it
		if err := w.Beat(r); err != nil {
			t.Errorf("beat: %v", err)
		}
	}
}

func TestThrottledBeatIsNoLostLease(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	r := w.Tick(spec, "02:00")
	w.Store.Fail = func(guard.Commit) error { return guard.ErrBusy }
	w.At("02:00:30")
	if err := w.Beat(r); err == nil || typeOf(err) != "" {
		t.Errorf("%v: want a plain error, which the state machine retries", err)
	}
	w.Store.Fail = nil
	w.At("02:00:45")
	if err := w.Beat(r); err != nil {
		t.Errorf("beat after the throttling: %v", err)
	}
}

func TestHungRunShowsItsRatioWhileItRuns(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	r := w.Tick(spec, "02:00")
	w.At("02:00:30")
	if err := w.Beat(r); err != nil {
		t.Fatal(err)
	}
	if w.Lines(`"Ratio":1`) != 1 || w.Lines(`"RunTime":`) != 0 {
		t.Error("want a ratio of 1 and no run time while the run goes on")
	}
}

func TestHolderThatEndedUnseenIsSettledWithItsTrueOutcome(t *testing.T) {
	for status, want := range map[machine.Status]guard.Outcome{
		machine.Succeeded: guard.Succeeded, machine.Aborted: guard.Aborted, machine.TimedOut: guard.TimedOut,
	} {
		w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
		w.At("02:00:00")
		r := w.Tick(spec, "02:00")
		w.At("02:00:30")
		w.Runs.End(r.Run, status, "")
		w.At("02:03:00")
		if next := w.Tick(spec, "02:03"); !next.Started || w.Runs.Stops != 0 {
			t.Errorf("%s: next %+v after %d stops: want it started without one", status, next, w.Runs.Stops)
		}
		if row := w.Row("cleanup", "02:00"); row.Outcome != want || row.RunTime != 30_000 {
			t.Errorf("%s: row %+v, want %s after 30 s", status, row, want)
		}
	}
}

func TestBeatThatIsNoneIsRefused(t *testing.T) {
	w := testworld.New(t, nil)
	for _, r := range []struct{ run, job string }{{"", "cleanup"}, {"r", ""}} {
		reply := w.Tick(testworld.Minutely("cleanup"), "00:00")
		reply.Run, reply.Job = r.run, r.job
		if err := w.Beat(reply); err == nil || typeOf(err) != "" {
			t.Errorf("beat of run %q of job %q: %v, want it refused", r.run, r.job, err)
		}
	}
}
