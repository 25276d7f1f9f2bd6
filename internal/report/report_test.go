package report

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/pkg/guard"
)

var monday = time.Date(2026, 9, 21, 0, 0, 0, 0, time.UTC)

// ledger is a job's history, oldest first.
type ledger struct {
	interval time.Duration
	ticks    []Tick
}

// fill adds ticks up to an instant; what says what became of each.
func (l *ledger) fill(from, to time.Time, what func(i int, at time.Time) Tick) {
	for i, at := 0, from; at.Before(to); i, at = i+1, at.Add(l.interval) {
		t := what(i, at)
		t.At, t.Count = at, max(1, t.Count)
		if t.Kind == "" {
			t.Kind = guard.Scheduled
		}
		if t.Interval == 0 {
			t.Interval = l.interval
		}
		l.ticks = append(l.ticks, t)
	}
}

func (l *ledger) line(j Job) Line {
	if j.Name == "" {
		j.Name, j.Ticks = "job", true
	}
	tally := NewTally(WeekTo(monday))
	for _, t := range slices.Backward(l.ticks) {
		if tally.Enough(t.At) {
			break
		}
		tally.Add(t)
	}
	return tally.Line(j)
}

func ok(took time.Duration) Tick { return Tick{Outcome: guard.Succeeded, RunTime: took} }

// twoWeeks is the history of a job before monday, two weeks long.
func twoWeeks(interval time.Duration, what func(i int, at time.Time) Tick) *ledger {
	l := &ledger{interval: interval}
	l.fill(monday.Add(-14*day), monday, what)
	return l
}

func TestSteadyWeekIsClean(t *testing.T) {
	l := twoWeeks(15*time.Minute, func(i int, _ time.Time) Tick { return ok(time.Duration(110+i%21) * time.Second) }).line(Job{})
	if !l.Clean || len(l.Advice) != 0 || l.This.Ticks != 672 || l.This.Succeeded != 672 || l.Last.Succeeded != 672 {
		t.Errorf("%+v", l)
	}
	if l.This.MedianSeconds != 120 || l.This.P95Seconds != 129 || l.This.LongestSeconds != 130 {
		t.Errorf("median %v, 95 %% %v, longest %v of 110 to 130 s", l.This.MedianSeconds, l.This.P95Seconds, l.This.LongestSeconds)
	}
}

// The day is right to two, whatever the noise: odd days do not bend the line.
func TestCreepingJobIsNamedWithTheDayOfItsFirstOverlap(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 7))
		took := func(at time.Time) time.Duration { // 2 min at first, 14 min three weeks later
			grown := at.Sub(monday.Add(-14*day)).Hours() / 24 / 21
			return time.Duration(2*60+12*60*grown+rng.NormFloat64()*10) * time.Second
		}
		l := twoWeeks(15*time.Minute, func(_ int, at time.Time) Tick {
			if rng.IntN(400) == 0 {
				return ok(took(at) / 3) // an odd one
			}
			return ok(took(at))
		}).line(Job{})
		var first time.Time
		for at := monday; first.IsZero(); at = at.Add(15 * time.Minute) {
			if took(at) >= 15*time.Minute {
				first = at
			}
		}
		if !slices.Contains(l.Findings, WillOverlap) || l.Trend == nil {
			t.Fatalf("seed %d: %s", seed, l.Text)
		}
		named, err := time.Parse(time.DateOnly, l.Trend.FirstOverlap)
		if apart := first.Sub(named).Hours() / 24; err != nil || apart < -2 || apart > 2 {
			t.Errorf("seed %d: named %s, first overlap %v", seed, l.Trend.FirstOverlap, first)
		}
		if len(l.Advice) != 1 || l.Advice[0].Do != Bound {
			t.Errorf("seed %d: advice %+v: want the work of a run bounded", seed, l.Advice)
		}
	}
}

func TestNoTrendIsMadeOfNoise(t *testing.T) {
	for name, c := range map[string]struct{ median, spread float64 }{"short": {1200, 120}, "near the interval, and scattered": {2500, 240}} {
		named := 0
		for seed := range uint64(300) {
			rng := rand.New(rand.NewPCG(seed, 3))
			l := twoWeeks(time.Hour, func(int, time.Time) Tick {
				return ok(time.Duration(min(3500, c.median+rng.NormFloat64()*c.spread)) * time.Second)
			}).line(Job{})
			if slices.Contains(l.Findings, WillOverlap) {
				named++
			}
		}
		if named > 3 {
			t.Errorf("%s: %d of 300 steady jobs are said to overlap one day", name, named)
		}
	}
}

func TestFindings(t *testing.T) {
	hour := time.Hour
	quiet := func(int, time.Time) Tick { return ok(time.Minute) }
	week := func(what func(i int, at time.Time) Tick) func() *ledger {
		return func() *ledger {
			l := &ledger{interval: hour}
			l.fill(monday.Add(-14*day), monday.Add(-7*day), quiet)
			l.fill(monday.Add(-7*day), monday, what)
			return l
		}
	}
	for name, c := range map[string]struct {
		ledger func() *ledger
		job    Job
		want   []Finding
		says   string
	}{
		"clean": {week(quiet), Job{}, nil, "168 succeeded"},
		"locked out all week by a run that hangs": {
			week(func(int, time.Time) Tick { return Tick{Outcome: guard.Skipped} }),
			Job{Name: "job", Ticks: true, Running: 8 * day, RunningSince: monday.Add(-8 * day)},
			[]Finding{NoSuccess, Overlaps, Skips},
			"LOCKED OUT: a run holds the guard since 2026-09-13 00:00Z",
		},
		"nothing but failures": {
			week(func(int, time.Time) Tick { return Tick{Outcome: guard.Failed, RunTime: time.Minute} }),
			Job{},
			[]Finding{NoSuccess, Failures},
			"NO SUCCESS",
		},
		"locked out, and no tick was due": {func() *ledger {
			l := &ledger{interval: 7 * day}
			l.fill(monday.Add(-8*day), monday.Add(-7*day), func(int, time.Time) Tick { return Tick{Outcome: guard.Running} })
			return l
		}, Job{Name: "job", Ticks: true, Running: 8 * day, RunningSince: monday.Add(-8 * day)}, []Finding{NoSuccess, Overlaps}, "LOCKED OUT"},
		"locked out since an hour ago": {week(quiet), Job{Name: "job", Ticks: true, Running: hour}, []Finding{Overlaps}, "A run overlaps the next tick already."},
		"locked out for a day": {
			week(func(i int, _ time.Time) Tick {
				if 24 <= i && i < 48 {
					return Tick{Outcome: guard.Coalesced}
				}
				return ok(time.Minute)
			}), Job{}, []Finding{Stalled}, "no success for 25h from 2026-09-14 23:00Z",
		},
		"never came": {
			week(func(i int, _ time.Time) Tick {
				if i == 3 {
					return Tick{Outcome: guard.Missed}
				}
				return ok(time.Minute)
			}), Job{}, []Finding{Misses}, "1 missed",
		},
		"failed": {
			week(func(i int, _ time.Time) Tick {
				if i == 3 {
					return Tick{Outcome: guard.LeaseLost, RunTime: 9 * hour}
				}
				return ok(time.Minute)
			}), Job{}, []Finding{Failures}, "longest run 1m (",
		},
		"paused": {
			week(func(int, time.Time) Tick { return Tick{Outcome: guard.Skipped, Paused: true} }),
			Job{Name: "job", Ticks: true, Paused: true},
			[]Finding{Pause},
			"168 skipped while paused",
		},
		"nothing on record any more": {func() *ledger {
			l := &ledger{interval: hour}
			l.fill(monday.Add(-14*day), monday.Add(-7*day), quiet)
			return l
		}, Job{}, []Finding{Silent}, "SILENT"},
		"rare, and not due": {func() *ledger {
			l := &ledger{interval: 30 * day}
			l.fill(monday.Add(-10*day), monday.Add(-7*day), quiet)
			return l
		}, Job{}, nil, "0 ticks"},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.ledger().line(c.job)
			if diff := cmp.Diff(c.want, l.Findings); diff != "" && len(c.want)+len(l.Findings) > 0 {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if !strings.Contains(l.Text, c.says) || l.Clean != (len(c.want) == 0) {
				t.Errorf("%s\nclean %v: want %q in it", l.Text, l.Clean, c.says)
			}
		})
	}
}

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
		"timed out":                {time.Hour, func(i int) Tick { return timedOut(i == 200) }, 0, Bound},
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

func timedOut(is bool) Tick {
	if is {
		return Tick{Outcome: guard.TimedOut, RunTime: 30 * time.Minute}
	}
	return ok(time.Minute)
}

func TestLengthenedIntervalLeavesRoom(t *testing.T) {
	l := twoWeeks(time.Hour, func(int, time.Time) Tick { return ok(55 * time.Minute) }).line(Job{})
	if want := "95 % of runs fit 1h9m with room to spare"; len(l.Advice) != 1 || l.Advice[0].Why != want {
		t.Errorf("%+v: want %q: 55 minutes are 0.8 of it", l.Advice, want)
	}
}

func TestRunsThatWereCutShortDoNotMixIn(t *testing.T) {
	for _, o := range []guard.Outcome{guard.Replaced, guard.Aborted, guard.LeaseLost, guard.Abandoned, guard.Skipped} {
		l := twoWeeks(time.Hour, func(i int, _ time.Time) Tick {
			if i%2 == 0 {
				return Tick{Outcome: o, RunTime: 59 * time.Minute}
			}
			return ok(time.Minute)
		}).line(Job{})
		if l.This.Runs != 84 || l.This.LongestSeconds != 60 {
			t.Errorf("%s: %d runs, longest %v s: want 84 and 60 s", o, l.This.Runs, l.This.LongestSeconds)
		}
	}
}

func TestGapIsSharedOutBetweenTheWeeks(t *testing.T) {
	l := &ledger{interval: time.Minute}
	from, to := monday.Add(-7*day-time.Hour), monday.Add(-7*day+time.Hour)
	l.ticks = []Tick{{At: to, From: from, Count: 121, Kind: guard.Scheduled, Outcome: guard.Missed}}
	got := l.line(Job{})
	if got.This.Missed != 61 || got.Last.Missed < 59 || got.Last.Missed > 60 {
		t.Errorf("this week %d, last week %d: want 61 and 60 of 121", got.This.Missed, got.Last.Missed)
	}
}

func TestRareJobIsLookedAtForLonger(t *testing.T) {
	l := &ledger{interval: 7 * day}
	l.fill(monday.Add(-84*day), monday, func(i int, _ time.Time) Tick { return ok(time.Duration(24+8*i) * time.Hour) })
	got := l.line(Job{})
	if got.Trend == nil || got.Trend.Days != 12 || !slices.Contains(got.Findings, WillOverlap) {
		t.Errorf("%+v: want the trend of twelve weeks", got)
	}
}

func TestTallyAsksForNoMoreThanItNeeds(t *testing.T) {
	for interval, most := range map[time.Duration]int{time.Minute: 14*24*60 + 1, time.Hour: 14*24 + 1, day: 15, 7 * day: 13} {
		tally, n := NewTally(WeekTo(monday)), 0
		for at := monday.Add(-interval); !tally.Enough(at); at = at.Add(-interval) {
			tally.Add(Tick{At: at, Count: 1, Kind: guard.Scheduled, Outcome: guard.Succeeded, RunTime: time.Second, Interval: interval})
			n++
		}
		if n > most {
			t.Errorf("every %v: %d ticks: want at most %d", interval, n, most)
		}
	}
}

func TestLastFullWeekIsFromMondayToMonday(t *testing.T) {
	for now, want := range map[string]string{
		"2026-09-21T00:00:00Z": "2026-09-14", "2026-09-20T23:59:59Z": "2026-09-07", "2026-09-27T12:00:00+02:00": "2026-09-14",
	} {
		at, _ := time.Parse(time.RFC3339, now)
		if w := LastFullWeek(at); w.From.Format(time.DateOnly) != want || w.To.Sub(w.From) != 7*day {
			t.Errorf("%s: %v: want from %s", now, w, want)
		}
	}
}

func ExampleTally() {
	tally := NewTally(WeekTo(monday))
	for i := range 14 {
		tally.Add(Tick{
			At: monday.Add(-time.Duration(i+1) * day), Count: 1, Kind: guard.Scheduled, Outcome: guard.Succeeded,
			RunTime: time.Duration(14-i) * time.Hour, Interval: day,
		})
	}
	fmt.Println(tally.Line(Job{Name: "nightly", Ticks: true}).Text)
	// Output:
	// nightly: longest run 14h (week before 7h), median 11h, 95 % 14h, up to 0.58 of the interval; 7 ticks: 7 succeeded, 0 failed, 0 skipped, 0 missed. Ratio +0.042 a day: if that goes on, it first overlaps itself on 2026-09-30. Bound the work of a run: runs grow by 4.2 % of the interval a day.
}
