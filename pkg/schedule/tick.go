package schedule

import "time"

// Ticks lie in [earliest, latest), the years of cron's year field.
var (
	earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Next is the first tick strictly later than t, in UTC; false when there is none.
func (s Schedule) Next(t time.Time) (time.Time, bool) {
	if s.plan == nil {
		return time.Time{}, false
	}
	first, last := s.span()
	if t.Before(first) {
		t = first.Add(-time.Second)
	}
	if !t.Before(last) {
		return time.Time{}, false
	}
	tick, ok := s.plan.next(t.UTC())
	if !ok || tick.After(last) {
		return time.Time{}, false
	}
	return tick, true
}

// Prev is the last tick strictly earlier than t, in UTC; false when there is none.
func (s Schedule) Prev(t time.Time) (time.Time, bool) {
	if s.plan == nil {
		return time.Time{}, false
	}
	first, last := s.span()
	if t.After(last) {
		t = last.Add(time.Second)
	}
	if !t.After(first) {
		return time.Time{}, false
	}
	tick, ok := s.plan.prev(t.UTC())
	if !ok || tick.Before(first) {
		return time.Time{}, false
	}
	return tick, true
}

// Interval is the true distance from tick to the next one: 23 hours for a daily schedule on
// the day the clocks go forward. It is 0 when there is no next tick.
func (s Schedule) Interval(tick time.Time) time.Duration {
	next, ok := s.Next(tick)
	if !ok {
		return 0
	}
	return next.Sub(tick)
}

// Between counts the ticks in (a, b], in a time that grows with the days between them at
// most, never with the ticks. It is 0 when b is not later than a.
func (s Schedule) Between(a, b time.Time) int {
	if s.plan == nil {
		return 0
	}
	first, last := s.span()
	if a.Before(first) {
		a = first.Add(-time.Second)
	}
	if b.After(last) {
		b = last
	}
	if !b.After(a) {
		return 0
	}
	return s.plan.count(a.UTC(), b.UTC())
}

// span is where ticks may lie, both ends included.
func (s Schedule) span() (first, last time.Time) {
	first, last = s.start, s.end
	if first.IsZero() {
		first = earliest
	}
	if last.IsZero() {
		last = latest.Add(-time.Second)
	}
	return first, last
}
