package settle_test

import (
	"strings"
	"testing"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestEndFreesTheGuardAndKeepsItsFence(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	r := w.Tick(spec, "02:00")
	w.At("02:00:45")
	if _, err := w.Succeed(r); err != nil {
		t.Fatal(err)
	}
	g, row := w.Guard("cleanup"), w.Row("cleanup", "02:00")
	if g.Run != nil || g.Fence != r.Fence || g.DrainUntil != 0 {
		t.Errorf("guard %+v: want it free at once, fence kept", g)
	}
	if row.Outcome != guard.Succeeded || row.RunTime != 45_000 || row.Ratio != 0.75 || row.TTL == 0 {
		t.Errorf("row %+v: want Succeeded, 45 s, three quarters of its interval", row)
	}
	if w.Lines(`"Succeeded":1`) != 1 || w.Lines(`"RunTime":45`) != 1 || w.Lines(`"Ratio":0.75`) != 1 {
		t.Error("want one point each of Succeeded, RunTime and Ratio")
	}
}

func TestEndReportedTwiceAndLateHasOneEffect(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	first := w.Tick(spec, "02:00")
	w.At("02:00:45")
	if _, err := w.Succeed(first); err != nil {
		t.Fatal(err)
	}
	w.Runs.End(first.Run, machine.Succeeded, "")
	w.At("02:01:00")
	second := w.Tick(spec, "02:01")
	before := w.Guard("cleanup")
	w.At("02:01:10")
	again, err := w.Succeed(first)
	if err != nil || again.Changed {
		t.Errorf("%+v, %v: want no change", again, err)
	}
	if late, err := w.Settle(w.StatusEvent(first.Run)); err != nil || late.Changed {
		t.Errorf("%+v, %v: want no change", late, err)
	}
	if g := w.Guard("cleanup"); g.Version != before.Version || g.Run == nil || g.Run.ID != second.Run {
		t.Errorf("guard %+v: it is the second run's and was not touched", g)
	}
	if n := w.Lines(`"Succeeded":1`); n != 1 {
		t.Errorf("%d success points, want 1", n)
	}
}

func TestRunThatLostItsGuardFreesNothingWhenItEnds(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	first := w.Tick(spec, "02:00")
	w.Runs.End(first.Run, machine.Aborted, "")
	w.At("02:06:00") // the lease is long over
	second := w.Tick(spec, "02:06")
	if !second.Started {
		t.Fatalf("%+v: want the dead holder taken over", second)
	}
	w.At("02:07:00")
	late, err := w.Fail(first, "Boom", "")
	if err != nil || late.Changed {
		t.Errorf("%+v, %v: want the late end to change nothing", late, err)
	}
	w.At("02:08:00")
	if r := w.Tick(spec, "02:08"); r.Result != "Skipped" || r.Holder.Run != second.Run {
		t.Errorf("%+v: want it skipped, held by %s", r, second.Run)
	}
}

func TestSuccessIsNotOverwrittenByAStranger(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	r := w.Tick(spec, "02:00")
	w.At("02:00:10")
	if _, err := w.Succeed(r); err != nil {
		t.Fatal(err)
	}
	for _, fence := range []int64{r.Fence - 1, r.Fence + 1} {
		stranger := r
		stranger.Fence = fence
		if got, err := w.Fail(stranger, "Boom", ""); err != nil || got.Changed {
			t.Errorf("fence %d: %+v, %v: want no change", fence, got, err)
		}
	}
	if row := w.Row("cleanup", "02:00"); row.Outcome != guard.Succeeded {
		t.Errorf("row %+v: want it Succeeded still", row)
	}
}

func TestEndsThatNoStateMachineCatchesAreSettledByTheStatusEvent(t *testing.T) {
	for _, c := range []struct {
		status machine.Status
		name   string
		want   guard.Outcome
		drains bool
	}{
		{machine.Aborted, "", guard.Aborted, true},
		{machine.TimedOut, "", guard.TimedOut, true},
		{machine.Failed, "States.Runtime", guard.Failed, true},
		{machine.Failed, "States.DataLimitExceeded", guard.Failed, true},
		{machine.Succeeded, "", guard.Succeeded, false},
	} {
		w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
		spec.DrainSeconds = 300
		w.At("02:00:00")
		r := w.Tick(spec, "02:00")
		w.At("02:00:40")
		w.Runs.End(r.Run, c.status, c.name)
		w.At("02:00:50")
		if got, err := w.Settle(w.StatusEvent(r.Run)); err != nil || !got.Changed {
			t.Fatalf("%s %s: %+v, %v", c.status, c.name, got, err)
		}
		g, row := w.Guard("cleanup"), w.Row("cleanup", "02:00")
		if row.Outcome != c.want || row.RunTime != 40_000 || g.Run != nil {
			t.Errorf("%s %s: row %+v, guard %+v: want %s after 40 s and the guard released", c.status, c.name, row, g, c.want)
		}
		if want := schema.MillisOf(w.At("02:05:40")); c.drains && g.DrainUntil != want {
			t.Errorf("%s %s: drains until %v, want %v: a stopped Lambda may work on until its own timeout", c.status, c.name, g.DrainUntil, want)
		}
		if !c.drains && g.DrainUntil != 0 {
			t.Errorf("%s: drains until %v: the work is over", c.status, g.DrainUntil)
		}
	}
}

func TestDrainingGuardSkipsUntilTheWorkIsOver(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	spec.DrainSeconds = 120
	w.At("02:00:00")
	r := w.Tick(spec, "02:00")
	w.At("02:00:30")
	if _, err := w.Fail(r, "States.Timeout", ""); err != nil {
		t.Fatal(err)
	}
	w.At("02:01:00")
	if skip := w.Tick(spec, "02:01"); skip.Result != "Skipped" || !skip.Holder.Draining || skip.Holder.Run != r.Run {
		t.Errorf("%+v: want it skipped for what may still be going on", skip)
	}
	w.At("02:03:00")
	if next := w.Tick(spec, "02:03"); !next.Started {
		t.Errorf("%+v: want it started once the drain is over", next)
	}
}

func TestTaskThatReturnedItsOwnErrorDoesNotDrain(t *testing.T) {
	for name, drains := range map[string]bool{
		"OrderMissing": false, "errorString": false,
		"States.Timeout": true, "States.TaskFailed": true, "Lambda.Unknown": true, "Lambda.ServiceException": true,
		"Runtime.ExitError": true, "Sandbox.Timedout": true, "Cronfence.LeaseLost": true, "": true,
	} {
		w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
		spec.DrainSeconds = 300
		w.At("02:00:00")
		r := w.Tick(spec, "02:00")
		w.At("02:00:10")
		if _, err := w.Fail(r, name, "why"); err != nil {
			t.Fatal(err)
		}
		if got := w.Guard("cleanup").DrainUntil != 0; got != drains {
			t.Errorf("error %q: drains %v, want %v", name, got, drains)
		}
	}
}

func TestErrorNamesBecomeOutcomes(t *testing.T) {
	for name, want := range map[string]guard.Outcome{
		"States.Timeout": guard.TimedOut, "Cronfence.MaxRunTime": guard.TimedOut, "Cronfence.Stop": guard.Replaced,
		"Cronfence.LeaseLost": guard.LeaseLost, "Boom": guard.Failed,
	} {
		w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
		w.At("02:00:00")
		r := w.Tick(spec, "02:00")
		if _, err := w.Fail(r, name, strings.Repeat("é", 2000)); err != nil {
			t.Fatal(err)
		}
		row := w.Row("cleanup", "02:00")
		if row.Outcome != want || row.Error != name || len(row.Cause) > guard.MaxCause {
			t.Errorf("error %q: row %s %q with %d bytes of cause, want %s and at most %d", name, row.Outcome, row.Error, len(row.Cause), want, guard.MaxCause)
		}
	}
}

func TestEventThatIsNoEndIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ event, want string }{
		"not JSON":             {`x`, "read end of run"},
		"another event":        {`{"detail-type":"EC2 Instance State-change Notification"}`, "detail-type"},
		"no status":            {`{"job":"cleanup","run":"r","fence":1}`, `status ""`},
		"failure without end":  {`{"job":"cleanup","run":"r","fence":1,"status":"failed"}`, "must say how it ended"},
		"no run":               {`{"job":"cleanup","fence":1,"status":"succeeded"}`, `run ""`},
		"no fence":             {`{"job":"cleanup","run":"r","status":"succeeded"}`, "fence 0"},
		"no job":               {`{"run":"r","fence":1,"status":"succeeded"}`, `job name ""`},
		"no ARN":               {`{"detail-type":"Step Functions Execution Status Change","detail":{"status":"ABORTED"}}`, "execution ARN"},
		"another's machine":    {`{"detail-type":"Step Functions Execution Status Change","detail":{"executionArn":"arn:aws:states:r:a:execution:prod_cleanup:r","status":"ABORTED","input":"{}"}}`, "scheduler test"},
		"input that is no run": {`{"detail-type":"Step Functions Execution Status Change","detail":{"executionArn":"arn:aws:states:r:a:execution:test_cleanup:r","status":"ABORTED","input":"{}"}}`, "not a run of job cleanup"},
	} {
		w := testworld.New(t, nil)
		if _, err := w.Settle(c.event); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.want)
		}
		if w.Store.Commits != 0 {
			t.Errorf("%s: %d commits of a bad event", name, w.Store.Commits)
		}
	}
}

// Nearly every event is of a run whose machine has put its success on record: it costs no request.
func TestStatusEventOfARunThatSettledItselfAsksNobody(t *testing.T) {
	for output, want := range map[string]bool{ // whether the event settles
		`{"run":"r"}`:                           false,
		`{"run":"r","unsettled":{"Error":"E"}}`: true,
		``:                                      true, // it was too long
		`null`:                                  true,
		`"somebody else's"`:                     true,
	} {
		w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
		w.At("02:00:00")
		r := w.Tick(spec, "02:00")
		w.Runs.End(r.Run, machine.Succeeded, "")
		w.At("02:00:45")
		event := w.StatusEvent(r.Run)
		event.Detail.Output = output
		w.Store.Reset()
		got, err := w.Settle(event)
		if err != nil || got.Changed != want || got.Outcome != guard.Succeeded {
			t.Errorf("output %q: %+v, %v; want changed %v", output, got, err, want)
		}
		if asked := w.Store.Reset(); asked > 0 != want {
			t.Errorf("output %q: %d requests", output, asked)
		}
	}
}
