package schedule_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/pkg/schedule"
)

// badInputs are what people write for AWS's expressions, and what the answer must contain.
var badInputs = []struct{ expression, want string }{
	{"cron(0 12 * * ? *", `: the closing parenthesis is missing`},
	{"CRON(0 12 * * ? *", `: the closing parenthesis is missing`},
	{"rate(5 minutes", `: the closing parenthesis is missing`},
	{"cron(0 12 * * ? *);", `: nothing may follow the closing parenthesis`},
	{"0 12 * * ? *)", `must be cron(...), rate(...) or at(...)`},

	{"cron(0 2 * * 0 *)", `write ? and SUN if 0 is Unix's, AWS counts 1 = SUN`},
	{"cron(0 2 * * 7 *)", `write ? and SUN if 7 is Unix's, AWS counts 1 = SUN`},
	{"cron(0 2 * * 5 *)", `write ? and FRI if 5 is Unix's, AWS counts 1 = SUN`},
	{"cron(0 2 * * 1-5 *)", `write ? and MON-FRI if 1-5 is Unix's, AWS counts 1 = SUN`},
	{"cron(0 2 * * 5L *)", `write ? and FRIL if 5L is Unix's, AWS counts 1 = SUN`},
	{"cron(0 2 * * MON#2 *)", `write ? and MON#2`},
	{"cron(0 2 * * 9 *)", `write ? for the *`},
	{"cron(0 2 99 * * *)", `write ? for the *`},
	{"cron(0 2 L * * *)", `write L and ?`},
	{"0 2 * * 0 *", `AWS says cron(0 2 ? * SUN *) if the sixth field is a year, AWS counts 1 = SUN`},
	{"0 9 ? * 5 *", `AWS says cron(0 9 ? * THU *) if the sixth field is a year, AWS counts 1 = SUN`},
	{"0 2 * * 5", `(AWS counts 1 = SUN), AWS says cron(0 2 ? * FRI *)`},
	{"0 2 * * 1-7/2", `AWS says cron(0 2 ? * MON-SAT/2,SUN *)`},
	{"0 2 * * 10", `(AWS counts 1 = SUN)`},

	{"0 0 12 * * ?", `: AWS has no seconds, leave out the first: AWS says cron(0 12 * * ? *)`},
	{"cron(0 0 12 * * ?)", `year "?": must be 1970-2199 with , - * /: the sixth field is the year: AWS has no seconds, leave out the first: AWS says cron(0 12 * * ? *)`},
	{"cron(0 0 12 ? * MON)", `AWS has no seconds, leave out the first: AWS says cron(0 12 ? * MON *)`},
	{"0 0 9-17 * * MON-FRI", `AWS says cron(0 9-17 ? * MON-FRI *)`},
	{"0 0 12 ? * 2", `AWS says cron(0 12 ? * MON *) for Quartz's weekday numbers, cron(0 12 ? * TUE *) for Unix's and Spring's, AWS counts 1 = SUN`},
	{"cron(0 0 12 ? * 5-7)", `AWS says cron(0 12 ? * THU-SAT *) for Quartz's weekday numbers, cron(0 12 ? * FRI-SAT,SUN *) for Unix's`},
	{"0 0 12 ? * 0", `leave out the first: AWS says cron(0 12 ? * SUN *)`},
	{"*/10 * * * * ?", `AWS has no seconds, the shortest there is a minute`},
	{"cron(*/10 * * * * ?)", `AWS has no seconds, the shortest there is a minute`},
	{"0 0 9 * * *", `AWS says cron(0 0 9 * ? *) if the sixth field is a year; if the first is seconds, AWS has no seconds, leave out the first: AWS says cron(0 9 * * ? *)`},
	{"0 0 12 * * ? 2030", `AWS has no seconds, leave out the first: AWS says cron(0 12 * * ? 2030)`},
	{"cron(0 0 12 * * ? *)", `AWS has no seconds, leave out the first: AWS says cron(0 12 * * ? *)`},
	{"0 0 12 31 2 ?", `must be cron(...), rate(...) or at(...)`}, // never comes
	{"0 8 1 * MON *", `must be cron(...), rate(...) or at(...)`},
	{"run it at noon, would you", `must be cron(...), rate(...) or at(...)`},

	{"@hourly", `AWS says cron(0 * * * ? *)`},
	{"@Daily", `AWS says cron(0 0 * * ? *)`},
	{"@weekly", `AWS says cron(0 0 ? * SUN *)`},
	{"@monthly", `AWS says cron(0 0 1 * ? *)`},
	{"@yearly", `AWS says cron(0 0 1 1 ? *)`},
	{"cron(@hourly)", `AWS says cron(0 * * * ? *)`},
	{"cron(@daily)", `AWS says cron(0 0 * * ? *)`},
	{"cron(@weekly)", `AWS says cron(0 0 ? * SUN *)`},
	{"cron(@monthly)", `AWS says cron(0 0 1 * ? *)`},
	{"cron(@yearly)", `AWS says cron(0 0 1 1 ? *)`},
	{"cron(@reboot)", `AWS has no names that begin with @`},
	{"@every 5m", `AWS has no names that begin with @`},

	{"cron(0 0 ? * SAT-SUN *)", `write SAT,SUN`},
	{"cron(0 0 ? * SAT-MON *)", `write SAT,SUN-MON`},
	{"cron(0 0 ? * 6-2 *)", `write FRI-SAT,SUN-MON, AWS counts 1 = SUN`},
	{"cron(0 23-0 * * ? *)", `write 23,0`},
	{"cron(0 21-4/2 * * ? *)", `hour "21-4/2": must be 0-23 with , - * /: a range must not run backwards, write 21-23/2,1-4/2`},
	{"cron(0 20-2/8 * * ? *)", `write 20`},
	{"cron(0 0 1 NOV-FEB ? *)", `write NOV-DEC,JAN-FEB`},
	{"cron(0 0 1 1 ? 2030-2026)", `a range must not run backwards`},

	{"cron(*/90 * * * ? *)", `rate(90 minutes)`},
	{"rate(2 day)", `rate(2 days)`},
	{"rate(99999 day)", `at most 36500 days`},
	{"rate(5)", `rate(15 minutes)`},
}

func TestHintsOfOtherDialects(t *testing.T) {
	for _, c := range badInputs {
		refuses(t, c.expression, c.want)
	}
}

var (
	suggested  = regexp.MustCompile(`(?:cron|rate|at)\([^).][^)]*\)`)
	twoDays    = regexp.MustCompile(`write (\S+) and ([^\s,]+)$|write (\S+) and (\S+) if`)
	otherRange = regexp.MustCompile(`^(?:\S+) "(\S+)": .*run backwards, write (\S+?)(?:, |$)`)
)

func TestEverySuggestionIsTaken(t *testing.T) {
	n := 0
	for _, c := range badInputs {
		_, err := schedule.Parse(c.expression)
		if err == nil {
			t.Errorf("%q: taken", c.expression)
			continue
		}
		_, said, _ := strings.Cut(err.Error(), `": `) // behind the expression itself
		suggestions := suggested.FindAllString(said, -1)
		if m := twoDays.FindStringSubmatch(said); m != nil {
			f := strings.Fields(c.expression)
			f[2], f[4] = m[1]+m[3], m[2]+m[4]
			suggestions = append(suggestions, strings.Join(f, " "))
		}
		if m := otherRange.FindStringSubmatch(said); m != nil {
			suggestions = append(suggestions, strings.Replace(c.expression, m[1], m[2], 1))
		}
		for _, s := range suggestions {
			n++
			if _, err := schedule.Parse(s); err != nil {
				t.Errorf("%q: suggests %q, which is refused: %v", c.expression, s, err)
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d suggestions found", n)
	}
}
