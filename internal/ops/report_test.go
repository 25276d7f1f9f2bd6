package ops_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/report"
	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
)

// A skip is neither a success nor a failure, and a tick that never came is no silence.
func TestSkipAndMissAreOnRecordAsWhatTheyAre(t *testing.T) {
	d, spec := newDesk(t), testworld.Spec("hourly", "cron(0 * * * ? *)")
	spec.LeaseSeconds = 3 * 3600
	d.Established(spec, "01:00")
	d.Out.Reset()
	d.At("02:00:00")
	run := d.Tick(spec, "02:00")
	d.At("03:00:00")
	if skip := d.Tick(spec, "03:00"); skip.Result != "Skipped" { // and no error, which Lambda would count
		t.Fatalf("%+v", skip)
	}
	if refused := d.run("hourly"); !refused.Refused {
		t.Errorf("run now: %+v: want it refused", refused)
	}
	d.At("03:00:30")
	if _, err := d.Succeed(run); err != nil {
		t.Fatal(err)
	}
	d.At("04:20:01") // 04:00 never came
	log := &telemetry.Writer{Scheduler: testworld.Scheduler, Out: &d.Out, Now: d.Now}
	e := *d.op.Engine
	e.Observe = log
	if err := e.SweepGuard(t.Context(), d.Guard("hourly")); err != nil {
		t.Fatal(err)
	}
	got := map[guard.Outcome]string{}
	for _, e := range d.history(ops.HistoryQuery{Job: "hourly", Since: testworld.Midnight.Add(2 * time.Hour)}) {
		if e.Kind == guard.Scheduled {
			got[e.Outcome] = e.Why
		}
	}
	if len(got) != 3 || got[guard.Skipped] != guard.WhyHeld || got[guard.Missed] != "tick 2026-09-07T04:00:00Z never came" {
		t.Errorf("history %v: want a success, a skip and a miss, with reasons", got)
	}
	for text, want := range map[string]int{`"Succeeded":1`: 1, `"Skipped":1`: 1, `"Missed":1`: 1, `"Failed":1`: 0, `"RunTime":`: 1} {
		if n := d.Lines(text); n != want {
			t.Errorf("%s: %d points, want %d", text, n, want)
		}
	}
	r, err := d.op.Report(t.Context(), ops.ReportQuery{Job: "hourly"})
	if s := r.Line.This; err != nil || s.Succeeded != 2 || s.Skipped != 2 || s.Missed != 1 || s.Failed != 0 || r.Line.Clean { // the manual run too, and 01:00
		t.Errorf("report %+v, %v", r.Line, err)
	}
}

func TestReportOfAJobThatIsLockedOutIsNotClean(t *testing.T) {
	d, spec := newDesk(t), testworld.Spec("hourly", "cron(0 * * * ? *)")
	spec.LeaseSeconds, spec.MaxRunSeconds, spec.MachineTimeoutSeconds = 14*86400, 14*86400, 14*86400
	d.Established(spec, "01:00")
	d.At("02:00:00")
	run := d.Tick(spec, "02:00")
	for range 8 * 24 {
		d.Clock = d.Clock.Add(time.Hour)
		tick, err := d.Deliver(spec, d.Clock.Format(time.RFC3339))
		if err != nil || tick.Result != "Skipped" {
			t.Fatalf("%v: %+v, %v", d.Clock, tick, err)
		}
	}
	for _, full := range []bool{false, true} {
		r, err := d.op.Report(t.Context(), ops.ReportQuery{Job: "hourly", Full: full})
		if err != nil {
			t.Fatal(err)
		}
		if r.Line.Clean || !full && !slices.Contains(r.Line.Findings, report.NoSuccess) || !slices.Contains(r.Line.Findings, report.Overlaps) {
			t.Errorf("full week %v: %s\nrun %s: want it locked out", full, r.Line.Text, run.Run)
		}
	}
}

// Its ticks stopped coming and nobody recorded them: a job of one tick a week too.
func TestReportOfAJobWithoutItsPlannedTicksIsNotClean(t *testing.T) {
	d, spec := newDesk(t), testworld.Spec("weekly", "cron(0 3 ? * MON *)")
	d.Established(spec, "03:00")
	for after, want := range map[time.Duration]bool{
		7*24*time.Hour + 2*time.Hour:                        false, // of this week's tick it is not time yet
		7*24*time.Hour + 3*time.Hour + spec.Window()/2:      false, // it may still come
		7*24*time.Hour + 3*time.Hour + spec.Window() + 1e9:  true,
		14*24*time.Hour + 3*time.Hour + spec.Window() + 1e9: true, // and nothing of the week before
	} {
		d.Clock = testworld.Midnight.Add(after)
		r, err := d.op.Report(t.Context(), ops.ReportQuery{Job: "weekly"})
		if err != nil || slices.Contains(r.Line.Findings, report.Silent) != want || want && r.Line.Empty() {
			t.Errorf("after %v: %v, %v: want it silent: %v", after, r.Line, err, want)
		}
	}
}

func TestReportOfAnUnknownJobIsAnError(t *testing.T) {
	if _, err := newDesk(t).op.Report(t.Context(), ops.ReportQuery{Job: "nope"}); err == nil {
		t.Error("want an error")
	}
}
