package sentinel_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/policy"
)

// points reads a metric's points from the log, in order.
func (r *rig) points(metric string) []float64 {
	r.t.Helper()
	var points []float64
	for line := range bytes.Lines(r.Out.Bytes()) {
		l := map[string]any{}
		if err := json.Unmarshal(line, &l); err != nil {
			r.t.Fatal(err)
		}
		if v, there := l[metric].(float64); there && l["_aws"] != nil {
			points = append(points, v)
		}
	}
	return points
}

// A hung run never makes a point of its own: the sweep makes it.
func TestHungRunShowsWhileItRunsAndItsRunTimeOnce(t *testing.T) {
	for name, beats := range map[string]bool{"heartbeat frozen": true, "without beats": false} {
		t.Run(name, func(t *testing.T) {
			spec := testworld.Spec("hourly", "cron(0 * * * ? *)")
			spec.Beats, spec.MaxRunSeconds, spec.MachineTimeoutSeconds = beats, 3*3600, 3*3600+60
			r := newRig(t, deploy(spec))
			r.Established(spec, "01:00")
			r.Out.Reset()
			r.At("02:00:00")
			run := r.Tick(spec, "02:00")
			r.Runs.Deaf = true // nor can it be stopped
			for at := r.Now().Add(time.Minute); at.Before(testworld.Midnight.Add(3*time.Hour + time.Second)); at = at.Add(time.Minute) {
				r.sweep(at.Format(time.TimeOnly))
			}
			r.Tick(spec, "03:00")
			ratios := r.points(telemetry.Ratio)
			if n := len(ratios); n != 60 || ratios[29] != 0.5 || ratios[n-1] != 1 {
				t.Fatalf("ratios %v: want one a minute, up to 1.0 at 03:00", ratios)
			}
			if got := r.points(telemetry.RunTime); len(got) != 0 {
				t.Errorf("run times %v: want none of a run that goes on, nor of a skip", got)
			}
			if got := r.points(telemetry.Skipped); len(got) != 2 || got[0] != 0 || got[1] != 1 {
				t.Errorf("skips %v: want 0 of the tick that was let in, 1 of the skip", got)
			}
			r.At("03:10:00")
			r.Runs.End(run.Run, machine.TimedOut, "")
			for range 2 { // told twice
				if _, err := r.Settle(r.StatusEvent(run.Run)); err != nil {
					t.Fatal(err)
				}
			}
			r.sweep("03:11:00")
			if got := r.points(telemetry.RunTime); len(got) != 1 || got[0] != 70*60 {
				t.Errorf("run times %v: want one, 70 minutes", got)
			}
			if got := r.points(telemetry.Ratio); len(got) != len(ratios)+1 {
				t.Errorf("%d ratios after the end: want the final one and no more", len(got)-len(ratios))
			}
		})
	}
}

func TestRunsBesideEachOtherShowToo(t *testing.T) {
	spec := testworld.Spec("report", "cron(0/10 * * * ? *)")
	spec.Overlap, spec.Beats, spec.MaxRunSeconds, spec.MachineTimeoutSeconds = policy.Allow, false, 7200, 7260
	r := newRig(t, deploy(spec))
	r.Established(spec, "01:50")
	r.Out.Reset()
	r.At("02:00:00")
	r.Tick(spec, "02:00")
	r.At("02:10:00")
	r.Tick(spec, "02:10")
	r.sweep("02:15:00")
	if got := r.points(telemetry.Ratio); len(got) != 2 || got[0] != 1.5 || got[1] != 0.5 {
		t.Errorf("ratios %v: want those of both runs", got)
	}
}

func TestLeaseAgeGrowsUntilTheNextBeat(t *testing.T) {
	spec := testworld.Minutely("cleanup")
	r := newRig(t, deploy(spec))
	r.Established(spec, "01:59")
	r.At("02:00:00")
	run := r.Tick(spec, "02:00")
	for _, step := range []struct {
		clock string
		beat  bool
		want  time.Duration
	}{{"02:00:20", false, 20 * time.Second}, {"02:00:45", true, 15 * time.Second}, {"02:01:50", false, 80 * time.Second}} {
		if step.beat {
			r.At("02:00:30")
			if err := r.Beat(run); err != nil {
				t.Fatal(err)
			}
		}
		r.Out.Reset()
		r.sweep(step.clock)
		var l struct{ LeaseAgeSeconds float64 }
		first, _, _ := bytes.Cut(r.Out.Bytes(), []byte("\n"))
		if err := json.Unmarshal(first, &l); err != nil || l.LeaseAgeSeconds != step.want.Seconds() {
			t.Errorf("%s: lease age %v, %v: want %v", step.clock, l.LeaseAgeSeconds, err, step.want)
		}
	}
}

// A manual run's interval is the one it falls into, as on its row.
func TestRunningRatioOfAManualRunIsThatOfItsRow(t *testing.T) {
	spec := testworld.Spec("hourly", "cron(0 * * * ? *)")
	r := newRig(t, deploy(spec))
	r.Established(spec, "01:00")
	r.Out.Reset()
	r.At("01:30:00")
	res := r.Run("hourly", nil)
	r.sweep("02:00:00")
	if got := r.points(telemetry.Ratio); len(got) != 1 || got[0] != 0.5 || res.Row.Interval != 3600 {
		t.Errorf("ratio %v, row %+v: want 0.5 of an hour", got, res.Row)
	}
}

// The work of the attempt before may be going on until the next one starts.
func TestAnotherAttemptCountsFromWhenItMayStart(t *testing.T) {
	g := guard.Guard{Run: &guard.RunRef{At: 1_000_000}, StartBy: 1_000_000}
	spec := testworld.Minutely("job")
	g.Spec, g.StartBy = &spec, g.Run.At.Add(5*time.Minute+80*time.Second)
	if got := g.RunsFrom(); got != g.Run.At.Add(5*time.Minute) {
		t.Errorf("runs from %v: want five minutes after %v", got, g.Run.At)
	}
}
