// Package telemetry writes what the functions decide: one JSON line a decision, which is a
// structured log line and, where it carries metrics, one in CloudWatch embedded metric
// format (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
package telemetry

import (
	"encoding/json"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
)

// Namespace is the CloudWatch namespace of every metric.
const Namespace = "Cronfence"

// Dimensions is the one dimension set of every metric of a job.
var Dimensions = []string{"Scheduler", "Job"}

// The metrics of a job. The first five count, RunTime and Overdue are in seconds, Ratio has
// no unit.
const (
	Succeeded = "Succeeded"
	Failed    = "Failed"  // with every success a 0: an alarm on it ends with the next success, not with silence
	Skipped   = "Skipped" // but not because the job is paused; 0 for a tick that is let in: it ends a row of skips
	Missed    = "Missed"
	LeaseLost = "LeaseLost"
	RunTime   = "RunTime" // of runs that came to an end by themselves
	Ratio     = "Ratio"   // run time / interval; also while a run goes on
	Overdue   = "Overdue" // past the expected success; 0 in time and while paused, published by every sweep
)

// StopDenied counts runs that could not be stopped, of a whole scheduler: a metric a job
// would cost money and say nothing for years. Its one dimension set is SchedulerDimensions.
const StopDenied = "StopDenied"

// SchedulerDimensions is the one dimension set of every metric of a scheduler.
var SchedulerDimensions = []string{"Scheduler"}

// warnStopDenied is what package engine warns of then.
const warnStopDenied = "stop denied"

var units = map[string]string{
	Succeeded: "Count", Failed: "Count", Skipped: "Count", Missed: "Count", LeaseLost: "Count",
	RunTime: "Seconds", Ratio: "None", Overdue: "Seconds", StopDenied: "Count",
}

// Writer writes one line a decision. It is safe for concurrent use.
type Writer struct {
	Scheduler string
	Out       io.Writer
	Now       func() time.Time
	mu        sync.Mutex
}

// Values are metrics by name.
type Values map[string]float64

// Line writes a line. Fields and metrics may be nil; a field that is the zero value of its
// type is left out by its caller.
func (w *Writer) Line(level, msg, job string, fields map[string]any, metrics Values) {
	line := map[string]any{}
	for k, v := range fields {
		line[k] = v
	}
	now := w.Now()
	line["time"] = now.UTC().Format(time.RFC3339Nano)
	line["level"], line["msg"] = level, msg
	line["Scheduler"], line["Job"] = w.Scheduler, job
	if len(metrics) > 0 {
		line["_aws"] = directive(now, metrics)
		for name, v := range metrics {
			line[name] = v
		}
	}
	b, err := json.Marshal(line)
	if err != nil { // a field that cannot be written must not take the decision with it
		b, _ = json.Marshal(map[string]any{"level": "ERROR", "msg": "write log line: " + err.Error(), "Job": job})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.Out.Write(append(b, '\n')) // standard output: nobody to tell if it is gone
}

type metricName struct {
	Name string
	Unit string
}

func directive(now time.Time, metrics Values) map[string]any {
	dimensions := Dimensions
	if _, ofScheduler := metrics[StopDenied]; ofScheduler {
		dimensions = SchedulerDimensions
	}
	names := make([]metricName, 0, len(metrics))
	for name := range metrics {
		names = append(names, metricName{name, units[name]})
	}
	return map[string]any{
		"Timestamp": now.UnixMilli(),
		"CloudWatchMetrics": []any{map[string]any{
			"Namespace": Namespace, "Dimensions": [][]string{dimensions}, "Metrics": names,
		}},
	}
}

// Ended writes the line of a tick that came to its final outcome.
func (w *Writer) Ended(row guard.Row) {
	w.Line(levelOf(row.Outcome), "outcome", row.Job, RowFields(row), MetricsOf(row))
}

// Lost writes the line of an attempt that was lost and is followed by another: no outcome
// yet, but a lost lease all the same.
func (w *Writer) Lost(row guard.Row) {
	var metrics Values
	if row.Outcome == guard.LeaseLost {
		metrics = Values{LeaseLost: 1}
	}
	w.Line("ERROR", "attempt lost, tried again", row.Job, RowFields(row), metrics)
}

// Missed writes the line of ticks that never came.
func (w *Writer) Missed(gap guard.Gap) {
	w.Line("ERROR", "ticks missed", gap.Job, map[string]any{
		"tick": gap.To.String(), "outcome": guard.Missed, "why": gap.String(), "from": gap.From.String(), "to": gap.To.String(), "count": gap.Count,
	}, Values{Missed: float64(gap.Count)})
}

// Given writes the line of a run that was given the guard behind another, or another attempt:
// it has no outcome yet.
func (w *Writer) Given(row guard.Row) {
	w.Line("INFO", "given the guard", row.Job, RowFields(row), nil)
}

// Going writes the line of a run that goes on beside others. No heartbeat and no guard tells of it.
func (w *Writer) Going(row guard.Row) {
	metrics := Values{}
	RunningRatio(metrics, w.Now().Sub(row.ClaimedAt.Time()), time.Duration(row.Interval)*time.Second)
	w.Line("INFO", "going on", row.Job, RowFields(row), metrics)
}

// RunningRatio adds the ratio of a run that has not ended to metrics, unless the tick has no
// interval or the run has not begun.
func RunningRatio(metrics Values, took, interval time.Duration) {
	if interval > 0 && took > 0 {
		metrics[Ratio] = math.Round(took.Seconds()/interval.Seconds()*1e4) / 1e4
	}
}

// Warn writes what needs a person although no call failed.
func (w *Writer) Warn(job, run, what string, err error) {
	f := map[string]any{"run": run}
	if err != nil {
		f["error"] = err.Error()
	}
	var metrics Values
	if what == warnStopDenied {
		metrics = Values{StopDenied: 1}
	}
	w.Line("ERROR", what, job, f, metrics)
}

func levelOf(o guard.Outcome) string {
	switch o {
	case guard.Failed, guard.TimedOut, guard.Aborted, guard.LeaseLost, guard.Abandoned:
		return "ERROR"
	default:
		return "INFO"
	}
}

// MetricsOf returns the metric points of a final outcome. A skip is neither a success nor a
// failure and has no run time.
func MetricsOf(row guard.Row) Values {
	v := Values{}
	switch row.Outcome {
	case guard.Succeeded:
		v[Succeeded], v[Failed] = 1, 0
	case guard.Failed, guard.TimedOut, guard.Aborted:
		v[Failed] = 1
	case guard.Skipped:
		if !strings.HasPrefix(row.Why, guard.WhyPaused) { // asked for: three in a row are no news
			v[Skipped] = 1
		}
	case guard.Expired, guard.Abandoned, guard.Missed:
		v[Missed] = 1
	case guard.LeaseLost:
		v[LeaseLost], v[Failed] = 1, 1
	default: // replaced or coalesced: another tick stands for it
	}
	ended := row.Outcome == guard.Succeeded || row.Outcome == guard.Failed || row.Outcome == guard.TimedOut // others were cut short
	if ended && row.StartedAt != 0 {
		v[RunTime] = row.RunTimeDuration().Seconds()
		if row.Interval > 0 {
			v[Ratio] = row.Ratio
		}
	}
	return v
}

// RowFields returns the fields of a row that a log line shows.
func RowFields(row guard.Row) map[string]any {
	f := map[string]any{"tick": row.Tick, "outcome": row.Outcome}
	for name, v := range map[string]string{"why": row.Why, "run": row.Run, "error": row.Error, "cause": row.Cause} {
		if v != "" {
			f[name] = v
		}
	}
	if row.Fence != 0 {
		f["fence"], f["attempt"] = row.Fence, row.Attempt
	}
	if row.Holder != nil {
		f["holder"] = row.Holder
	}
	if row.StartedAt != 0 {
		f["runTimeSeconds"] = row.RunTimeDuration().Seconds()
	}
	return f
}
