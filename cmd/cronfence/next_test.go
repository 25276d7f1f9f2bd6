package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// next runs the verb with those flags.
func next(args ...string) (string, error) { return outputOf(newNextCommand(), args...) }

func TestNextNamesTheDayThatIsSkipped(t *testing.T) {
	out, err := next("--schedule", "cron(0 2 * * ? *)", "--timezone", "America/New_York", "--after", "2026-03-07T00:00:00Z", "--count", "2")
	const want = `2026-03-07T07:00:00Z  Sat 2026-03-07 02:00:00 EST
2026-03-09T06:00:00Z  Mon 2026-03-09 02:00:00 EDT
note: 2026-03-08 in America/New_York: clocks go forward from 02:00 to 03:00 at 2026-03-08T07:00:00Z, which drops 02:00
`
	if err != nil || out != want {
		t.Errorf("got %v and\n%s\nwant\n%s", err, out, want)
	}
}

func TestNextWritesOneDocument(t *testing.T) {
	out, err := next("--json", "--schedule", "at(2026-11-20T13:00:00)", "--after", "2026-11-20T13:00:00+01:00", "--count", "3")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string][]string
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(got) != 2 || strings.Join(got["ticks"], " ") != "2026-11-20T13:00:00Z" ||
		strings.Join(got["notes"], "|") != "no tick after 2026-11-20T13:00:00Z" {
		t.Errorf("got %s", out)
	}
}

func TestNextWithoutTicksWritesEmptyLists(t *testing.T) {
	out, err := next("--json", "--schedule", "cron(0 0 * * ? *)", "--count", "1")
	if err != nil || !strings.Contains(out, `"notes": []`) {
		t.Errorf("got %v and %s", err, out)
	}
	out, err = next("--json", "--schedule", "at(2026-01-01T00:00:00)", "--after", "2026-01-01T00:00:00Z")
	if err != nil || !strings.Contains(out, `"ticks": []`) {
		t.Errorf("got %v and %s", err, out)
	}
}

func TestNotes(t *testing.T) {
	for _, c := range []struct{ name, zone, expression, after, want string }{
		{
			"moved", "America/New_York", "cron(0 9 * * ? *)", "2026-03-07T00:00:00Z",
			"2026-03-08 in America/New_York: clocks go forward from 02:00 to 03:00 at 2026-03-08T07:00:00Z; the ticks from 2026-03-08T13:00:00Z on come 1h earlier in UTC than the day before",
		},
		{
			"twice", "Europe/Berlin", "cron(30 2 * * ? *)", "2026-10-24T00:00:00Z",
			"2026-10-25 in Europe/Berlin: clocks go back from 03:00 to 02:00 at 2026-10-25T01:00:00Z, so these come twice and tick once, before the shift: 02:30",
		},
		{
			"many", "Europe/Berlin", "cron(0/10 2 * * ? *)", "2026-03-28T00:00:00Z",
			"2026-03-29 in Europe/Berlin: clocks go forward from 02:00 to 03:00 at 2026-03-29T01:00:00Z, which drops 02:00, 02:10, 02:20, 02:30, and 2 more",
		},
		{
			"half an hour", "Australia/Lord_Howe", "cron(0 9 * * ? *)", "2026-10-03T00:00:00Z",
			"2026-10-04 in Australia/Lord_Howe: clocks go forward from 02:00 to 02:30 at 2026-10-03T15:30:00Z; the ticks from 2026-10-03T22:00:00Z on come 30m earlier in UTC than the day before",
		},
		{
			"before midnight", "America/Santiago", "cron(30 23 * * ? *)", "2026-04-04T00:00:00Z",
			"2026-04-04 in America/Santiago: clocks go back from 00:00 to 2026-04-04 23:00 at 2026-04-05T03:00:00Z, so these come twice and tick once, before the shift: 23:30",
		},
		{
			"whole day", "Pacific/Apia", "cron(0 9 * * ? *)", "2011-12-29T00:00:00Z",
			"2011-12-30 in Pacific/Apia: clocks go forward from 00:00 to 2011-12-31 00:00 at 2011-12-30T10:00:00Z, which drops 09:00; the ticks from 2011-12-30T19:00:00Z on come 24h earlier in UTC than the day before",
		},
		{
			"rate", "Europe/Berlin", "rate(7 minutes)", "2026-03-28T00:00:00Z",
			"AWS counts rate(7 minutes) from the schedule's start or creation, which is not known here: these ticks are counted from 1970-01-01T00:00:00Z",
		},
		{
			"rate as cron", "UTC", "rate(1 day)", "2026-03-28T00:00:00Z",
			"AWS counts rate(1 day) from the schedule's start or creation: these ticks are those of cron(0 0 * * ? *) in UTC, as Cronfence deploys it",
		},
		{
			"dropped and moved", "Europe/Berlin", "cron(0/30 * * * ? *)", "2026-03-28T23:00:00Z",
			"2026-03-29 in Europe/Berlin: clocks go forward from 02:00 to 03:00 at 2026-03-29T01:00:00Z, which drops 02:00, 02:30; the ticks from 2026-03-29T01:00:00Z on come 1h earlier in UTC than the day before",
		},
		{"none", "UTC", "cron(0/15 * * * ? *)", "2026-03-28T00:00:00Z", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := nextOptions{schedule: c.expression, timezone: c.zone, after: c.after, count: 8}
			s, after, err := o.read(time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(preview(s, after, o.count).Notes, "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestNextRefusesWrongFlagsAsWrongUsage(t *testing.T) {
	const good = "cron(0 2 * * ? *)"
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "--schedule is not set"},
		{[]string{"--schedule", "0 9 * * 1-5"}, "AWS says cron(0 9 ? * MON-FRI *)"},
		{[]string{"--schedule", "cron(0 0 30 2 ? *)"}, "never comes"},
		{[]string{"--schedule", good, "--timezone", "Europe/Berlim"}, `timezone "Europe/Berlim"`},
		{[]string{"--schedule", good, "--timezone", ""}, `timezone ""`},
		{[]string{"--schedule", good, "--count", "0"}, "--count 0: must be 1-10000"},
		{[]string{"--schedule", good, "--after", "tomorrow"}, `--after "tomorrow": must be an instant in RFC 3339`},
	} {
		_, err := next(c.args...)
		var usage usageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want a usage error with %q", c.args, err, c.want)
		}
	}
}
