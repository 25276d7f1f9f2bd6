package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

func TestErrorsNameFieldValueAndWhatIsAllowed(t *testing.T) {
	for _, c := range []struct{ expression, want string }{
		{"", `must be cron(...), rate(...) or at(...)`},
		{"cron(60 * * * ? *)", `minute "60": must be 0-59 with , - * /`},
		{"cron(0 24 * * ? *)", `hour "24": must be 0-23`},
		{"cron(0 0 32 * ? *)", `day-of-month "32": must be 1-31 with , - * / ? L W`},
		{"cron(0 0 * 13 ? *)", `month "13": must be 1-12 or JAN-DEC`},
		{"cron(0 0 * MAI ? *)", `month "MAI": must be`},
		{"cron(0 0 ? * MONDAY *)", `day-of-week "MONDAY": must be 1-7 or SUN-SAT (1 is SUN)`},
		{"cron(0 0 ? * 8 *)", `day-of-week "8": must be`},
		{"cron(0 0 * * ? 1969)", `year "1969": must be 1970-2199`},
		{"cron(0 0 * * ? 2200)", `year "2200": must be 1970-2199`},
		{"cron(0/0 * * * ? *)", `minute "0/0": must be 0-59 with , - * /: the step after / must be 1-59`},
		{"cron(*/60 * * * ? *)", `for longer ones use rate(60 minutes)`},
		{"cron(/5 * * * ? *)", `write 0/5`},
		{"cron(1,,2 * * * ? *)", `minute ""`},
		{"cron(1- * * * ? *)", `minute ""`},
		{"cron(-1 * * * ? *)", `minute ""`},
		{"cron(+1 * * * ? *)", `minute "+1"`},
		{"cron(1.5 * * * ? *)", `minute "1.5"`},
		{"cron(*,5 * * * ? *)", `* must stand alone`},
		{"cron(? * * * ? *)", `only the two day fields take ?, write *`},
		{"cron(0 22-2 * * ? *)", `hour "22-2": must be 0-23 with , - * /: a range must not run backwards, write 22-23,0-2`},
		{"cron(0 0 ? * FRI-MON *)", `write FRI-SAT,SUN-MON`},
		{"cron(0 0 L-3 * ? *)", `L, LW and 15W stand alone`},
		{"cron(0 0 1,L * ? *)", `L, LW and 15W stand alone`},
		{"cron(0 0 32W * ? *)", `before W stands one day`},
		{"cron(0 0 ? * 3#6 *)", `before # stands one day, after it 1-5`},
		{"cron(0 0 ? * 3#1,6#3 *)", `before # stands one day`},
		{"cron(0 0 ? * 15W *)", `W belongs to day-of-month`},
		{"cron(0 L * * ? *)", `L, W and # belong to the day fields`},
		{"cron(0 0 ? * ? *)", `exactly one must be ?`},
		{"rate(0 minutes)", `value "0": must be a whole number of at least 1`},
		{"rate(-5 minutes)", `value "-5"`},
		{"rate(05 minutes)", `value "05"`},
		{"rate(1.5 hours)", `value "1.5"`},
		{"rate(99999999999999999999 days)", `value "99999999999999999999"`},
		{"rate(36501 days)", `must be at most 36500 days`},
		{"rate(1 minutes)", `rate(1 minute)`},
		{"rate(5 minute)", `rate(5 minutes)`},
		{"rate(5 weeks)", `unit "weeks": must be minute`},
		{"rate(5)", `rate "5": must be a value and a unit`},
		{"at(2026-11-20)", `time "2026-11-20": must be a local date and time`},
		{"at(2026-11-20T13:00:00Z)", `with the zone beside the expression`},
		{"at(2026-11-20T13:00:00.5)", `must be a local date and time`},
		{"at(2026-02-30T13:00:00)", `must be a local date and time`},
		{"at(2200-01-01T00:00:00)", `year "2200": must be 1970-2199`},
	} {
		refuses(t, c.expression, c.want)
	}
}

func TestUnixHabitsAreAnsweredWithTheAWSWay(t *testing.T) {
	for _, c := range []struct{ expression, want string }{
		{"*/15 * * * *", `AWS says cron(*/15 * * * ? *)`},
		{"cron(0 9 * * 1-5)", `AWS says cron(0 9 ? * MON-FRI *)`},
		{"cron(0 9 * * 0,7)", `AWS says cron(0 9 ? * SUN,SUN *)`},
		{"0 9 1 * *", `AWS says cron(0 9 1 * ? *)`},
		{"cron(0 9 1 * 1)", `on AWS that is two schedules`},
		{"cron(0 9 * * 5-7)", `other weekday numbers (AWS counts 1 = SUN), AWS says cron(0 9 ? * FRI-SAT,SUN *)`},
		{"cron(0 0 9 * * ? *)", `AWS has no seconds, leave out the first`},
		{"cron(0 0 9 * ? ?)", `the sixth field is the year`},
		{"0 9 ? * MON *", `AWS says cron(0 9 ? * MON *)`},
		{"cron(0 0 ? * 0 *)", `day-of-week "0": must be 1-7 or SUN-SAT (1 is SUN) with , - * / ? L #: Unix's 0 is 1 or SUN on AWS`},
		{"cron(34 12 * * SAT *)", `day-of-month "*" and day-of-week "SAT": exactly one must be ?: write ? and SAT`},
		{"cron(0 8 * * * *)", `exactly one must be ?: write * and ?`},
		{"cron(0 8 1 * MON *)", `on AWS that is two schedules`},
		{"@daily", `AWS says cron(0 0 * * ? *)`},
		{"@reboot", `AWS has no names that begin with @`},
		{"CRON(0 9 * * ? *)", `in lower case`},
		{" cron(0 9 * * ? *)", `without blanks around it`},
		{"cron(H * * * ? *)", `AWS spreads no start times`},
	} {
		refuses(t, c.expression, c.want)
	}
}

func TestDateThatNeverComesIsRefused(t *testing.T) {
	for _, expression := range []string{
		"cron(0 0 30 2 ? *)", "cron(0 0 31 4 ? *)", "cron(0 0 29 2 ? 2100)", "cron(0 0 31W 4 ? *)", "cron(0 0 31 2,4,6,9,11 ? *)",
	} {
		refuses(t, expression, "never comes in UTC: must name a date and a local time that exist")
	}
	in := schedule.In("America/New_York")
	refuses(t, "cron(30 2 8 3 ? 2026)", "never comes in America/New_York", in)
	refuses(t, "at(2026-03-08T02:30:00)", "the clocks go from 2026-03-08T02:00:00 to 2026-03-08T03:00:00", in)
	refuses(t, "cron(0 0 1 1 ? 2026)", "between its start and its end", schedule.Starting(day(2026, 6, 1)))
	refuses(t, "rate(2 days)", "end 2026-06-01T00:00:00Z: must be later than the start", schedule.Starting(day(2026, 6, 2)), schedule.Ending(day(2026, 6, 1)))
	refuses(t, "at(2026-11-20T13:00:00)", "start and end: must not be set", schedule.Starting(day(2026, 6, 1)))
	refuses(t, "rate(1 day)", "start 2200-01-01T00:00:00Z: must be in the years 1970-2199", schedule.Starting(day(2200, 1, 1)))
}

func TestUnknownZoneIsAnErrorNeverUTC(t *testing.T) {
	for _, zone := range []string{
		"", "Local", "Europe/Berlim", "europe/berlin ", "+02:00", "../etc/passwd", "right/UTC", "posix/UTC", "localtime", "posixrules", "Factory",
	} {
		refuses(t, "cron(0 2 * * ? *)", `timezone "`+zone+`": must be the name of an IANA zone`, schedule.In(zone))
	}
}

func refuses(t *testing.T, expression, want string, opts ...schedule.Option) {
	t.Helper()
	s, err := schedule.Parse(expression, opts...)
	if err == nil {
		t.Errorf("%q: taken, want an error with %q", expression, want)
		return
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("%q: got %q, want %q in it", expression, err, want)
	}
	if _, ok := s.Next(time.Time{}); ok || !s.IsZero() {
		t.Errorf("%q: the schedule beside the error is not the zero value", expression)
	}
}
