package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The builders return a schedule alone, so that it fits into props; a wrong argument makes
// one without ticks whose [Schedule.Err] says what is wrong, and which fails at synth.

// LastDay is the last day of a month, whichever that is; for [Monthly].
const LastDay = -1

// Every ticks at a steady rate of whole minutes, the first time at the start if there is
// one; see [Schedule.Anchored] and [Schedule.AsCron] for the phase without. A day is 24
// hours: use [Daily] for the same local time every day.
func Every(d time.Duration, opts ...Option) Schedule {
	if d < time.Minute || d%time.Minute != 0 {
		return broken(fmt.Errorf("schedule every %v: must be whole minutes and at least one", d))
	}
	unit, value := "minute", int64(d/time.Minute)
	switch {
	case d%(24*time.Hour) == 0:
		unit, value = "day", int64(d/(24*time.Hour))
	case d%time.Hour == 0:
		unit, value = "hour", int64(d/time.Hour)
	}
	return build(fmt.Sprintf("rate(%d %s)", value, unitFor(unit, value)), opts)
}

// Hourly ticks at that minute, 0-59, of every hour, by default of UTC's hours.
func Hourly(minute int, opts ...Option) Schedule {
	return Cron(CronFields{Minute: strconv.Itoa(minute), Hour: "*"}, opts...)
}

// Daily ticks every day at that local time of an IANA zone, hour 0-23, minute 0-59. It skips
// the day on which a change of clocks leaves that time out.
func Daily(hour, minute int, zone string, opts ...Option) Schedule {
	return Cron(at(hour, minute), in(zone, opts)...)
}

// Weekly ticks on that day of every week at that local time of an IANA zone; see [Daily].
func Weekly(day time.Weekday, hour, minute int, zone string, opts ...Option) Schedule {
	if day < time.Sunday || day > time.Saturday {
		return broken(fmt.Errorf("schedule weekly on weekday %d: must be time.Sunday to time.Saturday", int(day)))
	}
	f := at(hour, minute)
	f.Weekday = weekdayField.names[day]
	return Cron(f, in(zone, opts)...)
}

// Monthly ticks on that day of the month, 1-31 or [LastDay], at that local time of an IANA
// zone; see [Daily]. It skips the months that have no such day.
func Monthly(day, hour, minute int, zone string, opts ...Option) Schedule {
	f := at(hour, minute)
	f.Day = strconv.Itoa(day)
	if day == LastDay {
		f.Day = "L"
	}
	return Cron(f, in(zone, opts)...)
}

func at(hour, minute int) CronFields {
	return CronFields{Hour: strconv.Itoa(hour), Minute: strconv.Itoa(minute)}
}

func in(zone string, opts []Option) []Option { return append([]Option{In(zone)}, opts...) }

// CronFields are the fields of a cron expression in AWS's syntax. Minute and Hour must be
// set: left empty they are an error and never every minute or every hour. The others mean
// every value when empty; at most one of Day and Weekday may be set.
type CronFields struct {
	Minute, Hour, Day, Month, Weekday, Year string
}

// Cron builds a cron expression from its fields.
func Cron(f CronFields, opts ...Option) Schedule {
	for _, required := range []struct{ name, text string }{{"minute", f.Minute}, {"hour", f.Hour}} {
		if required.text == "" {
			return broken(fmt.Errorf("schedule cron: %s is not set: must be set, write \"*\" for every %s", required.name, required.name))
		}
	}
	day, weekday := f.Day, f.Weekday
	switch {
	case day == "" && weekday == "":
		day, weekday = "*", "?"
	case day == "":
		day = "?"
	case weekday == "":
		weekday = "?"
	}
	fields := []string{f.Minute, f.Hour, day, every(f.Month), weekday, every(f.Year)}
	for i, text := range fields {
		if len(strings.Fields(text)) != 1 { // blanks would move the others along
			return broken(fmt.Errorf("schedule cron: field %d %q: must be one field, without blanks", i+1, text))
		}
	}
	return build("cron("+strings.Join(fields, " ")+")", opts)
}

func every(text string) string {
	if text == "" {
		return "*"
	}
	return text
}

func build(expression string, opts []Option) Schedule {
	s, err := Parse(expression, opts...)
	if err != nil {
		return broken(err)
	}
	return s
}

func broken(err error) Schedule { return Schedule{err: err} }
