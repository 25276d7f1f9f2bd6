package cost

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

// counted is a schedule that counts what it is asked.
type counted struct {
	schedule.Schedule
	next, between int
}

func (c *counted) Next(t time.Time) (time.Time, bool) {
	c.next++
	return c.Schedule.Next(t)
}

func (c *counted) Between(a, b time.Time) int {
	c.between++
	return c.Schedule.Between(a, b)
}

// A count looks at days and takes as long as some fifty steps: who asks for one at every run of a
// frequent job waits for seconds.
func TestSkipShareStepsFromTickToTickAndCountsOnlyLongRuns(t *testing.T) {
	const runTimes = "cron(*/5 8-18 ? * MON-FRI *)"
	for _, c := range []struct {
		expression    string
		run           time.Duration
		next, between int // at most
	}{
		{runTimes, 2 * time.Minute, maxLooked, 0},     // meets none
		{runTimes, 7 * time.Minute, maxLooked + 2, 0}, // meets one
		{"cron(* * ? * MON-FRI *)", 90 * time.Second, maxLooked + 2, 0},
		{"cron(* * ? * MON-FRI *)", 8 * time.Hour, maxLooked / 10, maxLooked / 400}, // 480, but at the week's end
		{"rate(1 minute)", 365 * 24 * time.Hour, 100, 2},
	} {
		s := &counted{Schedule: schedule.MustParse(c.expression)}
		played(s, time.Date(2026, 9, 7, 0, 0, 0, 0, time.UTC), c.run)
		if s.next > c.next || s.between > c.between {
			t.Errorf("%s, runs of %v: %d steps and %d counts, want at most %d and %d", c.expression, c.run, s.next, s.between, c.next, c.between)
		}
	}
}
