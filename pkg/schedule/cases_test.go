package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

// instant reads RFC 3339 with or without seconds.
func instant(t testing.TB, s string) time.Time {
	t.Helper()
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at
		}
	}
	t.Fatalf("bad instant %q in a test", s)
	return time.Time{}
}

// ticks are the next n ticks after that instant, without seconds.
func ticks(s schedule.Schedule, after time.Time, n int) string {
	var out []string
	for range n {
		next, ok := s.Next(after)
		if !ok {
			out = append(out, "none")
			break
		}
		out = append(out, next.Format("2006-01-02T15:04Z"))
		after = next
	}
	return strings.Join(out, " ")
}

// The reported cases of kind (i), under their numbers.
func TestTicksOfReportedCases(t *testing.T) {
	for _, c := range []struct{ name, zone, expression, after, want string }{
		{"B28 02:00 is skipped on the spring day", "America/New_York", "cron(0 2 * * ? *)", "2026-03-07T00:00Z", "2026-03-07T07:00Z 2026-03-09T06:00Z"},
		{"B28 03:00 comes on the spring day", "America/New_York", "cron(0 3 * * ? *)", "2026-03-08T00:00Z", "2026-03-08T07:00Z"},
		{"B28 half hours leave out the gap", "America/New_York", "cron(0/30 * * * ? *)", "2026-03-08T06:00Z", "2026-03-08T06:30Z 2026-03-08T07:00Z 2026-03-08T07:30Z"},
		{"B30 01:00 comes where midnight does not", "America/Santiago", "cron(0 1 6 9 ? *)", "2026-09-05T22:00-04:00", "2026-09-06T04:00Z"},
		{"B30 a missing midnight is skipped", "America/Santiago", "cron(0 0 * * ? *)", "2026-09-05T04:00Z", "2026-09-07T03:00Z"},
		{"B30 half an hour of shift", "Australia/Lord_Howe", "cron(15 2 * * ? *)", "2026-10-02T15:45Z", "2026-10-04T15:15Z"},
		{"B31 2 is Monday", "UTC", "cron(0 12 ? * 2 *)", "2026-09-06T00:00Z", "2026-09-07T12:00Z"},
		{"B31 6L is the last Friday", "UTC", "cron(15 10 ? * 6L *)", "2026-10-01T00:00Z", "2026-10-30T10:15Z 2026-11-27T10:15Z"},
		{"B31 7 is Saturday", "UTC", "cron(0 0 ? * 7 *)", "2026-09-06T00:00Z", "2026-09-12T00:00Z"},
		{"B33 29 February of a leap year", "UTC", "cron(0 0 29 2 ? *)", "2026-03-01T00:00Z", "2028-02-29T00:00Z"},
		{"B33 29 February over 2100", "UTC", "cron(0 0 29 2 ? *)", "2096-03-01T00:00Z", "2104-02-29T00:00Z"},
		{"B34 any weekday beside ?", "UTC", "cron(0 8 ? * * *)", "2026-09-06T00:00Z", "2026-09-06T08:00Z 2026-09-07T08:00Z"},
		{"B34 1-31 is daily", "UTC", "cron(0 9 1-31 * ? *)", "2026-09-29T10:00Z", "2026-09-30T09:00Z 2026-10-01T09:00Z"},
		{"B54 winter", "America/Los_Angeles", "cron(0 4 * * ? *)", "2026-01-15T00:00Z", "2026-01-15T12:00Z"},
		{"B54 summer", "America/Los_Angeles", "cron(0 4 * * ? *)", "2026-07-15T00:00Z", "2026-07-15T11:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := schedule.MustParse(c.expression, schedule.In(c.zone))
			n := len(strings.Fields(c.want))
			if got := ticks(s, instant(t, c.after), n); got != c.want {
				t.Errorf("%s in %s after %s: got %s, want %s", c.expression, c.zone, c.after, got, c.want)
			}
		})
	}
}

func TestTicksOfAWSsExamples(t *testing.T) {
	for _, c := range []struct{ expression, after, want string }{
		{"cron(0 10 * * ? *)", "2026-09-06T10:00Z", "2026-09-07T10:00Z"},
		{"cron(0 18 ? * MON-FRI *)", "2026-09-04T18:00Z", "2026-09-07T18:00Z"},
		{"cron(0 8 1 * ? *)", "2026-09-06T00:00Z", "2026-10-01T08:00Z"},
		{"cron(0/10 * ? * MON-FRI *)", "2026-09-04T23:49Z", "2026-09-04T23:50Z 2026-09-07T00:00Z"},
		{"cron(0/5 8-17 ? * MON-FRI *)", "2026-09-04T17:55Z", "2026-09-07T08:00Z"},
		{"cron(0 9 ? * 2#1 *)", "2026-09-08T00:00Z", "2026-10-05T09:00Z"},
		{"cron(0 9 ? * 3#2 *)", "2026-09-01T00:00Z", "2026-09-08T09:00Z"},
		{"cron(15 10 ? * 6L 2022-2023)", "2023-11-30T00:00Z", "2023-12-29T10:15Z none"},
		{"cron(1/10 * * * ? *)", "2026-09-06T00:00Z", "2026-09-06T00:01Z 2026-09-06T00:11Z"},
		{"cron(0 0 3W * ? *)", "2026-09-30T00:00Z", "2026-10-02T00:00Z 2026-11-03T00:00Z"},
		{"cron(0 0 1W * ? *)", "2026-07-31T00:00Z", "2026-08-03T00:00Z"}, // a Saturday, and W stays in its month
		{"cron(0 0 31W 5 ? *)", "2026-05-01T00:00Z", "2026-05-29T00:00Z"},
		{"cron(0 0 LW * ? *)", "2026-10-01T00:00Z", "2026-10-30T00:00Z 2026-11-30T00:00Z"},
		{"cron(0 0 L * ? *)", "2028-02-01T00:00Z", "2028-02-29T00:00Z 2028-03-31T00:00Z"},
		{"cron(0 0 ? * L *)", "2026-09-06T00:00Z", "2026-09-12T00:00Z 2026-09-19T00:00Z"},
		{"cron(0 0 ? FEB 1#5 *)", "2026-01-01T00:00Z", "2032-02-29T00:00Z 2060-02-29T00:00Z"},
		{"cron(0-15/1 8-8 ? * 2,3,4,5,6,7 *)", "2026-09-06T00:00Z", "2026-09-07T08:00Z"},
		{"at(2026-11-20T13:00:00)", "2026-09-06T00:00Z", "2026-11-20T13:00Z none"},
	} {
		s := schedule.MustParse(c.expression)
		if got := ticks(s, instant(t, c.after), len(strings.Fields(c.want))); got != c.want {
			t.Errorf("%s after %s: got %s, want %s", c.expression, c.after, got, c.want)
		}
	}
}

func TestTimeThatComesTwiceRunsOnceBeforeTheShift(t *testing.T) {
	s := schedule.MustParse("cron(0/30 * * * ? *)", schedule.In("America/New_York"))
	const want = "2026-11-01T05:00Z 2026-11-01T05:30Z 2026-11-01T07:00Z"
	if got := ticks(s, instant(t, "2026-11-01T04:30Z"), 3); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	inSecondPass := instant(t, "2026-11-01T06:15Z")
	if got, _ := s.Prev(inSecondPass); !got.Equal(instant(t, "2026-11-01T05:30Z")) {
		t.Errorf("before %v: got %v", inSecondPass, got)
	}
	if got := s.Between(instant(t, "2026-11-01T05:30Z"), instant(t, "2026-11-01T07:00Z")); got != 1 {
		t.Errorf("ticks from 05:30Z to 07:00Z: got %d, want 1", got)
	}
}

func TestIntervalIsTheTrueDistance(t *testing.T) {
	daily := schedule.Daily(2, 30, "Europe/Berlin")
	for _, c := range []struct {
		tick string
		want time.Duration
	}{
		{"2026-03-27T01:30:00Z", 24 * time.Hour},
		{"2026-03-28T01:30:00Z", 47 * time.Hour}, // the 29th has no 02:30
		{"2026-10-24T00:30:00Z", 24 * time.Hour}, // 02:30 before the shift
		{"2026-10-25T00:30:00Z", 25 * time.Hour},
	} {
		if got := daily.Interval(instant(t, c.tick)); got != c.want {
			t.Errorf("interval at %s: got %v, want %v", c.tick, got, c.want)
		}
	}
	last := schedule.MustParse("at(2026-11-20T13:00:00)")
	if got := last.Interval(instant(t, "2026-11-20T13:00:00Z")); got != 0 {
		t.Errorf("interval at the last tick: got %v, want 0", got)
	}
}

func TestOneTimeScheduleTicksOnceInItsZone(t *testing.T) {
	s := schedule.MustParse("at(2026-11-01T01:30:00)", schedule.In("America/New_York")) // comes twice that night
	want := instant(t, "2026-11-01T05:30:00Z")
	if got, ok := s.Next(want.Add(-time.Second)); !ok || !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if before, after := s.Between(day(1970, 1, 1), want.Add(-time.Second)), s.Between(want.Add(-time.Second), want); before != 0 || after != 1 {
		t.Errorf("%d ticks before it and %d at it", before, after)
	}
}

func TestMustParsePanicsWithTheError(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, `minute "60"`) {
			t.Errorf("got %q", text)
		}
	}()
	schedule.MustParse("cron(60 * * * ? *)")
}
