package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Hints say on AWS what somebody wrote in another dialect. They only ever stand in errors:
// nothing is converted silently.

var macros = map[string]string{
	"@yearly": "cron(0 0 1 1 ? *)", "@annually": "cron(0 0 1 1 ? *)", "@monthly": "cron(0 0 1 * ? *)",
	"@weekly": "cron(0 0 ? * SUN *)", "@daily": "cron(0 0 * * ? *)", "@midnight": "cron(0 0 * * ? *)",
	"@hourly": "cron(0 * * * ? *)",
}

// hintKind is the error of a text that is not one of AWS's three kinds.
func hintKind(expression string) string {
	const must = "must be cron(...), rate(...) or at(...)"
	trimmed := strings.TrimSpace(expression)
	fields := strings.Fields(strings.ToUpper(trimmed))
	_, _, lower := cutKind(strings.ToLower(trimmed))
	switch {
	case expression == "":
		return "expression \"\": " + must
	case macros[strings.ToLower(trimmed)] != "":
		return must + ": AWS says " + macros[strings.ToLower(trimmed)]
	case strings.HasPrefix(trimmed, "@"):
		return must + ": AWS has no names that begin with @"
	case lower:
		return must + ", in lower case and without blanks around it"
	case len(fields) == 5:
		return must + hintCount(fields)
	case len(fields) == 6:
		return must + ": AWS says cron(" + strings.Join(fields, " ") + ") if the sixth field is a year"
	}
	return must
}

// hintCount explains a wrong number of fields, in capitals already.
func hintCount(fields []string) string {
	switch len(fields) {
	case 5:
		if fields[2] != "*" && fields[4] != "*" && fields[2] != "?" && fields[4] != "?" {
			return ": a Unix line with both day fields runs when either matches, on AWS that is two schedules"
		}
		if said, ok := fromUnix(fields); ok {
			return ": a Unix line has no year and other weekday numbers, AWS says " + said
		}
		return ": a Unix line has no year and other weekday numbers (AWS: 1 is SUN)"
	case 7:
		return ": AWS has no seconds, leave out the first"
	}
	return ""
}

// fromUnix is the AWS expression of a Unix line in which at most one day field is set.
func fromUnix(fields []string) (string, bool) {
	day, weekday := fields[2], fields[4]
	if weekday == "*" || weekday == "?" {
		weekday = "?"
		if day == "?" {
			day = "*"
		}
	} else {
		day, weekday = "?", unixWeekdays(weekday)
	}
	body := strings.Join([]string{fields[0], fields[1], day, fields[3], weekday, "*"}, " ")
	expression, c, err := parseCron(body, time.UTC)
	if err != nil {
		return "", false
	}
	_, comes := c.next(earliest)
	return expression, comes
}

// unixWeekdays puts names for Unix's numbers, in which 0 and 7 are Sunday. A step keeps its
// number and makes the text invalid or right, never something else: its start is named.
func unixWeekdays(text string) string {
	var b strings.Builder
	for i, c := range text {
		if c >= '0' && c <= '7' && (i == 0 || text[i-1] == ',' || text[i-1] == '-') {
			b.WriteString(weekdayField.names[int(c-'0')%7])
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// hint is the AWS way to say a value that is out of a field's bounds.
func (f field) hint(text string) string {
	n, isNumber := number(text)
	switch {
	case f.name == weekdayField.name && isNumber && n == 0:
		return "Unix's 0 is 1 or SUN on AWS"
	case f.name == yearField.name && text == "?":
		return "the sixth field is the year, AWS has no seconds"
	case text == "?":
		return "only the two day fields take ?, write *"
	case strings.ContainsAny(text, "L#W") && !isName(text, f.names):
		return hintSpecial(f)
	case strings.ContainsAny(text, "H~@"):
		return "AWS spreads no start times, write the value"
	}
	return ""
}

func isName(text string, names []string) bool {
	for _, name := range names {
		if strings.HasPrefix(text, name) {
			return true
		}
	}
	return false
}

func hintSpecial(f field) string {
	switch f.name {
	case dayField.name:
		return "L, LW and 15W stand alone: no list, no offset"
	case weekdayField.name:
		return "L, 6L and 3#2 stand alone: no list; W belongs to day-of-month"
	}
	return "L, W and # belong to the day fields"
}

// longStep is how to say a step that goes beyond the field: "*/90" is no 90 minutes on AWS.
func (f field) longStep(step int) string {
	unit := map[string]string{minuteField.name: "minute", hourField.name: "hour", dayField.name: "day"}[f.name]
	if unit == "" || step <= f.max {
		return ""
	}
	return fmt.Sprintf(", for longer ones use rate(%s %ss)", strconv.Itoa(step), unit)
}

// hintBothDays explains two day fields that are both set.
func hintBothDays(day, weekday string) string {
	switch {
	case weekday == "*":
		return fmt.Sprintf("write %s and ?", day)
	case day == "*":
		return fmt.Sprintf("write ? and %s", weekday)
	}
	return "Unix runs when either matches, on AWS that is two schedules"
}
