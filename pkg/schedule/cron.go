package schedule

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

// calendar is a cron expression: its local times of day, its days, and the zone they are in.
// The library searches, on wall times; it is given expanded fields, since its own syntax is
// Unix's, and it is given no zone, since its rules on clock changes are not AWS's. Setting
// MaxSearchYears here, and not by the parser's option, reaches every search: its default of
// five years misses 29 February 2104 from 2096.
type calendar struct {
	ticks cron.SpecSchedule // every tick
	days  cron.SpecSchedule // midnight of every day with ticks
	daily bool              // every day has ticks
	loc   *time.Location
}

func parseCron(body string, loc *time.Location) (string, plan, error) {
	fields := strings.Fields(strings.ToUpper(body))
	if len(fields) != 6 {
		return "", nil, fmt.Errorf("cron with %d fields: must have 6, minute hour day-of-month month day-of-week year%s", len(fields), hintCount(fields))
	}
	if err := hintSeconds(fields); err != nil {
		return "", nil, err
	}
	spec := cron.SpecSchedule{Second: 1, Location: time.UTC, MaxSearchYears: maxYear - minYear + 1}
	for _, p := range []struct {
		field
		text string
		mask *uint64
	}{{minuteField, fields[0], &spec.Minute}, {hourField, fields[1], &spec.Hour}, {monthField, fields[3], &spec.Month}} {
		if err := p.expand(p.text, func(v int) { *p.mask |= 1 << v }); err != nil {
			return "", nil, err
		}
	}
	if err := parseDays(fields[2], fields[4], &spec); err != nil {
		return "", nil, err
	}
	if fields[5] != "*" {
		spec.Year = map[int]struct{}{}
		if err := yearField.expand(fields[5], func(v int) { spec.Year[v] = struct{}{} }); err != nil {
			return "", nil, err
		}
	}
	c := &calendar{ticks: spec, days: spec, loc: loc}
	c.days.Minute, c.days.Hour = 1, 1
	c.daily = spec.Dom == anyDay && spec.Dow == anyWeekday && spec.Month == anyMonth && spec.Year == nil
	return "cron(" + strings.Join(fields, " ") + ")", c, nil
}

// Masks of all values, in the library's numbering: its weekdays are 0-6.
const (
	anyDay     = 1<<32 - 1<<1
	anyMonth   = 1<<13 - 1<<1
	anyWeekday = 1<<7 - 1
)

// parseDays reads the two day fields, of which exactly one is "?".
func parseDays(day, weekday string, spec *cron.SpecSchedule) error {
	spec.Dom, spec.Dow = anyDay, anyWeekday
	switch {
	case day == "?" && weekday == "?":
		return fmt.Errorf("day-of-month \"?\" and day-of-week \"?\": exactly one must be ?: for every day write * and ?")
	case weekday == "?":
		spec.Dom = 0
		return parseDay(day, spec)
	case day == "?":
		spec.Dow = 0
		return parseWeekday(weekday, spec)
	}
	return fmt.Errorf("day-of-month %q and day-of-week %q: exactly one must be ?: %s", day, weekday, hintBothDays(day, weekday))
}

func parseDay(text string, spec *cron.SpecSchedule) error {
	nearest, isNearest := strings.CutSuffix(text, "W")
	switch {
	case text == "L":
		spec.DomConstraints = []cron.DomConstraint{{Type: cron.DomLast}}
		return nil
	case text == "LW":
		spec.DomConstraints = []cron.DomConstraint{{Type: cron.DomLastWeekday}}
		return nil
	case isNearest:
		n, ok := number(nearest)
		if !ok || n < dayField.min || n > dayField.max {
			return dayField.refuse(text, "before W stands one day, such as 15W, or L")
		}
		spec.DomConstraints = []cron.DomConstraint{{Type: cron.DomNearestWeekday, N: n}}
		return nil
	}
	return dayField.expand(text, func(v int) { spec.Dom |= 1 << v })
}

func parseWeekday(text string, spec *cron.SpecSchedule) error {
	last, isLast := strings.CutSuffix(text, "L")
	of, nth, isNth := strings.Cut(text, "#")
	switch {
	case text == "L":
		spec.Dow = 1 << time.Saturday
		return nil
	case isLast:
		v, err := weekdayField.value(last)
		if err != nil {
			return weekdayField.refuse(text, "before L stands one day, such as 6L or FRIL")
		}
		spec.DowConstraints = []cron.DowConstraint{{Weekday: v - 1, N: -1}}
		return nil
	case isNth:
		v, err := weekdayField.value(of)
		n, ok := number(nth)
		if err != nil || !ok || n < 1 || n > 5 {
			return weekdayField.refuse(text, "before # stands one day, after it 1-5, such as 3#2 for the second Tuesday")
		}
		spec.DowConstraints = []cron.DowConstraint{{Weekday: v - 1, N: n}}
		return nil
	}
	return weekdayField.expand(text, func(v int) { spec.Dow |= 1 << (v - 1) })
}

func (c *calendar) next(t time.Time) (time.Time, bool) {
	wall := reached(t, c.loc)
	if wall.Before(earliest) {
		wall = earliest.Add(-time.Nanosecond)
	}
	for {
		wall = c.ticks.Next(lastSecond(wall))
		if wall.IsZero() || !wall.Before(latest) {
			return time.Time{}, false
		}
		tick, skipped, ok := instantOf(wall, c.loc)
		if ok {
			return tick, true
		}
		wall = skipped.to.Add(-time.Nanosecond)
	}
}

// Ticks lie on whole minutes, and the library searches second by second: it is spared those
// in which there is none. lastSecond has the same ticks after it as t, firstSecond the same
// before it.
func lastSecond(t time.Time) time.Time { return t.Truncate(time.Minute).Add(59 * time.Second) }

func firstSecond(t time.Time) time.Time {
	return t.Add(time.Minute - time.Nanosecond).Truncate(time.Minute).Add(-59 * time.Second)
}

func (c *calendar) prev(t time.Time) (time.Time, bool) {
	wall := c.before(t)
	if wall.After(latest) {
		wall = latest
	}
	for {
		wall = c.ticks.Prev(firstSecond(wall))
		if wall.IsZero() || wall.Before(earliest) {
			return time.Time{}, false
		}
		tick, skipped, ok := instantOf(wall, c.loc)
		if ok {
			return tick, true
		}
		wall = skipped.from
	}
}

// before is the wall time, in whole seconds, before which every tick came before t.
func (c *calendar) before(t time.Time) time.Time {
	wall := reached(t.Add(-time.Nanosecond), c.loc)
	return wall.Truncate(time.Second).Add(time.Second)
}

// count multiplies days by the ticks of a day and takes off what clock changes left out.
func (c *calendar) count(a, b time.Time) int {
	n := c.walls(reached(a, c.loc), reached(b, c.loc))
	for at := a.In(c.loc); ; {
		_, until := bounds(at)
		if until.IsZero() || until.After(b) {
			return n
		}
		before, after := offsetAt(at), offsetAt(until)
		if after > before {
			from := until.UTC().Add(before - time.Second)
			n -= c.walls(from, from.Add(after-before))
		}
		at = until
	}
}

// walls counts the wall times of ticks in (from, to].
func (c *calendar) walls(from, to time.Time) int {
	if from.Before(earliest) {
		from = earliest.Add(-time.Second)
	}
	if !to.Before(latest) {
		to = latest.Add(-time.Second)
	}
	if !to.After(from) {
		return 0
	}
	first, last := from.Truncate(24*time.Hour), to.Truncate(24*time.Hour)
	n := c.daysIn(first, last) * c.upTo(24*time.Hour-1)
	if c.daysIn(first, first) == 1 {
		n -= c.upTo(from.Sub(first))
	}
	if c.daysIn(last, last) == 1 {
		n -= c.upTo(24*time.Hour-1) - c.upTo(to.Sub(last))
	}
	return n
}

// daysIn counts the days with ticks from first to last, midnights both and both included.
func (c *calendar) daysIn(first, last time.Time) int {
	if c.daily {
		return int(last.Sub(first)/(24*time.Hour)) + 1
	}
	n := 0
	for day := first.Add(-time.Second); ; n++ {
		day = c.days.Next(day)
		if day.IsZero() || day.After(last) {
			return n
		}
	}
}

// upTo counts a day's ticks from midnight to that time of the day, included.
func (c *calendar) upTo(timeOfDay time.Duration) int {
	hour, minute := int(timeOfDay/time.Hour), int(timeOfDay%time.Hour/time.Minute)
	perHour := bits.OnesCount64(c.ticks.Minute)
	n := bits.OnesCount64(c.ticks.Hour&(1<<hour-1)) * perHour
	if c.ticks.Hour>>hour&1 == 1 {
		n += bits.OnesCount64(c.ticks.Minute & (2<<minute - 1))
	}
	return n
}
