package schedule

import "time"

// ClockChange is one change of the clocks in a schedule's zone and what it does to the ticks.
// Local times are given as if they were UTC.
type ClockChange struct {
	At       time.Time // the instant, in UTC
	From, To time.Time // what the clocks show: local times, From when they jump and To after
	// Dropped are the local times in the gap at which there would have been ticks.
	Dropped []time.Time
	// Once are the local times that come twice, with a tick the first time only.
	Once []time.Time
	// Moved is the first tick after the change on the same local day, in UTC: a local time
	// that comes earlier in UTC than the day before, or later when the clocks go back. Zero
	// when there is none.
	Moved time.Time
}

// ClockChanges are the changes in (a, b] that drop or move a tick, or make its local time
// come twice. Only cron schedules have any; rates count hours and not what clocks show.
func (s Schedule) ClockChanges(a, b time.Time) []ClockChange {
	c, ok := s.plan.(*calendar)
	if !ok {
		return nil
	}
	first, last := s.span()
	if a.Before(first) {
		a = first
	}
	if b.After(last) {
		b = last
	}
	var out []ClockChange
	for at := a.In(c.loc); ; {
		_, until := bounds(at)
		if until.IsZero() || until.After(b) {
			return out
		}
		change := ClockChange{At: until.UTC(), From: wallBefore(until), To: wallOf(until.UTC(), c.loc)}
		change.Dropped = c.wallsIn(change.From, change.To)
		change.Once = c.wallsIn(change.To, change.From)
		midnight := change.To.Truncate(24 * time.Hour).Add(24 * time.Hour)
		if tick, ok := s.Next(until.Add(-time.Nanosecond)); ok && wallOf(tick, c.loc).Before(midnight) {
			change.Moved = tick
		}
		if !change.From.Equal(change.To) && (change.Dropped != nil || change.Once != nil || !change.Moved.IsZero()) {
			out = append(out, change)
		}
		at = until
	}
}

// wallBefore is what the clocks would show at t if they did not change then.
func wallBefore(t time.Time) time.Time {
	return t.UTC().Add(offsetAt(t.Add(-time.Nanosecond)))
}

// wallsIn are the local times of ticks in [from, to), an hour or so.
func (c *calendar) wallsIn(from, to time.Time) []time.Time {
	var out []time.Time
	for wall := c.ticks.Next(from.Add(-time.Nanosecond)); !wall.IsZero() && wall.Before(to); wall = c.ticks.Next(wall) {
		out = append(out, wall)
	}
	return out
}
