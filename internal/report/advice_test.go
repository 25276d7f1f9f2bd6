package report

import (
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
)

func TestAdviceOnlyWhereFiguresSaySo(t *testing.T) {
	for name, c := range map[string]struct {
		interval time.Duration
		what     func(i int) Tick
		running  time.Duration
		want     string
	}{
		"steady and short":         {time.Hour, func(int) Tick { return ok(10 * time.Minute) }, 0, ""},
		"one failure in a hundred": {time.Hour, func(i int) Tick { return failing(i%150 == 149) }, 0, ""},
		"one failure of few runs":  {12 * time.Hour, func(i int) Tick { return failing(i == 20) }, 0, Fix},
		"one failure in ten":       {time.Hour, func(i int) Tick { return failing(i%10 == 0) }, 0, Fix},
		"hangs":                    {time.Hour, func(int) Tick { return ok(5 * time.Minute) }, 6 * time.Hour, Fix},
		"one failure of few runs, by an operator's stop": {12 * time.Hour, func(i int) Tick {
			if i == 20 {
				return Tick{Outcome: guard.Aborted, RunTime: time.Minute}
			}
			return ok(time.Minute)
		}, 0, ""},
		"timed out":            {time.Hour, func(i int) Tick { return timedOut(i == 200, 30*time.Minute) }, 0, Bound},
		"hung until timed out": {time.Hour, func(i int) Tick { return timedOut(i == 200, 10*time.Second) }, 0, Fix},
		"hang side by side": {time.Hour, func(i int) Tick {
			if i >= 330 {
				return Tick{Outcome: guard.Running}
			}
			return ok(time.Minute)
		}, 0, Fix},
		"long, and shorter every day":    {time.Hour, func(i int) Tick { return ratio(time.Hour, 1.4-0.9*float64(i)/336) }, 0, ""},
		"longer every day, and too long": {time.Hour, func(i int) Tick { return ratio(time.Hour, 0.3+0.85*float64(i)/336) }, 0, Bound + ", " + Lengthen},
		"longer every day, and one far too long": {time.Hour, func(i int) Tick {
			if i == 250 {
				return ratio(time.Hour, 1.67)
			}
			return ratio(time.Hour, 0.2+0.5*float64(i)/336)
		}, 0, Bound},
		"a few replaced":             {time.Hour, func(i int) Tick { return replaced(i%40 == 0) }, 0, Bound},
		"every second replaced":      {time.Hour, func(i int) Tick { return replaced(i%2 == 0) }, 0, Lengthen},
		"all replaced":               {time.Hour, func(int) Tick { return replaced(true) }, 0, Lengthen},
		"all replaced, every minute": {time.Minute, func(int) Tick { return replaced(true) }, 0, Worker},
		"a few long ones": {time.Hour, func(i int) Tick {
			if i%40 == 0 {
				return ok(55 * time.Minute)
			}
			return ok(10 * time.Minute)
		}, 0, Bound},
		"all nearly an interval long": {time.Hour, func(int) Tick { return ok(55 * time.Minute) }, 0, Lengthen},
		"minutely, three minutes long": {time.Minute, func(i int) Tick {
			if i%3 == 0 {
				return ok(170 * time.Second)
			}
			return Tick{Outcome: guard.Skipped}
		}, 0, Worker},
	} {
		l := twoWeeks(c.interval, func(i int, _ time.Time) Tick { return c.what(i) }).line(Job{Name: "job", Running: c.running})
		var got []string
		for _, a := range l.Advice {
			got = append(got, a.Do)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: advice %v: want %q\n%s", name, got, c.want, l.Text)
		}
	}
}

func failing(is bool) Tick {
	if is {
		return Tick{Outcome: guard.Failed, RunTime: time.Minute}
	}
	return ok(time.Minute)
}

func timedOut(is bool, usual time.Duration) Tick {
	if is {
		return Tick{Outcome: guard.TimedOut, RunTime: 45 * time.Minute}
	}
	return ok(usual)
}

func replaced(is bool) Tick {
	if is {
		return Tick{Outcome: guard.Replaced, RunTime: time.Hour}
	}
	return ok(10 * time.Second)
}

func ratio(interval time.Duration, r float64) Tick { return ok(time.Duration(r * float64(interval))) }

func TestLengthenedIntervalLeavesRoom(t *testing.T) {
	l := twoWeeks(time.Hour, func(int, time.Time) Tick { return ok(55 * time.Minute) }).line(Job{})
	if want := "95 % of runs fit 1h9m with room to spare"; len(l.Advice) != 1 || l.Advice[0].Why != want {
		t.Errorf("%+v: want %q: 55 minutes are 0.8 of it", l.Advice, want)
	}
}
