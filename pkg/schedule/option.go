package schedule

import (
	"fmt"
	"time"
)

// Option adds to an expression what EventBridge Scheduler keeps beside it.
type Option func(*options)

type options struct {
	zone       string
	location   *time.Location
	start, end time.Time
}

// In evaluates the expression in an IANA zone, such as "Europe/Berlin". Default: UTC. An
// empty or unknown name is an error, never UTC; so is "Local", which is another zone on
// every machine.
func In(zone string) Option { return func(o *options) { o.zone = zone } }

// Starting allows no tick before t, and makes t the first tick of a rate. Fractions of a
// second are cut. Default, and with the zero time: no start.
func Starting(t time.Time) Option { return func(o *options) { o.start = t } }

// Ending allows no tick after t. Fractions of a second are cut. Default, and with the zero
// time: no end.
func Ending(t time.Time) Option { return func(o *options) { o.end = t } }

func collect(opts []Option) (options, error) {
	o := options{zone: "UTC"}
	for _, opt := range opts {
		opt(&o)
	}
	var err error
	if o.location, err = loadZone(o.zone); err != nil {
		return o, err
	}
	if o.start, err = bound("start", o.start); err != nil {
		return o, err
	}
	if o.end, err = bound("end", o.end); err != nil {
		return o, err
	}
	if !o.start.IsZero() && !o.end.IsZero() && !o.end.After(o.start) {
		return o, fmt.Errorf("end %s: must be later than the start %s", stamp(o.end), stamp(o.start))
	}
	return o, nil
}

func bound(name string, t time.Time) (time.Time, error) {
	if t.IsZero() {
		return time.Time{}, nil
	}
	t = t.UTC().Truncate(time.Second)
	if t.Before(earliest) || !t.Before(latest) {
		return t, fmt.Errorf("%s %s: must be in the years 1970-2199", name, stamp(t))
	}
	return t, nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
