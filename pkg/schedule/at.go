package schedule

import (
	"fmt"
	"time"
)

// once ticks at one instant.
type once struct{ at time.Time }

const atLayout = "2006-01-02T15:04:05"

func parseAt(body string, o options) (string, plan, error) {
	if !o.start.IsZero() || !o.end.IsZero() {
		return "", nil, fmt.Errorf("start and end: must not be set with at(...), AWS ignores them")
	}
	wall, err := time.Parse(atLayout, body)
	if err != nil || len(body) != len(atLayout) { // Parse would take a fraction of a second
		return "", nil, fmt.Errorf("time %q: must be a local date and time, such as at(2026-11-20T13:00:00), with the zone beside the expression", body)
	}
	if y := wall.Year(); y < minYear || y > maxYear {
		return "", nil, fmt.Errorf("year %q: must be %d-%d", body[:4], minYear, maxYear)
	}
	t, g, ok := instantOf(wall, o.location)
	if !ok {
		return "", nil, fmt.Errorf("time %q: never comes in %s, where the clocks go from %s to %s",
			body, o.zone, g.from.Format(atLayout), g.to.Format(atLayout))
	}
	return "at(" + body + ")", once{t}, nil
}

func (o once) next(t time.Time) (time.Time, bool) { return o.at, o.at.After(t) }
func (o once) prev(t time.Time) (time.Time, bool) { return o.at, o.at.Before(t) }

func (o once) count(a, b time.Time) int {
	if o.at.After(a) && !o.at.After(b) {
		return 1
	}
	return 0
}
