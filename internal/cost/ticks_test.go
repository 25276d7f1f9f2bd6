package cost_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/cost"
	"github.com/cronfence/cronfence/pkg/schedule"
)

var monday = time.Date(2026, 9, 7, 0, 0, 0, 0, time.UTC)

// An average month has 365.25/12 days.
const days = 365.25 / 12

func TestMonthHasTheTrueFractionOfTheTicks(t *testing.T) {
	for expression, c := range map[string]struct {
		month float64
		note  string // a part of it; empty for none
	}{
		"rate(1 minute)":             {days * 24 * 60, ""},
		"rate(7 minutes)":            {days * 24 * 60 / 7, ""},
		"cron(0 2 * * ? *)":          {days, ""},
		"cron(0 2 ? * MON *)":        {days / 7, ""},
		"cron(0 2 1 1 ? *)":          {1.0 / 12, "A tick comes every 12 months"},
		"cron(0 0 29 2 ? *)":         {7.0 / 336, "A tick comes every 48 months"},
		"at(2026-09-08T00:00:00)":    {1, "One tick is to come, at 2026-09-08T00:00:00Z, and none after it: the run costs 0.000059 USD"},
		"at(2026-09-01T00:00:00)":    {0, "No tick is to come"},
		"cron(0 2 * * ? 2027)":       {days, "365 ticks are to come, from 2027-01-01T02:00:00Z to 2027-12-31T02:00:00Z, and cost 0.0216 USD"},
		"cron(0 2 1-4 1 ? 2027)":     {4, "4 ticks are to come"}, // a month at least
		"cron(0 2 * * ? 2025)":       {0, "No tick is to come"},
		"cron(0 2 1 1 ? 2030,2032)":  {2 / (2 * 730 / days), "2 ticks are to come"},
		"cron(0 12 ? * 2#1 *)":       {1, ""},
		"cron(30 2 * * ? 2027-2199)": {days, ""},
	} {
		p := cost.PaceOf(parsed(t, expression), monday)
		if math.Abs(p.PerMonth-c.month) > 1e-4*c.month {
			t.Errorf("%s: %v ticks a month, want %v", expression, p.PerMonth, c.month)
		}
		if note := p.Note(cost.Of(cost.Job{TicksPerMonth: p.PerMonth, RunTime: time.Second, MaxRunTime: time.Second})); (note == "") != (c.note == "") || !strings.Contains(note, c.note) {
			t.Errorf("%s: note %q, want %q", expression, note, c.note)
		}
	}
}

func TestSkipShareIsThatOfTheWholePattern(t *testing.T) {
	for _, c := range []struct {
		expression string
		run        time.Duration
		share      float64
	}{
		{"rate(1 minute)", 3 * time.Minute, 2.0 / 3},
		{"rate(1 minute)", time.Minute, 0},
		{"rate(1 minute)", time.Minute + time.Second, 0.5},
		{"rate(1 minute)", 365 * 24 * time.Hour, 1 - 1.0/(365*24*60)},
		{"rate(7 minutes)", 50 * time.Minute, 7.0 / 8},
		{"cron(0 2 * * ? *)", time.Hour, 0},
		{"cron(0/15 9-10 * * ? *)", 40 * time.Minute, 5.0 / 8}, // the night between
		// Two months a year of 44,640 ticks, and a run in each.
		{"cron(* * * 1,7 ? *)", 40 * 24 * time.Hour, 1 - 2.0/(62*24*60)},
		{"cron(* 0-11 * 9 ? *)", 12 * time.Hour, 1 - 1.0/720},
		// On Monday, Wednesday and Friday at 0:00.
		{"cron(0 * ? * MON-FRI *)", 48 * time.Hour, 1 - 3.0/120},
		{"at(2026-09-08T00:00:00)", time.Hour, 0},
		{"at(2020-09-08T00:00:00)", time.Hour, 0},
	} {
		if got := cost.SkipShare(parsed(t, c.expression), monday.Add(-time.Second), c.run); math.Abs(got-c.share) > 1e-4*(1-c.share) {
			t.Errorf("%s, runs of %v: share %v, want %v", c.expression, c.run, got, c.share)
		}
	}
}

func parsed(t *testing.T, expression string) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(expression)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
