package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Schedule is a schedule expression with its zone, start and end. It is an immutable
// value; the zero value is "no schedule" and has no ticks. A schedule from a builder can
// carry an error instead, see [Schedule.Err]; then it has no ticks either.
type Schedule struct {
	expression string
	zone       string
	start, end time.Time
	plan       plan // nil in the zero value and beside an error
	err        error
}

// plan knows the ticks of an expression regardless of start and end. Instants given and
// returned are in UTC and whole seconds apart from those that only bound a search.
type plan interface {
	next(t time.Time) (time.Time, bool)
	prev(t time.Time) (time.Time, bool)
	count(a, b time.Time) int // in (a, b]
}

// Parse reads an expression as EventBridge Scheduler would. Default: zone UTC, no start, no
// end. The error names the field, the value got and what is allowed, and where it sees a
// Unix habit, how AWS says it.
func Parse(expression string, opts ...Option) (Schedule, error) {
	s, err := parse(expression, opts)
	if err != nil {
		return Schedule{}, fmt.Errorf("schedule %q: %w", expression, err)
	}
	return s, nil
}

// MustParse is [Parse] for expressions known to be right; it panics on an error.
func MustParse(expression string, opts ...Option) Schedule {
	s, err := Parse(expression, opts...)
	if err != nil {
		panic(err.Error())
	}
	return s
}

func parse(expression string, opts []Option) (Schedule, error) {
	o, err := collect(opts)
	if err != nil {
		return Schedule{}, err
	}
	s := Schedule{zone: o.zone, start: o.start, end: o.end}
	kind, body, ok := cutKind(expression)
	if !ok {
		return Schedule{}, errors.New(hintKind(expression))
	}
	switch kind {
	case "cron":
		s.expression, s.plan, err = parseCron(body, o.location)
	case "rate":
		s.expression, s.plan, err = parseRate(body, s.start)
	case "at":
		s.expression, s.plan, err = parseAt(body, o)
	}
	if err != nil {
		return Schedule{}, err
	}
	if _, any := s.Next(earliest.Add(-time.Second)); !any {
		return Schedule{}, s.neverComes()
	}
	return s, nil
}

// cutKind takes "cron(0 2 * * ? *)" apart.
func cutKind(expression string) (kind, body string, ok bool) {
	kind, rest, ok := strings.Cut(expression, "(")
	body, closed := strings.CutSuffix(rest, ")")
	known := kind == "cron" || kind == "rate" || kind == "at"
	return kind, body, ok && closed && known
}

func (s Schedule) neverComes() error {
	switch {
	case !s.start.IsZero() || !s.end.IsZero():
		return fmt.Errorf("never comes in %s between its start and its end: must have at least one tick", s.zone)
	default:
		return fmt.Errorf("never comes in %s: must name a date and a local time that exist", s.zone)
	}
}

// Err says why a builder's schedule is not valid; nil for every schedule that [Parse]
// returned and for the zero value.
func (s Schedule) Err() error { return s.err }

// IsZero says that this is no schedule at all: neither a valid one nor an error.
func (s Schedule) IsZero() bool { return s.plan == nil && s.err == nil }

// Expression is the EventBridge expression, empty without a valid schedule.
func (s Schedule) Expression() string { return s.expression }

// Timezone is the IANA name of the zone, "UTC" when none was given, empty without a valid
// schedule.
func (s Schedule) Timezone() string { return s.zone }

// Start is the instant before which there is no tick, in UTC; zero when there is none.
func (s Schedule) Start() time.Time { return s.start }

// End is the instant after which there is no tick, in UTC; zero when there is none.
func (s Schedule) End() time.Time { return s.end }
