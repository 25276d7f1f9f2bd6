package schedule_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The oracle reads AWS's grammar in the plainest way there is: it asks of every minute
// whether its local time matches the expression's text. It shares no code and no table with
// the package, and knows only expressions that the generator writes.

// matches says whether a value matches a field of values, ranges, steps, lists or *.
func matches(t testing.TB, text string, value, min, max int, names string) bool {
	for _, item := range strings.Split(text, ",") {
		step := 1
		if i := strings.IndexByte(item, '/'); i >= 0 {
			step = plain(t, item[i+1:], "", 0)
			item = item[:i]
			if !strings.ContainsAny(item, "*-") {
				item += "-" + strconv.Itoa(max)
			}
		}
		from, to := min, max
		if item != "*" {
			ends := strings.Split(item, "-")
			from = plain(t, ends[0], names, min)
			to = plain(t, ends[len(ends)-1], names, min)
		}
		for v := from; v <= to; v += step {
			if v == value {
				return true
			}
		}
	}
	return false
}

// plain is a number, or the place of a three-letter name in names, counted from min.
func plain(t testing.TB, text, names string, min int) int {
	if i := strings.Index(names, strings.ToUpper(text)); names != "" && i >= 0 {
		return i/3 + min
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("the oracle cannot read %q", text)
	}
	return n
}

const (
	monthNames   = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"
	weekdayNames = "SUNMONTUEWEDTHUFRISAT"
)

// matchesDay says whether a date matches both day fields and month and year.
func matchesDay(t testing.TB, f []string, year int, month time.Month, day int) bool {
	if !matches(t, f[5], year, 1970, 2199, "") || !matches(t, f[3], int(month), 1, 12, monthNames) {
		return false
	}
	weekday := int(time.Date(year, month, day, 12, 0, 0, 0, time.UTC).Weekday()) + 1
	length := 28
	for time.Date(year, month, length+1, 12, 0, 0, 0, time.UTC).Month() == month {
		length++
	}
	if f[2] == "?" {
		switch text := f[4]; {
		case text == "L":
			return weekday == 7
		case strings.HasSuffix(text, "L"):
			return weekday == plain(t, text[:len(text)-1], weekdayNames, 1) && day+7 > length
		case strings.Contains(text, "#"):
			of, nth, _ := strings.Cut(text, "#")
			return weekday == plain(t, of, weekdayNames, 1) && (day+6)/7 == plain(t, nth, "", 0)
		default:
			return matches(t, text, weekday, 1, 7, weekdayNames)
		}
	}
	switch text := f[2]; {
	case text == "L":
		return day == length
	case text == "LW":
		return day == closestWorkday(year, month, length, length)
	case strings.HasSuffix(text, "W"):
		n := plain(t, text[:len(text)-1], "", 0)
		return n <= length && day == closestWorkday(year, month, n, length)
	default:
		return matches(t, text, day, 1, 31, "")
	}
}

// closestWorkday looks at every day of the month; of two equally close ones none can be.
func closestWorkday(year int, month time.Month, n, length int) int {
	best, distance := 0, 99
	for d := 1; d <= length; d++ {
		w := time.Date(year, month, d, 12, 0, 0, 0, time.UTC).Weekday()
		if away := max(d-n, n-d); w != time.Saturday && w != time.Sunday && away < distance {
			best, distance = d, away
		}
	}
	return best
}

// window is a stretch of time in a zone, minute by minute.
type window struct {
	zone    string
	from    time.Time
	change  time.Time // what the window is around
	minutes []minute
	days    []date
}

type date struct {
	year  int
	month time.Month
	day   int
}

// minute is what the clocks show; again when they showed it before.
type minute struct {
	day    int32 // index in days
	hour   int8
	minute int8
	again  bool
}

func newWindow(zone string, change time.Time, length time.Duration) (*window, error) {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("load zone: %w", err)
	}
	w := &window{zone: zone, change: change, from: change.Add(-length / 2).Truncate(time.Hour)}
	shown := map[[5]int]bool{}
	days := map[date]int32{}
	// Three days before the window tell which of its first minutes come again.
	for at := w.from.Add(-72 * time.Hour); at.Before(w.from.Add(length)); at = at.Add(time.Minute) {
		local := at.In(loc)
		year, month, day := local.Date()
		key := [5]int{year, int(month), day, local.Hour(), local.Minute()}
		again := shown[key]
		shown[key] = true
		if at.Before(w.from) {
			continue
		}
		d := date{year, month, day}
		if _, known := days[d]; !known {
			days[d] = int32(len(w.days))
			w.days = append(w.days, d)
		}
		w.minutes = append(w.minutes, minute{days[d], int8(local.Hour()), int8(local.Minute()), again})
	}
	return w, nil
}

// ticks are the instants of the window at which the expression's local time comes.
func (w *window) ticks(t testing.TB, expression string) []time.Time {
	f := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(expression, "cron("), ")"))
	var minutes [60]bool
	var hours [24]bool
	for i := range minutes {
		minutes[i] = matches(t, f[0], i, 0, 59, "")
	}
	for i := range hours {
		hours[i] = matches(t, f[1], i, 0, 23, "")
	}
	days := make([]bool, len(w.days))
	for i, d := range w.days {
		days[i] = matchesDay(t, f, d.year, d.month, d.day)
	}
	var out []time.Time
	for i, m := range w.minutes {
		if minutes[m.minute] && hours[m.hour] && days[m.day] && !m.again {
			out = append(out, w.from.Add(time.Duration(i)*time.Minute).UTC())
		}
	}
	return out
}

func (w *window) end() time.Time {
	return w.from.Add(time.Duration(len(w.minutes)) * time.Minute)
}
