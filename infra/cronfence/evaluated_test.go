package cronfence_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/alarmtest"
	"github.com/cronfence/cronfence/internal/telemetry"
)

// evaluated runs a template's alarms over points and tells what is on at an instant.
func evaluated(t *testing.T, tpl template, points []alarmtest.Point, to time.Time) func(at time.Time) string {
	t.Helper()
	text, err := os.ReadFile(tpl.file)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := alarmtest.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	alarms, err := loaded.Alarms()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(points, func(a, b alarmtest.Point) int { return a.At.Compare(b.At) })
	changes := alarmtest.Evaluate(alarms, points, start, to, alarmtest.Extra)
	return func(at time.Time) string {
		var on []string
		for _, name := range alarmtest.InAlarmAt(changes, at) {
			if !strings.Contains(name, "silent-sentinel") { // no points of Lambda here
				on = append(on, name)
			}
		}
		return strings.Join(on, " ")
	}
}

// Each job is a contributor from its first point on; one that is no longer there for three
// hours is well.
func TestSharedAlarmsGoOffByJob(t *testing.T) {
	minute := func(n int) time.Time { return start.Add(time.Duration(n)*time.Minute + 30*time.Second) }
	point := func(job, metric string, n int, v float64) alarmtest.Point {
		return alarmtest.Point{
			Namespace: telemetry.Namespace, Metric: metric, At: minute(n), Value: v,
			Dimensions: map[string]string{"Scheduler": "shared", "Job": job},
		}
	}
	var points []alarmtest.Point
	for n := range 6 * 60 {
		points = append(points, point("one", telemetry.Overdue, n, 0))
		if n >= 60 { // a new job, whose success is overdue from 01:40 to 02:00
			points = append(points, point("two", telemetry.Overdue, n, map[bool]float64{true: 60}[n >= 100 && n < 120]))
		}
		if n >= 200 && n < 260 { // runs of one grow to three intervals
			points = append(points, point("one", telemetry.Ratio, n, float64(n-200)*0.06))
		}
	}
	points = append(points, point("one", telemetry.Failed, 10, 1), point("one", telemetry.LeaseLost, 10, 1))
	on := evaluated(t, synthTuned(t).shared, points, start.Add(6*time.Hour))
	for n, want := range map[int]string{
		10:  "",
		11:  "cronfence/shared/failed/one cronfence/shared/lease-lost/one",
		60:  "cronfence/shared/failed/one", // silence changes nothing,
		104: "cronfence/shared/failed/one",
		105: "cronfence/shared/failed/one cronfence/shared/overdue/two",
		121: "cronfence/shared/failed/one",
		192: "", // until the series is out of sight
		213: "",
		215: "cronfence/shared/ratio/one",
		251: "cronfence/shared/ratio/one cronfence/shared/skips/one",
	} {
		if got := on(start.Add(time.Duration(n) * time.Minute)); got != want {
			t.Errorf("minute %d: %q is on: want %q", n, got, want)
		}
	}
}

// Of a job rarer than every third day an alarm sees fewer ticks: one skip is enough.
func TestAlarmsOfAWeeklyJob(t *testing.T) {
	point := func(metric string, at time.Time, v float64) alarmtest.Point {
		return alarmtest.Point{
			Namespace: telemetry.Namespace, Metric: metric, At: at, Value: v,
			Dimensions: map[string]string{"Scheduler": "tuned", "Job": "weekly"},
		}
	}
	const day = 24 * time.Hour
	var points []alarmtest.Point
	overdueFrom, to := start.Add(9*day), start.Add(10*day)
	for at := start.Add(30 * time.Second); at.Before(to); at = at.Add(time.Minute) {
		points = append(points, point(telemetry.Overdue, at, max(0, at.Sub(overdueFrom).Seconds())))
	}
	points = append(points, point(telemetry.Skipped, start.Add(7*day+2*time.Second), 1))
	on := evaluated(t, synthTuned(t).main, points, to)
	weekly := func(at time.Time) string {
		var names []string
		for _, name := range strings.Fields(on(at)) {
			if strings.HasPrefix(name, "cronfence/tuned/weekly/") {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	for at, want := range map[time.Duration]string{
		day: "", 7 * day: "", 7*day + time.Minute: "cronfence/tuned/weekly/skips", 9*day + 4*time.Minute: "cronfence/tuned/weekly/skips",
		9*day + 5*time.Minute: "cronfence/tuned/weekly/overdue cronfence/tuned/weekly/skips",
	} {
		if got := weekly(start.Add(at)); got != want {
			t.Errorf("after %v: %q is on: want %q", at, got, want)
		}
	}
}

// Everything is dead: the gauge that nobody publishes sets its alarm off.
func TestSilencePages(t *testing.T) {
	on := evaluated(t, synth(t).main, nil, start.Add(time.Hour))
	if got := on(start.Add(30 * time.Minute)); got != "cronfence/shop/beside/overdue cronfence/shop/cleanup/overdue cronfence/shop/sync/overdue" {
		t.Errorf("%q is on: want the overdue alarm of each job, and no other", got)
	}
}
