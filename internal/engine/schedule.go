package engine

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// scheduleKey is what a schedule is made from.
type scheduleKey struct{ expression, zone, start, end string }

// parsed keeps schedules that were parsed before: a function sees the same few again and
// again. It is emptied when it grows large.
var parsed = struct {
	sync.Mutex
	m map[scheduleKey]schedule.Schedule
}{m: map[scheduleKey]schedule.Schedule{}}

const maxParsed = 4096

// ScheduleOf parses the spec's schedule with its zone and bounds.
func ScheduleOf(spec schema.Spec) (schedule.Schedule, error) {
	key := scheduleKey{spec.Schedule, spec.Timezone, spec.Start, spec.End}
	parsed.Lock()
	s, ok := parsed.m[key]
	parsed.Unlock()
	if ok {
		return s, nil
	}
	s, err := parse(key)
	if err != nil {
		return schedule.Schedule{}, err
	}
	parsed.Lock()
	defer parsed.Unlock()
	if len(parsed.m) >= maxParsed {
		clear(parsed.m)
	}
	parsed.m[key] = s
	return s, nil
}

func parse(key scheduleKey) (schedule.Schedule, error) {
	var opts []schedule.Option
	if key.zone != "" {
		opts = append(opts, schedule.In(key.zone))
	}
	for _, bound := range []struct {
		name, at string
		option   func(time.Time) schedule.Option
	}{{"start", key.start, schedule.Starting}, {"end", key.end, schedule.Ending}} {
		if bound.at == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339, bound.at)
		if err != nil {
			return schedule.Schedule{}, fmt.Errorf("spec: %s %q: must be RFC 3339, such as 2026-09-07T02:00:00Z", bound.name, bound.at)
		}
		opts = append(opts, bound.option(t))
	}
	return schedule.Parse(key.expression, opts...)
}

// Planned answers the protocol's questions about a schedule.
type Planned struct {
	schedule.Schedule
	since guard.Millis // no tick is known to be planned before
}

var _ guard.Planned = Planned{}

// PlannedBy returns the plan of a guard's job. A rate has its phase from the ticks on record; where
// none of this spec is, nothing is known of those before it, and its first tick comes at the latest
// an interval after the spec was seen.
func PlannedBy(g guard.Guard) (Planned, error) {
	p, err := PlannedBefore(g)
	if err == nil && g.LastTick < g.SpecSince && isRate(*g.Spec) {
		p = Planned{p.Schedule.Anchored((g.SpecSince - 1).Time()), g.SpecSince}
	}
	return p, err
}

// PlannedBefore returns the plan of a guard's job as it was for what is on record: a rate goes on
// with the phase of the last tick of a spec before.
func PlannedBefore(g guard.Guard) (Planned, error) {
	s, err := ScheduleOf(*g.Spec)
	if err != nil {
		return Planned{}, fmt.Errorf("job %s: %w", g.Job, err)
	}
	return Planned{Schedule: s.Anchored(g.LastTick.Time())}, nil
}

// isRate tells whether the schedule has its phase from its ticks, as only a rate has.
func isRate(spec schema.Spec) bool { return strings.HasPrefix(spec.Schedule, "rate(") }

// Next implements guard.Planned.
func (p Planned) Next(after guard.Millis) guard.Millis {
	t, ok := p.Schedule.Next(max(after, p.since-1).Time())
	if !ok {
		return 0
	}
	return schema.MillisOf(t)
}

// Prev implements guard.Planned.
func (p Planned) Prev(before guard.Millis) guard.Millis {
	t, ok := p.Schedule.Prev(before.Time())
	if !ok || schema.MillisOf(t) < p.since {
		return 0
	}
	return schema.MillisOf(t)
}

// Count implements guard.Planned.
func (p Planned) Count(after, to guard.Millis) int {
	return p.Between(max(after, p.since-1).Time(), to.Time())
}

// Anchored implements guard.Planned.
func (p Planned) Anchored(tick guard.Millis) guard.Planned {
	return Planned{Schedule: p.Schedule.Anchored(tick.Time())}
}

// interval is the time to the planned tick after one, in seconds.
func (p Planned) interval(tick guard.Millis) int64 {
	return int64(p.Interval(tick.Time()) / time.Second)
}

// IntervalOf is the interval of a tick by its id: that to the next planned tick or, of a tick
// that is not planned, the one it falls into. 0 where there is none.
func (p Planned) IntervalOf(tick string) time.Duration {
	kind, at := guard.KindOf(tick)
	if kind == guard.Manual {
		if at = p.Prev(at); at == 0 {
			return 0
		}
	}
	return p.Interval(at.Time())
}

// ScheduledDelivery is the delivery of a planned tick of a job.
func ScheduledDelivery(spec schema.Spec, tick string, now time.Time) (guard.Delivery, error) {
	at, err := schema.ParseTick(tick)
	if err != nil {
		return guard.Delivery{}, err
	}
	s, err := ScheduleOf(spec)
	if err != nil {
		return guard.Delivery{}, err
	}
	p := Planned{Schedule: s.Anchored(at)}
	planned := schema.MillisOf(at)
	d := guard.Delivery{
		Spec: spec, Kind: guard.Scheduled, Tick: schema.TickID(at), At: planned,
		Prev: p.Prev(planned), Interval: p.interval(planned),
	}
	if isRate(spec) {
		d.Floor = p.Prev(schema.MillisOf(now).Add(-spec.Window()))
	}
	return d, nil
}

// ManualDelivery is a run that a person asked for now. It has an id of its own kind and eats
// no planned tick. Its interval is the one it falls into.
func ManualDelivery(spec schema.Spec, by string, now time.Time) (guard.Delivery, error) {
	s, err := ScheduleOf(spec)
	if err != nil {
		return guard.Delivery{}, err
	}
	at := schema.MillisOf(now)
	tick := guard.ManualID(at)
	return guard.Delivery{
		Spec: spec, Kind: guard.Manual, Tick: tick, At: at, By: by,
		Interval: int64(Planned{Schedule: s}.IntervalOf(tick) / time.Second),
	}, nil
}
