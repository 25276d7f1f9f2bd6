package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// The years of cron's year field.
const minYear, maxYear = 1970, 2199

// field is one of the six fields of a cron expression, under AWS's name for it.
type field struct {
	name     string
	min, max int
	names    []string // names[i] stands for min+i
	allowed  string
}

var (
	minuteField = field{name: "minute", min: 0, max: 59, allowed: "0-59 with , - * /"}
	hourField   = field{name: "hour", min: 0, max: 23, allowed: "0-23 with , - * /"}
	dayField    = field{name: "day-of-month", min: 1, max: 31, allowed: "1-31 with , - * / ? L W"}
	monthField  = field{
		name: "month", min: 1, max: 12, allowed: "1-12 or JAN-DEC with , - * /",
		names: []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"},
	}
	weekdayField = field{
		name: "day-of-week", min: 1, max: 7, allowed: "1-7 or SUN-SAT (1 is SUN) with , - * / ? L #",
		names: []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"},
	}
	yearField = field{name: "year", min: minYear, max: maxYear, allowed: "1970-2199 with , - * /"}
)

// refuse makes the error of a field; hint, when there is one, is the way to say it on AWS.
func (f field) refuse(text, hint string) error {
	if hint != "" {
		hint = ": " + hint
	}
	return fmt.Errorf("%s %q: must be %s%s", f.name, text, f.allowed, hint)
}

// expand calls add with every value that the field's text stands for, some more than once.
// L, W, # and ? are not its business.
func (f field) expand(text string, add func(value int)) error {
	if text == "*" {
		f.span(f.min, f.max, 1, add)
		return nil
	}
	for _, item := range strings.Split(text, ",") {
		if err := f.expandItem(item, add); err != nil {
			return err
		}
	}
	return nil
}

// expandItem reads a value, a range, or one of them or * with a step.
func (f field) expandItem(item string, add func(value int)) error {
	base, stepText, stepped := strings.Cut(item, "/")
	step := 1
	if stepped {
		n, ok := number(stepText)
		most := f.max
		if f.min == minYear {
			most -= minYear
		}
		if !ok || n < 1 || n > most {
			return f.refuse(item, fmt.Sprintf("the step after / must be 1-%d%s", most, f.longStep(n)))
		}
		step = n
	}
	first, last, ranged := strings.Cut(base, "-")
	switch {
	case base == "*" && stepped:
		f.span(f.min, f.max, step, add)
		return nil
	case base == "*":
		return f.refuse(item, "* must stand alone")
	case base == "" && stepped:
		return f.refuse(item, fmt.Sprintf("write %d/%s", f.min, stepText))
	}
	from, err := f.value(first)
	if err != nil {
		return err
	}
	to := from
	if ranged {
		if to, err = f.value(last); err != nil {
			return err
		}
	} else if stepped {
		to = f.max
	}
	if from > to {
		return f.refuse(item, f.hintBackwards(from, to, step, item))
	}
	f.span(from, to, step, add)
	return nil
}

func (f field) span(from, to, step int, add func(value int)) {
	for v := from; v <= to; v += step {
		add(v)
	}
}

// value reads a number or a name.
func (f field) value(text string) (int, error) {
	for i, name := range f.names {
		if text == name {
			return f.min + i, nil
		}
	}
	n, ok := number(text)
	if !ok || n < f.min || n > f.max {
		return 0, f.refuse(text, f.hint(text))
	}
	return n, nil
}

// show is the value as a person would write it: its name where it has one.
func (f field) show(value int) string {
	if f.names != nil {
		return f.names[value-f.min]
	}
	return strconv.Itoa(value)
}

// wrapped is a range that runs backwards, over the end of the field, as AWS takes it.
func (f field) wrapped(from, to, step int) string {
	again := from
	for again <= f.max {
		again += step
	}
	again -= f.max - f.min + 1
	if again > to {
		return f.showRange(from, f.max, step)
	}
	return f.showRange(from, f.max, step) + "," + f.showRange(again, to, step)
}

func (f field) showRange(from, to, step int) string {
	switch {
	case from+step > to:
		return f.show(from)
	case step > 1:
		return fmt.Sprintf("%s-%s/%d", f.show(from), f.show(to), step)
	}
	return f.show(from) + "-" + f.show(to)
}

// number reads up to four digits: no sign, no fraction.
func number(text string) (int, bool) {
	if text == "" || len(text) > 4 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}
