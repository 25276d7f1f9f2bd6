package explore

import (
	"fmt"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// Millis is an instant of the model's true clock, or a duration, in milliseconds.
type Millis = schema.Millis

// Config is one model: a job, how many of its ticks are due and how much goes wrong.
type Config struct {
	Overlap   policy.Overlap
	KeepFirst bool
	Beats     bool
	Fenced    bool
	Retries   int
	Aligned   bool // beats fall on the same instants as ticks
	Ticks     int  // that come due, at most maxTicks
	Faults    int  // at most so many on a path
	// Only, if set, restricts the faults to these.
	Only []Fault
	// MaxStates ends the exploration early; 0 does not. A Result says so.
	MaxStates int

	// full keeps what is left out of records because no transition reads it: a test shows
	// that leaving it out changes nothing.
	full bool
	// hook is for tests.
	hook hook
}

// hook lets a test break the protocol, or look on.
type hook struct {
	breaks    func(e *effect)                                         // every effect of a call, once
	committed func(before *records, c *guard.Commit, after committed) // every commit, once
	visited   func(x *explorer, s *state)                             // every state, once
}

// String names the configuration, such as "queue-one, beats, 2 faults".
func (c Config) String() string {
	s := c.Overlap.String()
	for _, option := range []struct {
		on   bool
		name string
	}{
		{c.KeepFirst, ", keep first"},
		{c.Beats, ", beats"},
		{!c.Beats, ", no beats"},
		{c.Aligned, " on ticks"},
		{c.Fenced, ", fenced"},
		{c.Retries > 0, fmt.Sprintf(", %d retries", c.Retries)},
	} {
		if option.on {
			s += option.name
		}
	}
	s += fmt.Sprintf(", %d ticks", c.Ticks)
	if len(c.Only) > 0 {
		return s + fmt.Sprintf(", %d of %v", c.Faults, c.Only)
	}
	return s + fmt.Sprintf(", %d faults", c.Faults)
}

const (
	job      = "job"
	maxTicks = 3
	margin   = Millis(schema.SkewMargin / time.Millisecond)
	timeout  = Millis(schema.DispatcherTimeout / time.Millisecond)
	second   = Millis(1000)
	minute   = 60 * second
	// skew is how far a clock is off at the most, either way: any two differ by the margin.
	skew = margin / 2
	// maxBeats a run: its maximum run time is over before a third is due.
	maxBeats = 2
)

// origin is the first tick's planned instant.
var origin = schema.MillisOf(time.Date(2026, 9, 7, 2, 0, 0, 0, time.UTC))

// spec is the job of a configuration. Its second tick falls into the first's run; the third
// comes after the lease of a run that died at the first tick is over, margin included.
func (c Config) spec() schema.Spec {
	s := schema.Spec{
		Version: schema.SpecVersion, Scheduler: "model", Job: job,
		Machine: "arn:aws:states:us-east-1:000000000000:stateMachine:" + schema.MachineName("model", job),
		Overlap: c.Overlap, KeepFirst: c.KeepFirst, Beats: c.Beats, Fenced: c.Fenced, Retries: c.Retries,
		StartDeadlineSeconds: 200, DrainSeconds: 30, GraceSeconds: 40,
	}
	if c.Beats {
		s.Schedule = "cron(0,1,4 * * * ? *)"
		s.LeaseSeconds, s.RenewalSeconds, s.MaxRunSeconds = 150, 45, 130
		if c.Aligned {
			s.RenewalSeconds, s.MaxRunSeconds = 60, 150
		}
	} else {
		s.Schedule = "cron(0,1,6 * * * ? *)"
		s.LeaseSeconds, s.MaxRunSeconds = 150, 90
		s.StartDeadlineSeconds = 320
	}
	s.MachineTimeoutSeconds = s.MaxRunSeconds + 30
	return s
}

// tick is one planned tick of the model.
type tick struct {
	id string
	at Millis
}

// plan returns the ticks that are due, and one more that shows in the end that the job goes on.
func plan(spec schema.Spec, n int) ([]tick, error) {
	s, err := engine.ScheduleOf(spec)
	if err != nil {
		return nil, err
	}
	var ticks []tick
	at := origin - 1
	for len(ticks) < n {
		at = engine.Planned{Schedule: s}.Next(at)
		ticks = append(ticks, tick{schema.TickID(at.Time()), at})
	}
	probe := engine.Planned{Schedule: s}.Next(at + Millis(time.Hour.Milliseconds()) - 1)
	return append(ticks, tick{schema.TickID(probe.Time()), probe}), nil
}

// established is the guard of a job that has ticked for long: free, everything before the
// first tick on record.
func established(spec *schema.Spec) (guard.Guard, error) {
	s, err := engine.ScheduleOf(*spec)
	if err != nil {
		return guard.Guard{}, err
	}
	last := engine.Planned{Schedule: s}.Prev(origin)
	return guard.Guard{
		Job: job, Version: int64(last), Fence: int64(last), Ready: true, LastTick: last,
		Spec: spec, SpecHash: spec.Hash(), SpecSince: last.Add(-24 * time.Hour),
	}, nil
}
