package schedule

import (
	"strings"
	"time"
)

// The first number of a dialect's week, which is Sunday's: Unix and Spring count 0 = SUN,
// and 7 is SUN again; Quartz and AWS count 1 = SUN.
const (
	unixSunday   = 0
	quartzSunday = 1
	awsCounts    = "AWS counts 1 = SUN"
)

var macros = map[string]string{
	"@yearly": "cron(0 0 1 1 ? *)", "@annually": "cron(0 0 1 1 ? *)", "@monthly": "cron(0 0 1 * ? *)",
	"@weekly": "cron(0 0 ? * SUN *)", "@daily": "cron(0 0 * * ? *)", "@midnight": "cron(0 0 * * ? *)",
	"@hourly": "cron(0 * * * ? *)",
}

// awsCron is the expression of six fields that AWS takes: what is suggested must be taken.
func awsCron(fields ...string) (string, bool) {
	expression, c, err := parseCron(strings.Join(fields, " "), time.UTC)
	if err != nil {
		return "", false
	}
	_, comes := c.next(earliest)
	return expression, comes
}

// fromLine is the AWS expression of another dialect's minute hour day month weekday, of
// which at most one day field is set.
func fromLine(fields []string, year string, sunday int) (string, bool) {
	day, weekday := fields[2], fields[4]
	switch {
	case bothDays(day, weekday):
		return "", false
	case isAny(weekday) && day == "?":
		day, weekday = "*", "?"
	case isAny(weekday):
		weekday = "?"
	default:
		day, weekday = "?", nameWeekdays(weekday, sunday)
	}
	return awsCron(fields[0], fields[1], day, fields[3], weekday, year)
}

func isAny(day string) bool { return day == "*" || day == "?" }

func bothDays(day, weekday string) bool { return !isAny(day) && !isAny(weekday) }

// fromSixth reads six fields as AWS's, or as a Unix line with a year.
func fromSixth(fields []string) (string, bool) {
	if _, ok := awsCron(fields...); ok {
		return awsCron(fields[0], fields[1], fields[2], fields[3], nameWeekdays(fields[4], quartzSunday), fields[5])
	}
	return fromLine(fields[:5], fields[5], unixSunday)
}

// withoutSeconds says on AWS a line that begins with seconds and may end with a year. Where
// Quartz and Spring mean different weekdays by its numbers, it says both.
func withoutSeconds(fields []string) (string, bool) {
	year := "*"
	if len(fields) == 7 {
		year = fields[6]
	}
	unix, isUnix := fromLine(fields[1:6], year, unixSunday)
	quartz, isQuartz := fromLine(fields[1:6], year, quartzSunday)
	_, once := number(fields[0])
	switch {
	case !isUnix && !isQuartz || minuteField.expand(fields[0], func(int) {}) != nil:
		return "", false
	case !once:
		return "AWS has no seconds, the shortest there is a minute", true
	case isUnix && isQuartz && unix != quartz:
		return "AWS has no seconds, leave out the first: AWS says " + quartz + " for Quartz's weekday numbers, " +
			unix + " for Unix's and Spring's, " + awsCounts, true
	case !isQuartz:
		quartz = unix
	}
	return "AWS has no seconds, leave out the first: AWS says " + quartz, true
}

// nameWeekdays puts names for a dialect's numbers. A range that ends with Unix's 7 runs
// backwards on AWS and becomes two. What it does not know it leaves as it is, for AWS to
// refuse.
func nameWeekdays(text string, sunday int) string {
	items := strings.Split(text, ",")
	for i, item := range items {
		days, step, stepped := strings.Cut(item, "/")
		first, last, ranged := strings.Cut(days, "-")
		first = nameWeekday(first, sunday)
		items[i] = first
		if ranged {
			last = nameWeekday(last, sunday)
			items[i] += "-" + last
		}
		if stepped {
			items[i] += "/" + step
		} else {
			step = "1"
		}
		from, errFrom := weekdayField.value(first)
		to, errTo := weekdayField.value(last)
		n, ok := number(step)
		if ranged && errFrom == nil && errTo == nil && ok && n > 0 && from > to {
			items[i] = weekdayField.wrapped(from, to, n)
		}
	}
	return strings.Join(items, ",")
}

// nameWeekday names 5 and the 5 of 5L and 5#2.
func nameWeekday(text string, sunday int) string {
	if text == "" || text[0] < byte('0'+sunday) || text[0] > '7' || len(text) > 1 && text[1] != 'L' && text[1] != '#' {
		return text
	}
	return weekdayField.names[(int(text[0]-'0')-sunday)%7] + text[1:]
}
