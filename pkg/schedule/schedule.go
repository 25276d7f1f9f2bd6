package schedule

import (
	"errors"
	"time"
)

// Schedule is a schedule expression with its zone, start and end. It is an immutable
// value; the zero value is "no schedule".
type Schedule struct {
	expression string
	zone       string
	start, end time.Time
	err        error
}

// Option adds to an expression what EventBridge Scheduler keeps beside it.
type Option func(*Schedule)

// In evaluates the expression in the IANA zone, such as "Europe/Berlin". Default: UTC.
// An empty or unknown name is an error, never UTC.
func In(zone string) Option { return func(s *Schedule) { s.zone = zone } }

// Starting allows no tick before t. The zero time means no start.
func Starting(t time.Time) Option { return func(s *Schedule) { s.start = t } }

// Ending allows no tick after t. The zero time means no end.
func Ending(t time.Time) Option { return func(s *Schedule) { s.end = t } }

// Parse reads an expression as EventBridge Scheduler would.
func Parse(expression string, opts ...Option) (Schedule, error) {
	return Schedule{}, errors.New("schedule: not built yet")
}

// MustParse is Parse for expressions known to be right; it panics on an error.
func MustParse(expression string, opts ...Option) Schedule {
	s, err := Parse(expression, opts...)
	if err != nil {
		panic("schedule: " + err.Error())
	}
	return s
}

// Err says why a builder's schedule is not valid.
func (s Schedule) Err() error { return s.err }

// IsZero says that this is no schedule at all.
func (s Schedule) IsZero() bool { return s.expression == "" && s.err == nil }

// Expression is the EventBridge expression.
func (s Schedule) Expression() string { return s.expression }

// Timezone is the IANA name of the zone, "UTC" when none was given.
func (s Schedule) Timezone() string { return s.zone }

// Start is the instant before which there is no tick; zero when there is none.
func (s Schedule) Start() time.Time { return s.start }

// End is the instant after which there is no tick; zero when there is none.
func (s Schedule) End() time.Time { return s.end }

// Next is the first tick strictly later than t, in UTC; false when there is none.
func (s Schedule) Next(t time.Time) (time.Time, bool) { return time.Time{}, false }

// Prev is the last tick strictly earlier than t, in UTC; false when there is none.
func (s Schedule) Prev(t time.Time) (time.Time, bool) { return time.Time{}, false }

// Interval is the true distance from tick to the next one; 0 when there is none.
func (s Schedule) Interval(tick time.Time) time.Duration { return 0 }

// Between counts the ticks in (a, b].
func (s Schedule) Between(a, b time.Time) int { return 0 }

// Anchored gives a rate its phase from one of its ticks; it changes no other schedule.
func (s Schedule) Anchored(tick time.Time) Schedule { return s }

// AsCron is the cron expression in UTC with exactly the ticks of a rate that divides the
// hour or the day; false when there is none.
func (s Schedule) AsCron() (Schedule, bool) { return s, false }
