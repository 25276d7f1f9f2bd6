package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// Hints say on AWS what somebody wrote in another dialect. They only ever stand in errors:
// nothing is converted silently.

// hintKind is the error of a text that is not one of AWS's three kinds.
func hintKind(expression string) string {
	const must = "must be cron(...), rate(...) or at(...)"
	trimmed := strings.TrimSpace(expression)
	fields := strings.Fields(strings.ToUpper(trimmed))
	_, _, lower := cutKind(strings.ToLower(trimmed))
	_, _, closed := cutKind(strings.ToLower(trimmed) + ")")
	switch {
	case expression == "":
		return "expression \"\": " + must
	case lower:
		return must + ", in lower case and without blanks around it"
	case closed && strings.Contains(trimmed, ")"):
		return must + ": nothing may follow the closing parenthesis"
	case closed:
		return must + ": the closing parenthesis is missing"
	case len(fields) == 6:
		return must + hintSix(fields)
	}
	return must + hintCount(fields)
}

// hintCount explains a wrong number of fields, in capitals already.
func hintCount(fields []string) string {
	switch {
	case len(fields) > 0 && strings.HasPrefix(fields[0], "@"):
		if said := macros[strings.ToLower(fields[0])]; said != "" && len(fields) == 1 {
			return ": AWS says " + said
		}
		return ": AWS has no names that begin with @"
	case len(fields) == 5 && bothDays(fields[2], fields[4]):
		return ": a Unix line with both day fields runs when either matches, on AWS that is two schedules"
	case len(fields) == 5:
		hint := ": a Unix line has no year and other weekday numbers (" + awsCounts + ")"
		if said, ok := fromLine(fields, "*", unixSunday); ok {
			hint += ", AWS says " + said
		}
		return hint
	case len(fields) == 7:
		if said, ok := withoutSeconds(fields); ok {
			return ": " + said
		}
	}
	return ""
}

// hintSix explains six fields without cron(...) around them, which may begin with seconds or
// end with a year.
func hintSix(fields []string) string {
	hint := ""
	if said, ok := fromSixth(fields); ok {
		hint = ": AWS says " + said + " if the sixth field is a year"
		if nameWeekdays(fields[4], unixSunday) != fields[4] {
			hint += ", " + awsCounts
		}
	}
	if said, ok := withoutSeconds(fields); ok && hint != "" {
		hint += "; if the first is seconds, " + said
	} else if ok {
		hint = ": " + said
	}
	return hint
}

// hintSeconds explains six fields of cron(...) that end with no year and begin with seconds.
func hintSeconds(fields []string) error {
	year := fields[5]
	if yearField.expand(year, func(int) {}) == nil {
		return nil
	}
	said, ok := withoutSeconds(fields)
	if !ok {
		return nil
	}
	return yearField.refuse(year, "the sixth field is the year: "+said)
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

// hintBackwards splits a range that runs over the end of the field; years have none.
func (f field) hintBackwards(from, to, step int, item string) string {
	const not = "a range must not run backwards"
	switch {
	case f.name == yearField.name:
		return not
	case f.name == weekdayField.name && nameWeekdays(item, unixSunday) != nameWeekdays(item, quartzSunday):
		return fmt.Sprintf("%s, write %s, %s", not, f.wrapped(from, to, step), awsCounts)
	}
	return fmt.Sprintf("%s, write %s", not, f.wrapped(from, to, step))
}

// hintBothDays explains two day fields that are both set.
func hintBothDays(day, weekday string) string {
	named := nameWeekdays(weekday, unixSunday)
	_, dayTaken := awsCron("0", "0", day, "*", "?", "*")
	_, weekdayTaken := awsCron("0", "0", "?", "*", named, "*")
	switch {
	case weekday == "*" && dayTaken:
		return fmt.Sprintf("write %s and ?", day)
	case day == "*" && weekdayTaken && named != weekday:
		return fmt.Sprintf("write ? and %s if %s is Unix's, %s", named, weekday, awsCounts)
	case day == "*" && weekdayTaken:
		return fmt.Sprintf("write ? and %s", weekday)
	case day == "*" || weekday == "*":
		return "write ? for the *"
	}
	return "Unix runs when either matches, on AWS that is two schedules"
}
