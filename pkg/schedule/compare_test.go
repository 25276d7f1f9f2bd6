package schedule_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

var (
	oracleN    = flag.Int("oracle.n", 1000, "how many random expressions TestOracle compares")
	oracleSeed = flag.Uint64("oracle.seed", 1, "what TestOracle's random expressions are made from")
)

// Zones whose clocks do odd things: half-hour and two-hour shifts, shifts at midnight, a day
// left out (Apia 2011), summer time below standard time (Dublin, Casablanca), shifts that
// follow the moon (Casablanca, Gaza), offsets of quarter hours.
var oracleZones = []string{
	"Australia/Lord_Howe", "America/Santiago", "Antarctica/Troll", "Pacific/Apia", "America/New_York",
	"Europe/Berlin", "Africa/Casablanca", "Europe/Dublin", "America/St_Johns", "Pacific/Chatham",
	"Asia/Gaza", "Asia/Tehran", "Africa/Cairo", "UTC",
}

// changes are the instants around which a zone is compared: every change of its clocks in
// some years, found hour by hour, and some ends of February and of years.
func changes(t testing.TB, zone string) []time.Time {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	out := []time.Time{
		time.Date(2027, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(2028, 2, 28, 0, 0, 0, 0, time.UTC),
		time.Date(2028, 12, 31, 12, 0, 0, 0, time.UTC), time.Date(2096, 12, 31, 12, 0, 0, 0, time.UTC),
		time.Date(2099, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(2100, 2, 28, 0, 0, 0, 0, time.UTC),
	}
	for _, year := range []int{2011, 2026, 2087} {
		at := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		for ; at.Year() == year; at = at.Add(time.Hour) {
			_, before := at.In(loc).Zone()
			if _, after := at.Add(time.Hour).In(loc).Zone(); before != after {
				out = append(out, at.Add(time.Hour))
			}
		}
	}
	return out
}

func TestOracle(t *testing.T) {
	type place struct {
		zone   string
		change time.Time
	}
	var places []place
	for _, zone := range oracleZones {
		for _, change := range changes(t, zone) {
			places = append(places, place{zone, change})
		}
	}
	rng := rand.New(rand.NewPCG(*oracleSeed, 0))
	rng.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	t.Logf("%d expressions over %d windows in %d zones", *oracleN, len(places), len(oracleZones))
	for i, p := range places {
		n := (*oracleN + len(places) - 1 - i) / len(places)
		w, err := newWindow(p.zone, p.change, 40*24*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			compare(t, w, randomCron(rng, p.change.Year()), rng)
		}
	}
}

// compare holds every method to the oracle's ticks of one expression in one window.
func compare(t *testing.T, w *window, expression string, rng *rand.Rand) {
	t.Helper()
	want := w.ticks(t, expression)
	s, err := schedule.Parse(expression, schedule.In(w.zone))
	if err != nil {
		if len(want) > 0 || !strings.Contains(err.Error(), "never comes") {
			t.Errorf("%v, but it ticks at %v", err, want)
		}
		return
	}
	from, end := w.from.Add(-time.Second), w.end().Add(-time.Second)
	if got := s.Between(from, end); got != len(want) {
		t.Errorf("%s in %s: %d ticks in 40 days from %v, want %d", expression, w.zone, got, w.from, len(want))
	}
	near := func(at time.Time) bool {
		return len(want) < 500 || at.Sub(w.change).Abs() < 26*time.Hour || rng.IntN(len(want)) < 100
	}
	previous := from
	for i, tick := range want {
		if near(tick) {
			if got, ok := s.Next(previous); !ok || !got.Equal(tick) {
				t.Errorf("%s in %s: next after %v is %v, want %v", expression, w.zone, previous, got, tick)
			}
			if got, ok := s.Prev(tick.Add(time.Second)); !ok || !got.Equal(tick) {
				t.Errorf("%s in %s: the one before %v is %v, want %v", expression, w.zone, tick.Add(time.Second), got, tick)
			}
			if i > 0 && s.Interval(previous) != tick.Sub(previous) {
				t.Errorf("%s in %s: interval at %v is %v, want %v", expression, w.zone, previous, s.Interval(previous), tick.Sub(previous))
			}
		}
		previous = tick
	}
	for range 20 {
		compareAt(t, w, s, want, rng)
	}
}

// compareAt asks at instants that are no ticks, most with a fraction of a second.
func compareAt(t *testing.T, w *window, s schedule.Schedule, want []time.Time, rng *rand.Rand) {
	t.Helper()
	a := w.from.Add(time.Duration(rng.Int64N(int64(w.end().Sub(w.from)))))
	if rng.IntN(2) == 0 { // within the three hours on either side of the change
		a = w.change.Add(time.Duration(rng.Int64N(int64(6*time.Hour))) - 3*time.Hour)
	}
	b := a.Add(time.Duration(rng.Int64N(int64(w.end().Sub(a)))))
	if rng.IntN(4) == 0 {
		a, b = a.Truncate(time.Minute), b.Truncate(time.Minute)
	}
	first, last, n := time.Time{}, time.Time{}, 0
	for _, tick := range want {
		if tick.Before(a) {
			last = tick
		}
		if tick.After(a) && first.IsZero() {
			first = tick
		}
		if tick.After(a) && !tick.After(b) {
			n++
		}
	}
	at := fmt.Sprintf("%s in %s at %v", s.Expression(), w.zone, a)
	if got, ok := s.Next(a); !first.IsZero() && (!ok || !got.Equal(first)) || first.IsZero() && ok && got.Before(w.end()) {
		t.Errorf("%s: next is %v, want %v", at, got, first)
	}
	if got, ok := s.Prev(a); !last.IsZero() && (!ok || !got.Equal(last)) || last.IsZero() && ok && !got.Before(w.from) {
		t.Errorf("%s: previous is %v, want %v", at, got, last)
	}
	if got := s.Between(a, b); got != n {
		t.Errorf("%s: %d ticks until %v, want %d", at, got, b, n)
	}
}

// randomCron writes an expression of AWS's grammar, most with ticks near that year.
func randomCron(rng *rand.Rand, year int) string {
	f := []string{
		randomField(rng, 0, 59, "", 0), randomField(rng, 0, 23, "", 15),
		"?", randomField(rng, 1, 12, monthNames, 75), "?", randomField(rng, year-1, year+1, "", 85),
	}
	if rng.IntN(2) == 0 {
		f[2] = randomDay(rng)
	} else {
		f[4] = randomWeekday(rng)
	}
	return "cron(" + strings.Join(f, " ") + ")"
}

func randomDay(rng *rand.Rand) string {
	switch rng.IntN(6) {
	case 0:
		return "L"
	case 1:
		return "LW"
	case 2:
		return fmt.Sprintf("%dW", 1+rng.IntN(31))
	}
	return randomField(rng, 1, 31, "", 30)
}

func randomWeekday(rng *rand.Rand) string {
	switch rng.IntN(6) {
	case 0:
		return "L"
	case 1:
		return randomValue(rng, 1, 7, weekdayNames) + "L"
	case 2:
		return fmt.Sprintf("%s#%d", randomValue(rng, 1, 7, weekdayNames), 1+rng.IntN(5))
	}
	return randomField(rng, 1, 7, weekdayNames, 30)
}

// randomField writes *, with that chance in a hundred, or a list of values, ranges and steps.
func randomField(rng *rand.Rand, min, max int, names string, star int) string {
	if rng.IntN(100) < star {
		return "*"
	}
	var items []string
	for range 1 + rng.IntN(3) {
		from := min + rng.IntN(max-min+1)
		to := from + rng.IntN(max-from+1)
		step := 1 + rng.IntN(max-min)
		switch rng.IntN(6) {
		case 0:
			items = append(items, fmt.Sprintf("%d/%d", from, step))
		case 1:
			items = append(items, fmt.Sprintf("*/%d", step))
		case 2:
			items = append(items, fmt.Sprintf("%d-%d/%d", from, to, step))
		case 3:
			items = append(items, randomValue(rng, from, from, names)+"-"+randomValue(rng, to, to, names))
		default:
			items = append(items, randomValue(rng, min, max, names))
		}
	}
	return strings.Join(items, ",")
}

// randomValue writes a number or, where there are names, one of them in any case. Names
// count from 1, as months and weekdays do.
func randomValue(rng *rand.Rand, min, max int, names string) string {
	v := min + rng.IntN(max-min+1)
	if names == "" || rng.IntN(2) == 0 {
		return fmt.Sprint(v)
	}
	name := names[3*(v-1) : 3*v]
	if rng.IntN(2) == 0 {
		name = strings.ToLower(name)
	}
	return name
}
