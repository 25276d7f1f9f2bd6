package cronfence

import (
	"fmt"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/alarmtest"
	"github.com/cronfence/cronfence/pkg/schedule"
)

func TestWindowFitsWhatCloudWatchLooksBack(t *testing.T) {
	for interval := time.Minute; interval < 20*day; interval += 4 * time.Minute {
		w := windowOf(evenly(interval, 49), defaultSkips)
		limit := day
		if w.period >= time.Hour {
			limit = 7 * day
		}
		if w.period%time.Minute != 0 || w.period > day || time.Duration(w.periods)*w.period > limit {
			t.Fatalf("interval %v: %d periods of %v: CloudWatch refuses them", interval, w.periods, w.period)
		}
		if w.inRow < 1 || w.inRow > w.periods {
			t.Fatalf("interval %v: %d of %d periods", interval, w.inRow, w.periods)
		}
		// So many skips in a row all fall into the window, and no more ticks than that do.
		if ticks := int(time.Duration(w.periods-1)*w.period/interval) + 1; interval <= 7*day && ticks != w.inRow {
			t.Fatalf("interval %v: window of %d periods of %v holds %d ticks: want %d", interval, w.periods, w.period, ticks, w.inRow)
		}
	}
}

func TestWindow(t *testing.T) {
	for interval, want := range map[time.Duration]window{
		time.Minute:      {time.Minute, 3, 3},
		90 * time.Second: {2 * time.Minute, 3, 3},
		15 * time.Minute: {15 * time.Minute, 3, 3},
		6 * time.Hour:    {6 * time.Hour, 3, 3},
		day:              {day, 3, 3},
		2 * day:          {day, 5, 3},
		3 * day:          {day, 7, 3},
		4 * day:          {day, 5, 2},
		7 * day:          {day, 1, 1},
		30 * day:         {day, 1, 1},
		0:                {day, 1, 1}, // a single tick
	} {
		if got := windowOf(evenly(interval, 49), defaultSkips); got != want {
			t.Errorf("interval %v: %+v: want %+v", interval, got, want)
		}
	}
}

// schedules of every rhythm, and after how many skips of all of its ticks each is told of.
var rhythms = []string{
	"cron(* * * * ? *)", "cron(0/15 * * * ? *)", "cron(0,5 * * * ? *)", "cron(0 8,9 * * ? *)", "cron(0 0,12 * * ? *)", "cron(0 2 * * ? *)",
	"cron(0 9-17 ? * MON-FRI *)", "cron(0 9 ? * MON-FRI *)", "cron(0 9 ? * MON,TUE *)", "cron(0 9 ? * MON,THU *)", "cron(0 2 ? * MON *)",
	"cron(0 2 1 * ? *)", "cron(0 2 1,2 * ? *)", "cron(0,5 8 * * ? *)", "cron(0 8,9,10,20 * * ? *)", "cron(0 8,9 ? * MON-FRI *)", "rate(2 days)", "rate(36 hours)", "rate(6 days)",
}

// ticksOf are a schedule's ticks of some months, or as many as a few days hold, as it plans them.
func ticksOf(t *testing.T, expression string) []time.Time {
	t.Helper()
	s, err := schedule.Parse(expression)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	var all []time.Time
	for at, ok := s.Anchored(from).Next(from); ok && len(all) < 200 && at.Before(from.Add(90*day)); at, ok = s.Anchored(from).Next(at) {
		all = append(all, at)
	}
	return all
}

// skipping evaluates the skip alarm of a schedule whose ticks are skipped or let in.
func skipping(t *testing.T, ticks []time.Time, w window, skipped func(i int) bool) (wentOff bool) {
	t.Helper()
	of := map[string]string{"Job": "job"}
	alarm := alarmtest.Alarm{
		Name: "skips", Period: w.period, Periods: w.periods, ToAlarm: w.inRow, Threshold: 1, Operator: "GreaterThanOrEqualToThreshold",
		Missing: "notBreaching", Metric: &alarmtest.Metric{Namespace: MetricNamespace, Name: MetricSkipped, Statistic: statisticSum, Dimensions: of},
	}
	var points []alarmtest.Point
	for i, at := range ticks {
		v := 0.0
		if skipped(i) {
			v = 1
		}
		points = append(points, alarmtest.Point{Namespace: MetricNamespace, Metric: MetricSkipped, Dimensions: of, At: at.Add(2 * time.Second), Value: v})
	}
	for _, c := range alarmtest.Evaluate([]alarmtest.Alarm{alarm}, points, ticks[0], ticks[len(ticks)-1].Add(time.Minute), 0) {
		wentOff = wentOff || c.To == alarmtest.InAlarm
	}
	return wentOff
}

func TestLastingSkipsAreToldOfWhateverTheRhythm(t *testing.T) {
	for _, expression := range rhythms {
		ticks := ticksOf(t, expression)
		ticks = ticks[:min(len(ticks), 40)]
		w := windowOf(distances(ticks), defaultSkips)
		if !skipping(t, ticks, w, func(int) bool { return true }) {
			t.Errorf("%s: %d skips in a row, and nothing of %+v", expression, len(ticks), w)
		}
	}
}

// Every third tick let in: no three in a row are skipped.
func TestSkipsThatAreNoRowAreNotToldOf(t *testing.T) {
	for _, expression := range rhythms {
		ticks := ticksOf(t, expression)
		ticks = ticks[:min(len(ticks), 40)]
		w := windowOf(distances(ticks), defaultSkips)
		if w.inRow == defaultSkips && skipping(t, ticks, w, func(i int) bool { return i%3 != 0 }) {
			t.Errorf("%s: two of three ticks skipped set %+v off", expression, w)
		}
	}
}

func distances(ticks []time.Time) []time.Duration {
	var apart []time.Duration
	for i := 1; i < len(ticks); i++ {
		apart = append(apart, ticks[i].Sub(ticks[i-1]))
	}
	return apart
}

func TestOneFailureOfRunsAboveADayIsEnough(t *testing.T) {
	if w := failureWindow(time.Hour, 36*time.Hour, 3); w != (window{day, 1, 1}) {
		t.Errorf("%+v: want one failure to be enough, no period is longer than a day", w)
	}
}

// Runs end when they end, not when ticks come.
func TestFailuresInARowAreCountedHoweverLongRunsTake(t *testing.T) {
	start := time.Date(2026, 9, 7, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct{ interval, takes, longest time.Duration }{
		{time.Minute, 10 * time.Second, time.Minute},
		{time.Minute, 170 * time.Second, 10 * time.Minute},
		{time.Minute, 10 * time.Minute, 10 * time.Minute}, // each its maximum run time
		{15 * time.Minute, 40 * time.Minute, time.Hour},
		{time.Hour, 5 * time.Minute, 15 * time.Minute},
		{day, time.Hour, 2 * time.Hour},
	} {
		for _, n := range []int{2, 3, 5} {
			t.Run(fmt.Sprintf("every %v runs of %v, %d", c.interval, c.takes, n), func(t *testing.T) {
				w := failureWindow(c.interval, c.longest, n)
				apart := (c.takes + c.interval - 1) / c.interval * c.interval
				of := map[string]string{"Job": "job"}
				alarm := alarmtest.Alarm{
					Name: "failed", Period: w.period, Periods: w.periods, ToAlarm: w.inRow, Threshold: 1, Operator: "GreaterThanOrEqualToThreshold",
					Missing: "ignore", Metric: &alarmtest.Metric{Namespace: MetricNamespace, Name: MetricFailed, Statistic: statisticMinimum, Dimensions: of},
				}
				at := func(i int) time.Time { return start.Add(time.Duration(i)*apart + c.takes) }
				stretch := time.Duration(w.periods) * w.period
				first := 2*int(stretch/apart) + 2 // of the failures on end: before it every n-th run succeeds
				healed := first + int(stretch/apart) + 2*w.inRow
				var points []alarmtest.Point
				for i := range healed + 1 {
					v := 1.0
					if i < first && i%w.inRow == 0 || i == first-1 || i == healed {
						v = 0
					}
					points = append(points, alarmtest.Point{Namespace: MetricNamespace, Metric: MetricFailed, Dimensions: of, At: at(i), Value: v})
				}
				var on, off time.Time
				for _, change := range alarmtest.Evaluate([]alarmtest.Alarm{alarm}, points, start, at(healed).Add(2*time.Minute), alarmtest.Extra) {
					switch {
					case change.To == alarmtest.InAlarm && on.IsZero():
						on = change.At
					case change.To == alarmtest.OK && !on.IsZero():
						off = change.At
					}
				}
				if nth := at(first + w.inRow - 1); on.Before(nth) || on.After(at(first-1).Add(stretch+apart+time.Minute)) {
					t.Errorf("%+v: on at %v: want it after the failure of %v, and once %v are without a success", w, on, nth, stretch)
				}
				if off.Before(at(healed)) || off.After(at(healed).Add(2*time.Minute)) {
					t.Errorf("%+v: off at %v: want it with the success of %v", w, off, at(healed))
				}
			})
		}
	}
}
