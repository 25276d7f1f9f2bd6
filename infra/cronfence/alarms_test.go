package cronfence

import (
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestTickWindowFitsWhatCloudWatchLooksBack(t *testing.T) {
	for interval := time.Minute; interval < 20*day; interval += 4 * time.Minute {
		w := tickWindow(interval, defaultSkips)
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
		if interval > day && interval%day != 0 {
			continue
		}
		// So many skips in a row all fall into the window, and no more ticks than that do.
		if ticks := int(time.Duration(w.periods-1)*w.period/interval) + 1; ticks > w.inRow {
			t.Fatalf("interval %v: window of %d periods of %v holds %d ticks: want %d", interval, w.periods, w.period, ticks, w.inRow)
		}
	}
}

func TestTickWindow(t *testing.T) {
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
		if got := tickWindow(interval, defaultSkips); got != want {
			t.Errorf("interval %v: %+v: want %+v", interval, got, want)
		}
	}
}

func TestTypicalIntervalIsTheMedian(t *testing.T) {
	hours := func(h ...int) func(time.Time) (time.Time, bool) {
		ticks := []time.Time{time.Date(2026, 1, 6, 0, 0, 0, 0, time.UTC)}
		for _, n := range h {
			ticks = append(ticks, ticks[len(ticks)-1].Add(time.Duration(n)*time.Hour))
		}
		return func(after time.Time) (time.Time, bool) {
			for _, tick := range ticks {
				if tick.After(after) {
					return tick, true
				}
			}
			return time.Time{}, false
		}
	}
	for _, c := range []struct {
		apart []int
		want  time.Duration
	}{{nil, 0}, {[]int{5}, 5 * time.Hour}, {[]int{1, 1, 64, 1}, time.Hour}, {[]int{2, 4}, 2 * time.Hour}} {
		if got := typicalInterval(hours(c.apart...)); got != c.want {
			t.Errorf("ticks %v hours apart: %v: want %v", c.apart, got, c.want)
		}
	}
}

func TestLongestAlarmTextFitsCloudWatch(t *testing.T) {
	j := &Job{
		name: strings.Repeat("j", 48), owner: strings.Repeat("o", maxOwner), runbook: strings.Repeat("r", maxRunbook),
		spec: schema.Spec{Scheduler: strings.Repeat("s", 31)},
	}
	for kind, what := range map[string]string{
		kindOverdue: overdueText(j.name), kindFailed: failedText(j.name, maxInRow), kindRatio: ratioText(j.name, defaultRatio), kindSkips: skipsText(j.name, maxInRow),
	} {
		if text := j.alarmText(kind, what); len(text) > 1024 {
			t.Errorf("%s: text of %d bytes: CloudWatch allows 1024 characters", kind, len(text))
		}
	}
}
