package report

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

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

// Where nothing grows, however few the days.
func TestNoTrendIsMadeOfFewDays(t *testing.T) {
	for days := 5; days <= 14; days++ {
		named := 0
		for seed := range uint64(500) {
			rng := rand.New(rand.NewPCG(seed, 5))
			l := &ledger{interval: day}
			l.fill(monday.Add(-time.Duration(days)*day), monday, func(int, time.Time) Tick { return ratio(day, 0.6+0.06*rng.NormFloat64()) })
			if slices.Contains(l.line(Job{}).Findings, WillOverlap) {
				named++
			}
		}
		if named > 3 {
			t.Errorf("%d days: %d of 500 steady jobs are said to overlap one day", days, named)
		}
	}
}

// Work that takes longer since a day, or a schedule that is denser since then, takes no longer
// from day to day.
func TestStepIsNoTrend(t *testing.T) {
	const quarter = 15 * time.Minute
	for name, c := range map[string]struct {
		before, after time.Duration // interval
		took, takes   time.Duration
	}{
		"schedule changed":          {time.Hour, quarter, 6 * time.Minute, 6 * time.Minute},
		"run time changed":          {quarter, quarter, 2 * time.Minute, 5 * time.Minute},
		"schedule changed slightly": {20 * time.Minute, 17 * time.Minute, 6 * time.Minute, 6 * time.Minute},
	} {
		named := 0
		for _, since := range []int{3, 5, 7, 9, 11} {
			for seed := range uint64(15) {
				rng := rand.New(rand.NewPCG(seed, uint64(since)))
				noisy := func(mean time.Duration) func(int, time.Time) Tick {
					return func(int, time.Time) Tick { return ok(time.Duration((1 + 0.05*rng.NormFloat64()) * float64(mean))) }
				}
				change := monday.Add(-time.Duration(since) * day)
				l := &ledger{interval: c.before}
				l.fill(monday.Add(-14*day), change, noisy(c.took))
				l.interval = c.after
				l.fill(change, monday, noisy(c.takes))
				if slices.Contains(l.line(Job{}).Findings, WillOverlap) {
					named++
				}
			}
		}
		if named > 1 {
			t.Errorf("%s: %d of 75 jobs are said to overlap one day", name, named)
		}
	}
}

// An odd run does not hide what is coming.
func TestForecastStandsBesideOneRunThatOverlapped(t *testing.T) {
	l := twoWeeks(time.Hour, func(i int, _ time.Time) Tick {
		if i == 250 {
			return ratio(time.Hour, 1.67)
		}
		return ratio(time.Hour, 0.2+0.5*float64(i)/336)
	}).line(Job{})
	want := "A run overlaps the next tick already. Ratio +0.036 a day: if that goes on, every day has such runs from 2026-09-29 on."
	if !slices.Contains(l.Findings, WillOverlap) || !strings.Contains(l.Text, want) {
		t.Errorf("%v: %s\nwant %q", l.Findings, l.Text, want)
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
