package schedule

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // a Lambda's runtime image and small containers have no zone files
)

// maxOffset is beyond every offset from UTC that any zone ever had.
const maxOffset = 16 * time.Hour

// loadZone is stricter than [time.LoadLocation], for which "" is UTC and "Local" whatever
// the machine is set to, and which reads any file in the zone directories.
func loadZone(name string) (*time.Location, error) {
	refused := name == "" || name == "Local" || name == "localtime" || name == "posixrules" || name == "Factory" ||
		strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/")
	if !refused {
		if loc, err := time.LoadLocation(name); err == nil {
			return loc, nil
		}
	}
	return nil, fmt.Errorf("timezone %q: must be the name of an IANA zone, such as Europe/Berlin or UTC", name)
}

// A wall time is what the clocks of a zone show, written as if it were UTC: on wall times
// every day has 24 hours, and the search for a tick knows nothing of clock changes.

// gap is the wall times in [from, to), which a change of clocks leaves out.
type gap struct{ from, to time.Time }

// wallOf is what the clocks show at t.
func wallOf(t time.Time, loc *time.Location) time.Time {
	return t.Add(offsetAt(t.In(loc)))
}

// reached is the latest wall time that has come by t. In the second pass through an hour
// that comes twice it is the end of that hour: its ticks belong to the first pass.
func reached(t time.Time, loc *time.Location) time.Time {
	local := t.In(loc)
	wall := t.Add(offsetAt(local))
	since, _ := local.ZoneBounds()
	if since.IsZero() {
		return wall
	}
	again := since.UTC().Add(offsetAt(since.Add(-time.Nanosecond)))
	if wall.Before(again) {
		return again.Add(-time.Nanosecond)
	}
	return wall
}

// instantOf is when the clocks show that wall time for the first time; false, with the gap
// it lies in, when they never do. It walks the spans of constant offset around it, of which
// there are one or two.
func instantOf(wall time.Time, loc *time.Location) (time.Time, gap, bool) {
	if loc == time.UTC {
		return wall, gap{}, true
	}
	before := time.Duration(0)
	for at := wall.Add(-maxOffset).In(loc); ; {
		since, until := bounds(at)
		offset := offsetAt(at)
		t := wall.Add(-offset)
		if t.Before(since) {
			start := since.UTC()
			return time.Time{}, gap{from: start.Add(before), to: start.Add(offset)}, false
		}
		if until.IsZero() || t.Before(until) {
			return t, gap{}, true
		}
		before, at = offset, until
	}
}

// bounds is ZoneBounds with its one fault mended: where a rule makes the changes, it takes
// every year for 365 days long, so that on 31 December of a leap year the end it gives is not
// later than local and a walk over the spans would never end.
func bounds(local time.Time) (since, until time.Time) {
	since, until = local.ZoneBounds()
	if !until.IsZero() && !until.After(local) {
		until = time.Date(local.UTC().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC).In(local.Location())
	}
	return since, until
}

func offsetAt(local time.Time) time.Duration {
	_, seconds := local.Zone()
	return time.Duration(seconds) * time.Second
}
