package schedule_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

func TestClockChangesNameDroppedRepeatedAndMovedTicks(t *testing.T) {
	for _, c := range []struct{ name, zone, expression, from, to, want string }{
		{"dropped", "America/New_York", "cron(0 2 * * ? *)", "2026-03-01T00:00Z", "2026-03-31T00:00Z", "07:00Z drops 02:00"},
		{"dropped and moved", "America/New_York", "cron(30 2,9 * * ? *)", "2026-03-01T00:00Z", "2026-03-31T00:00Z", "07:00Z drops 02:30 moves 13:30Z"},
		{"moved", "America/New_York", "cron(0 3 * * ? *)", "2026-03-01T00:00Z", "2026-03-31T00:00Z", "07:00Z moves 07:00Z"},
		{"twice", "America/New_York", "cron(0/30 1 * * ? *)", "2026-10-01T00:00Z", "2026-11-30T00:00Z", "06:00Z once 01:00 once 01:30"},
		{"half an hour", "Australia/Lord_Howe", "cron(15 2 * * ? *)", "2026-10-01T00:00Z", "2026-10-31T00:00Z", "15:30Z drops 02:15"},
		{"no midnight", "America/Santiago", "cron(0 0 * * ? *)", "2026-09-01T00:00Z", "2026-09-30T00:00Z", "04:00Z drops 00:00"},
		{"other days", "America/New_York", "cron(0 2 1 * ? *)", "2026-01-01T00:00Z", "2026-12-31T00:00Z", "06:00Z moves 07:00Z"},
		{"no change", "UTC", "cron(0 2 * * ? *)", "2026-01-01T00:00Z", "2099-12-31T00:00Z", ""},
		{"a rate", "America/New_York", "rate(1 hour)", "2026-01-01T00:00Z", "2026-12-31T00:00Z", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := schedule.MustParse(c.expression, schedule.In(c.zone))
			got := ""
			for _, change := range s.ClockChanges(instant(t, c.from), instant(t, c.to)) {
				got += change.At.Format("15:04Z")
				for _, wall := range change.Dropped {
					got += wall.Format(" drops 15:04")
				}
				for _, wall := range change.Once {
					got += wall.Format(" once 15:04")
				}
				if !change.Moved.IsZero() {
					got += change.Moved.Format(" moves 15:04Z")
				}
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if (schedule.Schedule{}).ClockChanges(time.Time{}, day(2100, 1, 1)) != nil {
		t.Error("no schedule has changes")
	}
}

func ExampleSchedule_ClockChanges() {
	s := schedule.Daily(2, 0, "America/New_York")
	for _, c := range s.ClockChanges(day(2026, 3, 1), day(2026, 3, 31)) {
		fmt.Println(c.At.Format(time.RFC3339), "drops", c.Dropped[0].Format("2006-01-02 15:04"))
	}
	// Output: 2026-03-08T07:00:00Z drops 2026-03-08 02:00
}
