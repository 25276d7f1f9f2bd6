package schedule_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

func TestZeroScheduleHasNoTicks(t *testing.T) {
	var s schedule.Schedule
	if !s.IsZero() || s.Err() != nil || s.Expression() != "" || s.Timezone() != "" {
		t.Errorf("the zero value is not no schedule: %+v", s)
	}
	isDead(t, s)
}

// isDead holds a schedule to having no ticks.
func isDead(t *testing.T, s schedule.Schedule) {
	t.Helper()
	at := day(2026, 1, 1)
	_, next := s.Anchored(at).Next(at)
	_, prev := s.Prev(at)
	_, cron := s.AsCron()
	if next || prev || cron || s.Interval(at) != 0 || s.Between(day(1980, 1, 1), day(2100, 1, 1)) != 0 {
		t.Errorf("%+v has ticks", s)
	}
}

func TestExpressionHasTheFormAWSDocuments(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"cron(0  2 ?\t* mon-Fri *)", "cron(0 2 ? * MON-FRI *)"},
		{"cron( 05 2 1 jan ? * )", "cron(05 2 1 JAN ? *)"},
		{"rate( 5  minutes )", "rate(5 minutes)"},
		{"at(2026-11-20T13:00:00)", "at(2026-11-20T13:00:00)"},
	} {
		s := schedule.MustParse(c.given)
		if s.Expression() != c.want || s.Timezone() != "UTC" {
			t.Errorf("%q: got %q in %q", c.given, s.Expression(), s.Timezone())
		}
	}
}

func TestScheduleIsParsedAgainFromItsParts(t *testing.T) {
	s := schedule.MustParse("rate(7 minutes)", schedule.In("Europe/Berlin"), schedule.Starting(day(2026, 1, 1).Add(90*time.Millisecond)))
	again := schedule.MustParse(s.Expression(), schedule.In(s.Timezone()), schedule.Starting(s.Start()), schedule.Ending(s.End()))
	if s != again {
		t.Errorf("got %+v, want %+v", again, s)
	}
}

func TestNoTickBeforeStartOrAfterEnd(t *testing.T) {
	start, end := day(2026, 1, 2), day(2026, 1, 5)
	for _, s := range []schedule.Schedule{
		schedule.MustParse("cron(0 0 * * ? *)", schedule.Starting(start), schedule.Ending(end)),
		schedule.MustParse("rate(1 day)", schedule.Starting(start), schedule.Ending(end)),
	} {
		const all = "2026-01-02T00:00Z 2026-01-03T00:00Z 2026-01-04T00:00Z 2026-01-05T00:00Z none"
		if got := ticks(s, day(1900, 1, 1), 5); got != all {
			t.Errorf("%s: got %s, want %s", s.Expression(), got, all)
		}
		if got, ok := s.Prev(day(9999, 1, 1)); !ok || !got.Equal(end) {
			t.Errorf("%s: last tick %v, want %v", s.Expression(), got, end)
		}
		if got, ok := s.Prev(start); ok {
			t.Errorf("%s: tick %v before the start", s.Expression(), got)
		}
		if got := s.Between(time.Time{}, day(9999, 1, 1)); got != 4 {
			t.Errorf("%s: %d ticks, want 4", s.Expression(), got)
		}
	}
}

// Go's ZoneBounds gives 31 December of a leap year an end that has passed: a walk over the
// spans of constant offset must not stand still there.
func TestSearchEndsOnTheLastDayOfALeapYear(t *testing.T) {
	s := schedule.Daily(12, 0, "America/New_York")
	if got, want := ticks(s, instant(t, "2028-12-31T18:00Z"), 1), "2029-01-01T17:00Z"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := s.Between(day(2028, 12, 31), day(2029, 12, 31)); got != 365 {
		t.Errorf("%d ticks in a year, want 365", got)
	}
}

func TestEveryInstantHasAnAnswer(t *testing.T) {
	for _, expression := range []string{"cron(* * * * ? *)", "rate(1 minute)", "at(1970-01-01T00:00:00)", "cron(59 23 31 12 ? 2199)"} {
		s := schedule.MustParse(expression)
		for _, at := range []time.Time{{}, time.Unix(-1<<62, 0), time.Unix(1<<62, 999), day(1969, 12, 31), day(2200, 1, 1), day(9999, 1, 1)} {
			if next, ok := s.Next(at); ok && !next.After(at) || !ok && !next.IsZero() {
				t.Errorf("%s: next after %v is %v", expression, at, next)
			}
			if prev, ok := s.Prev(at); ok && !prev.Before(at) || !ok && !prev.IsZero() {
				t.Errorf("%s: previous to %v is %v", expression, at, prev)
			}
		}
	}
}

func TestSearchAndCountAgreeOverTheWholeCalendar(t *testing.T) {
	for _, expression := range []string{"cron(0 0 1 1 ? *)", "cron(0 0 29 2 ? *)", "cron(30 12 ? 6 3#5 *)", "cron(0 0 LW 12 ? 1999/50)"} {
		s := schedule.MustParse(expression, schedule.In("Pacific/Apia"))
		forward, back := 0, 0
		for at, ok := s.Next(time.Time{}); ok; at, ok = s.Next(at) {
			forward++
		}
		for at, ok := s.Prev(day(2300, 1, 1)); ok; at, ok = s.Prev(at) {
			back++
		}
		if n := s.Between(time.Time{}, day(2300, 1, 1)); n != forward || n != back {
			t.Errorf("%s: %d counted, %d forward, %d back", expression, n, forward, back)
		}
	}
}

// In a root without any file there are no zone files; only what is embedded is left.
func TestZonesNeedNoFiles(t *testing.T) {
	if os.Getenv("CRONFENCE_NO_ZONE_FILES") != "" {
		schedule.MustParse("cron(0 2 * * ? *)", schedule.In("Europe/Berlin"))
		if _, err := schedule.Parse("cron(0 2 * * ? *)", schedule.In("Europe/Berlim")); err == nil {
			t.Error("Europe/Berlim is taken")
		}
		return
	}
	if os.Getuid() != 0 {
		t.Skip("needs root to change the root directory")
	}
	root := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", filepath.Join(root, "test"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // there is no loader in that root either
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	if err := os.Mkdir(filepath.Join(root, "tmp"), 0o777); err != nil { // for a binary that counts coverage
		t.Fatal(err)
	}
	cmd := exec.Command("/test", "-test.run=^TestZonesNeedNoFiles$")
	cmd.Dir, cmd.Env = "/", []string{"CRONFENCE_NO_ZONE_FILES=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("without zone files: %v\n%s", err, out)
	}
}
