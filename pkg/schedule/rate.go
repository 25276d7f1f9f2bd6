package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxRateDays keeps a rate's arithmetic far from overflow; AWS names no limit.
const maxRateDays = 36500

// rate ticks every so many seconds, at phase and at every multiple before and after it.
type rate struct{ every, phase int64 }

var units = []struct {
	name    string
	seconds int64
}{{"minute", 60}, {"hour", 60 * 60}, {"day", 24 * 60 * 60}}

func parseRate(body string, start time.Time) (string, plan, error) {
	fields := strings.Fields(body)
	if len(fields) != 2 {
		return "", nil, fmt.Errorf("rate %q: must be a value and a unit, such as rate(15 minutes)", body)
	}
	value, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || value < 1 || fields[0][0] < '1' || fields[0][0] > '9' {
		return "", nil, fmt.Errorf("value %q: must be a whole number of at least 1", fields[0])
	}
	every := int64(0)
	for _, u := range units {
		if fields[1] != u.name && fields[1] != u.name+"s" {
			continue
		}
		if value > maxRateDays*86400/u.seconds {
			return "", nil, fmt.Errorf("value %q: must be at most %d days", fields[0], maxRateDays)
		}
		if want := unitFor(u.name, value); fields[1] != want {
			return "", nil, fmt.Errorf("unit %q: must be %q: AWS takes the singular for 1 only, rate(%d %s)", fields[1], want, value, want)
		}
		every = value * u.seconds
	}
	if every == 0 {
		return "", nil, fmt.Errorf("unit %q: must be minute, minutes, hour, hours, day or days", fields[1])
	}
	r := rate{every: every}
	if !start.IsZero() {
		r.phase = start.Unix()
	}
	return "rate(" + fields[0] + " " + fields[1] + ")", r, nil
}

func unitFor(name string, value int64) string {
	if value == 1 {
		return name
	}
	return name + "s"
}

// index is the number of the last tick at or before that second, counted from the phase.
func (r rate) index(second int64) int64 {
	d := second - r.phase
	i := d / r.every
	if d%r.every < 0 {
		i--
	}
	return i
}

func (r rate) tick(index int64) time.Time {
	return time.Unix(r.phase+index*r.every, 0).UTC()
}

// Unix floors fractions of a second, also before the epoch.
func (r rate) next(t time.Time) (time.Time, bool) { return r.tick(r.index(t.Unix()) + 1), true }

func (r rate) prev(t time.Time) (time.Time, bool) {
	return r.tick(r.index(t.Add(-time.Nanosecond).Unix())), true
}

func (r rate) count(a, b time.Time) int { return int(r.index(b.Unix()) - r.index(a.Unix())) }

// Anchored gives a rate its phase from one of its ticks, cut to the second: AWS counts a
// rate without a start from the schedule's creation, which only a delivered tick tells. It
// changes no schedule of another kind, and none when tick is the zero time.
func (s Schedule) Anchored(tick time.Time) Schedule {
	if r, ok := s.plan.(rate); ok && !tick.IsZero() {
		r.phase = tick.Unix()
		s.plan = r
	}
	return s
}

// AsCron is the cron schedule in UTC with exactly the ticks of a rate that divides the hour
// or the day, so that its phase is known without a delivered tick. It keeps the rate's
// phase, start and end. It is false, and the schedule unchanged, for every other rate (also
// one whose phase is not a whole minute), for cron and for at.
func (s Schedule) AsCron() (Schedule, bool) {
	r, ok := s.plan.(rate)
	phase := (r.phase%86400 + 86400) % 86400
	if !ok || phase%60 != 0 {
		return s, false
	}
	minute, hour := phase/60%60, phase/3600
	var body string
	switch {
	case r.every < 3600 && 3600%r.every == 0:
		body = steps(minute%(r.every/60), r.every/60, 60) + " * * * ? *"
	case r.every%3600 == 0 && 86400%r.every == 0:
		every := r.every / 3600
		body = fmt.Sprintf("%d %s * * ? *", minute, steps(hour%every, every, 24))
	default:
		return s, false
	}
	c, err := Parse("cron("+body+")", Starting(s.start), Ending(s.end))
	if err != nil { // start and end are those of a schedule with a tick between them
		return s, false
	}
	return c, true
}

// steps is the field of the values from first on, each so many apart, of a field with that
// many values: AWS's a/n, but * for all of them and a plain value for one.
func steps(first, apart, values int64) string {
	switch apart {
	case 1:
		return "*"
	case values:
		return strconv.FormatInt(first, 10)
	}
	return fmt.Sprintf("%d/%d", first, apart)
}
