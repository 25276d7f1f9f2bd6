package cost_test

import (
	"context"
	"io"
	"math"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/cost"
	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/internal/localcloud/example"
	"github.com/cronfence/cronfence/internal/testworld"
)

func TestSumsAreThoseOfTheLines(t *testing.T) {
	j := cost.Job{TicksPerMonth: 43_830, RunTime: 170 * time.Second, MaxRunTime: time.Hour, SkipShare: 2.0 / 3}
	e := cost.Of(j)
	var million, month float64
	for _, l := range e.Lines {
		million += l.USDPerMillionRuns
		month += l.USDPerMonth
		want := (l.PerRun*e.RunsPerMonth + l.PerSkip*e.SkipsPerMonth + l.PerMonth) * l.UnitPriceUSD
		if math.Abs(l.USDPerMonth-want) > 1e-9 {
			t.Errorf("%s: %v a month, want %v", l.Item, l.USDPerMonth, want)
		}
	}
	if math.Abs(million-e.USDPerMillionRuns) > 1e-6 || math.Abs(month-e.USDPerMonth) > 1e-9 {
		t.Errorf("%v and %v are not the sums %v and %v", e.USDPerMillionRuns, e.USDPerMonth, million, month)
	}
	sum := (e.USDPerMillionRuns*e.RunsPerMonth+e.USDPerMillionSkips*e.SkipsPerMonth)/1e6 + e.USDPerMonthWatching
	if math.Abs(sum-e.USDPerMonth) > 1e-9 {
		t.Errorf("runs, skips and watching are %v a month, want %v", sum, e.USDPerMonth)
	}
	if math.Abs(e.RunsPerMonth+e.SkipsPerMonth-j.TicksPerMonth) > 1e-6 || math.Abs(e.RunsPerMonth-14_610) > 1e-6 {
		t.Errorf("%v runs and %v skips of %v ticks", e.RunsPerMonth, e.SkipsPerMonth, j.TicksPerMonth)
	}
}

// CloudWatch charges a metric for the hours in which it has a point.
func TestMetricsAreChargedForTheirHours(t *testing.T) {
	const hours = 365.25 * 24 / 12
	for name, c := range map[string]struct {
		ticks float64
		run   time.Duration
		want  float64
	}{
		"every minute":                {60 * hours, 20 * time.Second, 6}, // all but Missed and LeaseLost
		"every hour":                  {hours, 10 * time.Minute, 6},
		"never":                       {0, time.Minute, 1}, // Overdue
		"every fourth hour, briefly":  {hours / 4, time.Minute, 1 + 5.0/4},
		"every fourth hour, two long": {hours / 4, 2*time.Hour + 30*time.Minute, 1 + 4.0/4 + 3.0/4},
	} {
		for _, l := range cost.Of(cost.Job{TicksPerMonth: c.ticks, RunTime: c.run, MaxRunTime: 3 * time.Hour}).Lines {
			if l.Item == "CloudWatch custom metrics" && math.Abs(l.PerMonth-c.want) > 1e-9 {
				t.Errorf("%s: %v metrics, want %v", name, l.PerMonth, c.want)
			}
		}
	}
}

// The example's jobs in the local cloud: cleanup with beats, whose ticks are skipped two times
// out of three, and sync without.
func TestCountsAreThoseOfTheLocalCloud(t *testing.T) {
	cloud, err := localcloud.New(localcloud.Config{
		Assembly: example.Assembly, Start: time.Date(2026, 9, 7, 1, 59, 30, 0, time.UTC), Speed: 60, For: 7 * time.Minute,
		Log: io.Discard, Out: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	report, err := cloud.Run(context.Background())
	if err == nil {
		err = cloud.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	u := report.Usage
	beats := u.Functions["heartbeat"]
	runs, skips, long := 0, 0, 0
	expected := map[string]float64{} // by the lines of the estimates
	for _, j := range report.Jobs {
		shape := cost.Job{RunTime: time.Duration(j.LongestRunSeconds * float64(time.Second)), MaxRunTime: 45 * time.Second}
		if j.Job == "cleanup" {
			shape.MaxRunTime = time.Hour
			long += j.Started
		}
		runs, skips = runs+j.Started, skips+j.Skipped
		for _, l := range cost.Of(shape).Lines {
			expected[l.Item] += l.PerRun*float64(j.Started) + l.PerSkip*float64(j.Skipped)
		}
	}
	if long == 0 || runs == long || skips == 0 || beats.Invocations == 0 {
		t.Fatalf("%+v: want runs of both shapes, skips and beats", report.Jobs)
	}
	dispatcher, settler := u.Functions["dispatcher"], u.Functions["settler"]
	// The end of a run may cut its last beat short, which is two transitions and an invocation.
	for _, c := range []struct {
		item string
		got  int64
		less int // each long run
	}{
		{"EventBridge Scheduler invocations", dispatcher.Invocations, 0},
		{"Lambda requests", dispatcher.Invocations + settler.Invocations + beats.Invocations, 1},
		{"Step Functions transitions", u.Transitions, 2},
	} {
		want := int64(math.Round(expected[c.item]))
		if c.got > want || c.got < want-int64(c.less*long) {
			t.Errorf("%d %s, want %d, or up to %d fewer", c.got, c.item, want, c.less*long)
		}
	}
	if settler.Requests != int64(runs) || settler.Invocations != 2*int64(runs) || beats.Requests != beats.Invocations {
		t.Errorf("settler %+v, heartbeat %+v: want a request for each of %d runs and each beat, and an invocation for each status event", settler, beats, runs)
	}
	// Within its first window a job's starts and its first tick ask for more.
	if least := int64(runs + cost.RequestsPerSkip*skips); dispatcher.Requests < least || dispatcher.Requests > least+int64(runs)+10 {
		t.Errorf("dispatcher %+v: want %d requests and few more", dispatcher, least)
	}
	sweeps := u.Functions["sentinel"]
	if got := float64(sweeps.LogBytes) / float64(sweeps.Invocations) / float64(len(report.Jobs)); math.Abs(got-cost.SweepLog) > 0.25*cost.SweepLog {
		t.Errorf("the sentinel writes %v bytes a job and sweep, %v are assumed", got, cost.SweepLog)
	}
}

func TestLogBytesAreThoseOfTheHandlers(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("a-name-of-20-letters")
	written := func(do func()) float64 {
		w.Out.Reset()
		do()
		return float64(w.Out.Len())
	}
	w.Established(spec, "02:00")
	w.At("02:01:00")
	run := w.Tick(spec, "02:01")
	for _, c := range []struct {
		what    string
		assumed float64
		do      func()
	}{
		{"beat", cost.BeatLog, func() { w.At("02:01:30"); _ = w.Beat(run) }},
		{"skip", cost.SkipLog, func() { w.At("02:02:00"); w.Tick(spec, "02:02") }},
		{"settle", cost.SettleLog, func() { w.At("02:02:10"); _, _ = w.Succeed(run) }},
		{"dispatch", cost.DispatchLog, func() { w.At("02:03:00"); w.Tick(spec, "02:03") }},
	} {
		if got := written(c.do); math.Abs(got-c.assumed) > 0.1*c.assumed {
			t.Errorf("%s writes %v bytes, %v are assumed", c.what, got, c.assumed)
		}
	}
}
