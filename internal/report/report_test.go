package report

import (
	"fmt"
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
		j.Name, j.Due = "job", 1
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

func TestTimeWithoutSuccessLiesOnRecord(t *testing.T) {
	bad := func(int, time.Time) Tick { return Tick{Outcome: guard.Skipped} }
	good := func(int, time.Time) Tick { return ok(time.Minute) }
	hours := func(n int) time.Duration { return time.Duration(n) * time.Hour }
	for name, c := range map[string]struct {
		fill     func(l *ledger)
		from, to time.Duration // after the week's beginning
	}{
		"a job that began with skips": {func(l *ledger) {
			l.fill(monday.Add(-hours(10)), monday.Add(-hours(5)), bad)
			l.fill(monday.Add(-hours(5)), monday, good)
		}, hours(158), hours(163)},
		"a gap that reaches into the next week": {func(l *ledger) {
			l.fill(monday.Add(-14*day), monday.Add(-hours(6)), good)
			l.ticks = append(l.ticks, Tick{From: monday.Add(-hours(6)), At: monday.Add(hours(4)), Count: 11, Kind: guard.Scheduled, Outcome: guard.Missed})
		}, hours(161), hours(168)},
		"a gap that reaches in from the week before": {func(l *ledger) {
			l.fill(monday.Add(-14*day), monday.Add(-7*day-hours(6)), good)
			l.ticks = append(l.ticks, Tick{From: monday.Add(-7*day - hours(6)), At: monday.Add(-7*day + hours(4)), Count: 11, Kind: guard.Scheduled, Outcome: guard.Missed})
			l.fill(monday.Add(-7*day+hours(5)), monday, good)
		}, 0, hours(5)},
	} {
		l := &ledger{interval: time.Hour}
		c.fill(l)
		got := l.line(Job{})
		s, begin := got.WithoutSuccess, monday.Add(-7*day)
		if s == nil || !s.From.Equal(begin.Add(c.from)) || !s.To.Equal(begin.Add(c.to)) || !slices.Contains(got.Findings, Stalled) {
			t.Errorf("%s: %+v: want it from %v to %v after the week's beginning", name, s, c.from, c.to)
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
			Job{Name: "job", Due: 1, Running: 8 * day, RunningSince: monday.Add(-8 * day)},
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
		}, Job{Name: "job", Running: 8 * day, RunningSince: monday.Add(-8 * day)}, []Finding{NoSuccess, Overlaps}, "LOCKED OUT"},
		"locked out since an hour ago": {week(quiet), Job{Name: "job", Due: 1, Running: hour}, []Finding{Overlaps}, "A run overlaps the next tick already."},
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
			Job{Name: "job", Due: 1, Paused: true},
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
		}, Job{Name: "job"}, nil, "0 ticks"},
		"rare, due and not there": {func() *ledger {
			l := &ledger{interval: 7 * day}
			l.fill(monday.Add(-70*day), monday.Add(-7*day), quiet)
			return l
		}, Job{}, []Finding{Silent}, "SILENT"},
		"nothing on record for two weeks": {func() *ledger {
			l := &ledger{interval: hour}
			l.fill(monday.Add(-30*day), monday.Add(-14*day), quiet)
			return l
		}, Job{}, []Finding{Silent}, "SILENT"},
		"failing, while a run has just begun": {
			week(func(int, time.Time) Tick { return Tick{Outcome: guard.Failed, RunTime: time.Minute} }),
			Job{Name: "job", Due: 1, Running: 5 * time.Second, RunningSince: monday.Add(-5 * time.Second)},
			[]Finding{NoSuccess, Failures},
			"NO SUCCESS",
		},
		"failing, and skipped since a run began": {
			week(func(i int, _ time.Time) Tick {
				if i == 167 {
					return Tick{Outcome: guard.Skipped}
				}
				return Tick{Outcome: guard.Failed, RunTime: time.Minute}
			}),
			Job{Name: "job", Due: 1, Running: hour - time.Second, RunningSince: monday.Add(-hour - time.Second)},
			[]Finding{NoSuccess, Failures, Skips},
			"LOCKED OUT",
		},
		"paused all week, and resumed": {
			week(func(int, time.Time) Tick { return Tick{Outcome: guard.Skipped, Paused: true} }),
			Job{},
			[]Finding{Pause},
			"It was paused, and no run succeeded.",
		},
		"runs beside each other that all hang": {
			week(func(int, time.Time) Tick { return Tick{Outcome: guard.Running} }),
			Job{},
			[]Finding{NoSuccess, Overlaps},
			"168 open. NO SUCCESS: no run succeeded. Runs overlap the next tick already.",
		},
		"a run that has just begun": {
			week(func(i int, _ time.Time) Tick {
				if i == 167 {
					return Tick{Outcome: guard.Running, Interval: 2 * hour}
				}
				return ok(time.Minute)
			}), Job{}, nil, "1 open.",
		},
		"one run replaced": {
			week(func(i int, _ time.Time) Tick {
				if i == 3 {
					return Tick{Outcome: guard.Replaced, RunTime: hour}
				}
				return ok(time.Minute)
			}), Job{}, []Finding{Overlaps}, "1 replaced. A run overlaps the next tick already.",
		},
		"every run replaced": {
			week(func(int, time.Time) Tick { return Tick{Outcome: guard.Replaced, RunTime: hour} }),
			Job{},
			[]Finding{NoSuccess, Overlaps},
			"168 replaced. NO SUCCESS: no run succeeded. Runs overlap the next tick already.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.ledger().line(c.job)
			if diff := cmp.Diff(c.want, l.Findings); diff != "" && len(c.want)+len(l.Findings) > 0 {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if len(c.want) > 0 && l.Empty() {
				t.Error("empty: it is left out of the message")
			}
			if !strings.Contains(l.Text, c.says) || l.Clean != (len(c.want) == 0) {
				t.Errorf("%s\nclean %v: want %q in it", l.Text, l.Clean, c.says)
			}
		})
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
	fmt.Println(tally.Line(Job{Name: "nightly", Due: 1}).Text)
	// Output:
	// nightly: longest run 14h (week before 7h), median 11h, 95 % 14h, up to 0.58 of the interval; 7 ticks: 7 succeeded, 0 failed, 0 skipped, 0 missed. Ratio +0.042 a day: if that goes on, it first overlaps itself on 2026-09-30. Bound the work of a run: runs grow by 4.2 % of the interval a day.
}
