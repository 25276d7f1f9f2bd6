package schedule_test

import (
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

// patience is far beyond any search; whatever takes longer hangs.
const patience = 5 * time.Second

func FuzzParse(f *testing.F) {
	for _, seed := range []struct{ expression, zone string }{
		{"cron(0 2 * * ? *)", "Europe/Berlin"},
		{"cron(0/5 8-17 ? * MON-FRI 2026-2028/2)", "UTC"},
		{"cron(0 0 L * ? *)", ""},
		{"cron(0 0 15W FEB ? *)", "Pacific/Apia"},
		{"cron(0 0 ? * 6L *)", "America/New_York"},
		{"cron(0 0 ? 2 1#5 *)", "UTC"},
		{"cron(0 0 30 2 ? *)", "UTC"},
		{"rate(15 minutes)", "UTC"},
		{"at(2026-11-20T13:00:00)", "Australia/Lord_Howe"},
		{"0 9 * * 1-5", "Local"},
	} {
		f.Add(seed.expression, seed.zone)
	}
	f.Fuzz(func(t *testing.T, expression, zone string) {
		began := time.Now()
		s, err := schedule.Parse(expression, schedule.In(zone))
		if took := time.Since(began); took > patience {
			t.Fatalf("parse took %v", took)
		}
		if err != nil {
			return
		}
		again, err := schedule.Parse(s.Expression(), schedule.In(s.Timezone()))
		if err != nil || again.Expression() != s.Expression() {
			t.Fatalf("%q became %q, which is not taken: %v", expression, s.Expression(), err)
		}
		if first, ok := s.Next(time.Time{}); !ok || first.IsZero() {
			t.Fatalf("%q is taken and has no tick", expression)
		}
	})
}

func FuzzSearch(f *testing.F) {
	f.Add("cron(0 2 * * ? *)", "America/New_York", int64(1772953200), int64(0), int64(86400))
	f.Add("cron(* * * * ? *)", "America/New_York", int64(1861900000), int64(1), int64(1<<33)) // over a leap year's end
	f.Add("cron(0 0 29 2 ? *)", "Antarctica/Troll", int64(3981312000), int64(999999999), int64(1<<40))
	f.Add("rate(7 minutes)", "UTC", int64(-1<<62), int64(5), int64(1<<62))
	f.Add("at(2026-11-20T13:00:00)", "Pacific/Apia", int64(1<<62), int64(5), int64(-1))
	f.Fuzz(func(t *testing.T, expression, zone string, second, nano, span int64) {
		s, err := schedule.Parse(expression, schedule.In(zone))
		if err != nil {
			return
		}
		at := time.Unix(second, nano)
		began := time.Now()
		next, hasNext := s.Next(at)
		prev, hasPrev := s.Prev(at)
		n := s.Between(at, time.Unix(second+span, nano))
		if took := time.Since(began); took > patience {
			t.Fatalf("%s in %s at %v took %v", s.Expression(), zone, at, took)
		}
		if n < 0 {
			t.Fatalf("%d ticks", n)
		}
		if hasNext {
			if back, ok := s.Prev(next.Add(time.Nanosecond)); !next.After(at) || !ok || !back.Equal(next) || s.Between(at, next) != 1 {
				t.Fatalf("%s in %s: next after %v is %v, and back is %v with %d between", s.Expression(), zone, at, next, back, s.Between(at, next))
			}
		}
		if hasPrev {
			if forth, ok := s.Next(prev.Add(-time.Nanosecond)); !prev.Before(at) || !ok || !forth.Equal(prev) {
				t.Fatalf("%s in %s: previous to %v is %v, and forth is %v", s.Expression(), zone, at, prev, forth)
			}
		}
	})
}
