package telemetry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/pkg/guard"
)

var at = time.Date(2026, 9, 7, 2, 0, 0, 0, time.UTC)

func write(t *testing.T, do func(*telemetry.Writer)) map[string]any {
	t.Helper()
	var out bytes.Buffer
	do(&telemetry.Writer{Scheduler: "shop", Out: &out, Now: func() time.Time { return at }})
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Fatalf("%d lines, want 1:\n%s", n, out.String())
	}
	line := map[string]any{}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	return line
}

func run(o guard.Outcome) guard.Row {
	return guard.Row{
		Job: "cleanup", Tick: "2026-09-07T02:00:00Z", Outcome: o, Run: "r", Fence: 7, Attempt: 1,
		StartedAt: 1, EndedAt: 45_001, RunTime: 45_000, Interval: 60, Ratio: 0.75,
	}
}

func TestOutcomeIsOneLineOfLogAndMetrics(t *testing.T) {
	line := write(t, func(w *telemetry.Writer) { w.Ended(run(guard.Succeeded)) })
	directives := line["_aws"].(map[string]any)
	if ms := directives["Timestamp"].(float64); ms != float64(at.UnixMilli()) {
		t.Errorf("timestamp %v: want milliseconds", ms)
	}
	d := directives["CloudWatchMetrics"].([]any)[0].(map[string]any)
	if diff := cmp.Diff([]any{[]any{"Scheduler", "Job"}}, d["Dimensions"]); diff != "" || d["Namespace"] != "Cronfence" {
		t.Errorf("namespace %v, dimensions:\n%s", d["Namespace"], diff)
	}
	for _, m := range d["Metrics"].([]any) { // each has a value and each dimension a name
		if name := m.(map[string]any)["Name"].(string); line[name] == nil || m.(map[string]any)["Unit"] == "" {
			t.Errorf("metric %s: value %v, unit %v", name, line[name], m.(map[string]any)["Unit"])
		}
	}
	for field, want := range map[string]any{
		"Scheduler": "shop", "Job": "cleanup", "tick": "2026-09-07T02:00:00Z", "outcome": "Succeeded", "level": "INFO",
		"Succeeded": 1.0, "RunTime": 45.0, "Ratio": 0.75, "run": "r", "fence": 7.0,
	} {
		if line[field] != want {
			t.Errorf("%s: %v, want %v", field, line[field], want)
		}
	}
}

func TestEachOutcomeCountsAsWhatItIs(t *testing.T) {
	timed := telemetry.Values{telemetry.RunTime: 45, telemetry.Ratio: 0.75}
	for o, want := range map[guard.Outcome]telemetry.Values{
		guard.Succeeded: {telemetry.Succeeded: 1, telemetry.Failed: 0}, guard.Failed: {telemetry.Failed: 1}, guard.TimedOut: {telemetry.Failed: 1},
		guard.Aborted: {telemetry.Failed: 1}, guard.LeaseLost: {telemetry.LeaseLost: 1, telemetry.Failed: 1},
		guard.Skipped: {telemetry.Skipped: 1}, guard.Expired: {telemetry.Missed: 1}, guard.Abandoned: {telemetry.Missed: 1},
		guard.Coalesced: {}, guard.Replaced: {}, guard.Running: {}, guard.Queued: {},
	} {
		if o == guard.Succeeded || o == guard.Failed || o == guard.TimedOut { // the others were cut short
			for name, v := range timed {
				want[name] = v
			}
		}
		if diff := cmp.Diff(want, telemetry.MetricsOf(run(o))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", o, diff)
		}
	}
}

func TestSkipOfAPausedJobIsNoMetric(t *testing.T) {
	row := guard.Row{Job: "cleanup", Outcome: guard.Skipped, Why: guard.WhyPaused + ": migration"}
	if got := telemetry.MetricsOf(row); len(got) != 0 {
		t.Errorf("%v: want none: somebody asked for it", got)
	}
}

func TestSkipHasNoRunTimeAndNamesTheHolder(t *testing.T) {
	row := guard.Row{Job: "cleanup", Outcome: guard.Skipped, Why: guard.WhyHeld, Holder: &guard.Holder{Run: "r", HeldFor: 60_000}}
	line := write(t, func(w *telemetry.Writer) { w.Ended(row) })
	if line["RunTime"] != nil || line["Ratio"] != nil || line["Failed"] != nil || line["Skipped"] != 1.0 || line["level"] != "INFO" {
		t.Errorf("line %v: want a skip, which is neither an error nor a success", line)
	}
	if h, _ := line["holder"].(map[string]any); h["run"] != "r" || h["heldFor"] != 60_000.0 {
		t.Errorf("holder %v: want who and for how long", line["holder"])
	}
}

func TestRunWithoutAnIntervalHasNoRatio(t *testing.T) {
	row := run(guard.Succeeded)
	row.Interval, row.Ratio = 0, 0
	if v, there := telemetry.MetricsOf(row)[telemetry.Ratio]; there {
		t.Errorf("ratio %v of a run with no next tick", v)
	}
}

func TestAttemptThatIsFollowedByAnotherCountsAsALostLeaseOnly(t *testing.T) {
	line := write(t, func(w *telemetry.Writer) { w.Lost(run(guard.LeaseLost)) })
	if line["LeaseLost"] != 1.0 || line["Failed"] != nil || line["RunTime"] != nil {
		t.Errorf("line %v: want LeaseLost alone", line)
	}
	if line := write(t, func(w *telemetry.Writer) { w.Lost(run(guard.Abandoned)) }); line["_aws"] != nil {
		t.Errorf("line %v: want no metric", line)
	}
}

func TestMissedTicksAreCounted(t *testing.T) {
	gap := guard.Gap{Job: "cleanup", From: guard.Millis(at.UnixMilli()), To: guard.Millis(at.Add(2 * time.Hour).UnixMilli()), Count: 120}
	line := write(t, func(w *telemetry.Writer) { w.Missed(gap) })
	if line["Missed"] != 120.0 || line["from"] != "2026-09-07T02:00:00Z" || line["level"] != "ERROR" {
		t.Errorf("line %v", line)
	}
}

func TestWarningIsNoMetric(t *testing.T) {
	line := write(t, func(w *telemetry.Writer) { w.Warn("cleanup", "r", "not started yet", errors.New("AccessDenied")) })
	if line["_aws"] != nil || line["error"] != "AccessDenied" || line["msg"] != "not started yet" {
		t.Errorf("line %v", line)
	}
}

func TestDeniedStopCountsForTheWholeScheduler(t *testing.T) {
	line := write(t, func(w *telemetry.Writer) { w.Warn("cleanup", "r", "stop denied", errors.New("AccessDenied")) })
	b, _ := json.Marshal(line["_aws"])
	if line[telemetry.StopDenied] != 1.0 || !strings.Contains(string(b), `"Dimensions":[["Scheduler"]]`) || line["Job"] != "cleanup" {
		t.Errorf("line %v: want a metric of the scheduler, and the job as a field", line)
	}
}

func TestFieldThatCannotBeWrittenDoesNotTakeTheLineWithIt(t *testing.T) {
	line := write(t, func(w *telemetry.Writer) {
		w.Line("INFO", "m", "cleanup", map[string]any{"f": func() {}}, nil)
	})
	if line["Job"] != "cleanup" || line["level"] != "ERROR" {
		t.Errorf("line %v", line)
	}
}
