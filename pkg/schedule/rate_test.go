package schedule_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

func TestRateTakesItsPhase(t *testing.T) {
	for _, c := range []struct {
		name string
		s    schedule.Schedule
		want string
	}{
		{"from the epoch", schedule.Every(15 * time.Minute), "2026-03-08T06:15Z 2026-03-08T06:30Z"},
		{"from its start", schedule.Every(15*time.Minute, schedule.Starting(instant(t, "2026-01-01T00:07Z"))), "2026-03-08T06:07Z 2026-03-08T06:22Z"},
		{"from a tick", schedule.Every(15 * time.Minute).Anchored(instant(t, "2026-05-01T10:04:00.7Z")), "2026-03-08T06:04Z 2026-03-08T06:19Z"},
		{"not from the zero time", schedule.Every(15 * time.Minute).Anchored(time.Time{}), "2026-03-08T06:15Z"},
		{"of days of 24 hours", schedule.Every(48*time.Hour, schedule.In("America/New_York"), schedule.Starting(instant(t, "2026-03-07T07:00Z"))), "2026-03-09T07:00Z 2026-03-11T07:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := (len(c.want) + 1) / len("2026-03-08T06:15Z ")
			if got := ticks(c.s, instant(t, "2026-03-08T06:00Z"), n); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestRateIsAtItsPhaseInBothDirections(t *testing.T) {
	anchor := instant(t, "2026-03-08T06:03:00Z")
	s := schedule.Every(7 * time.Minute).Anchored(anchor)
	for i := -2000; i <= 2000; i++ {
		tick := anchor.Add(time.Duration(i) * 7 * time.Minute)
		if got, ok := s.Next(tick.Add(-time.Nanosecond)); !ok || !got.Equal(tick) {
			t.Fatalf("next before %v: got %v", tick, got)
		}
		if got, ok := s.Prev(tick.Add(time.Nanosecond)); !ok || !got.Equal(tick) {
			t.Fatalf("previous after %v: got %v", tick, got)
		}
		if got, want := s.Between(anchor, tick), max(i, 0); got != want {
			t.Fatalf("ticks until %v: got %d, want %d", tick, got, want)
		}
	}
}

func TestAnchoredChangesOnlyRates(t *testing.T) {
	for _, s := range []schedule.Schedule{schedule.Daily(2, 0, "Europe/Berlin"), schedule.MustParse("at(2026-11-20T13:00:00)"), {}} {
		if s.Anchored(day(2026, 1, 1)) != s {
			t.Errorf("%s was changed", s.Expression())
		}
	}
}

func TestAsCron(t *testing.T) {
	start := schedule.Starting(instant(t, "2026-01-01T05:37:00Z"))
	for _, c := range []struct {
		s    schedule.Schedule
		want string // empty: there is none
	}{
		{schedule.Every(time.Minute), "cron(* * * * ? *)"},
		{schedule.Every(15 * time.Minute), "cron(0/15 * * * ? *)"},
		{schedule.Every(15*time.Minute, start), "cron(7/15 * * * ? *)"},
		{schedule.Every(15 * time.Minute).Anchored(day(2026, 1, 1).Add(4 * time.Minute)), "cron(4/15 * * * ? *)"},
		{schedule.Every(time.Hour), "cron(0 * * * ? *)"},
		{schedule.Every(6*time.Hour, start), "cron(37 5/6 * * ? *)"},
		{schedule.MustParse("rate(60 minutes)", schedule.In("Asia/Kathmandu")), "cron(0 * * * ? *)"},
		{schedule.Every(24*time.Hour, start), "cron(37 5 * * ? *)"},
		{schedule.Every(7 * time.Minute), ""},
		{schedule.Every(90 * time.Minute), ""},
		{schedule.Every(5 * time.Hour), ""},
		{schedule.Every(48 * time.Hour), ""},
		{schedule.Every(time.Minute).Anchored(day(2026, 1, 1).Add(time.Second)), ""},
		{schedule.Daily(2, 0, "UTC"), ""},
	} {
		got, ok := c.s.AsCron()
		if !ok {
			if c.want != "" || got != c.s {
				t.Errorf("%s: got %s and false, want %s", c.s.Expression(), got.Expression(), c.want)
			}
			continue
		}
		if got.Expression() != c.want || got.Timezone() != "UTC" || got.Start() != c.s.Start() {
			t.Errorf("%s: got %s, want %s", c.s.Expression(), got.Expression(), c.want)
		}
	}
}

func TestAsCronHasTheSameTicks(t *testing.T) {
	for minutes := 1; minutes <= 24*60; minutes++ {
		for _, offset := range []int{0, 1, 59, 61, 1439, 5000} {
			s := schedule.Every(time.Duration(minutes) * time.Minute).Anchored(day(2026, 3, 1).Add(time.Duration(offset) * time.Minute))
			c, ok := s.AsCron()
			if expressible := 60%minutes == 0 || minutes%60 == 0 && 1440%minutes == 0; ok != expressible {
				t.Fatalf("every %d minutes: got %v, want %v", minutes, ok, expressible)
			}
			if !ok {
				break
			}
			if got, want := ticks(c, day(2026, 3, 7), 30), ticks(s, day(2026, 3, 7), 30); got != want {
				t.Errorf("%s with %s: got %s, want %s", s.Expression(), c.Expression(), got, want)
			}
		}
	}
}

func ExampleSchedule_AsCron() {
	s, ok := schedule.Every(15 * time.Minute).AsCron()
	fmt.Println(s.Expression(), ok)
	// Output: cron(0/15 * * * ? *) true
}
