package localcloud

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/assembly"
	"github.com/cronfence/cronfence/internal/sentinel"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// sweep is a schedule of the assembly that invokes a sentinel.
type sweep struct {
	schedule schedule.Schedule
	function string
	input    []byte
}

func (c *Cloud) newSweep(s assembly.Schedule, f assembly.Function) (sweep, error) {
	parsed, err := c.parseSchedule(s)
	if err != nil {
		return sweep{}, err
	}
	return sweep{schedule: parsed, function: f.Name, input: []byte(s.Input)}, nil
}

// keepSweeping invokes the sentinel as scheduled, until ctx ends: also behind the last tick,
// for as long as runs are in flight.
func (c *Cloud) keepSweeping(ctx context.Context, s sweep) {
	for after := c.config.Start; ; {
		at, ok := s.schedule.Next(after)
		if !ok || c.clock.SleepUntil(ctx, at) != nil {
			return
		}
		c.async.invoke(ctx, s.function, s.input)
		after = at
	}
}

// deployed is the assembly's schedules as the sentinel sees them.
type deployed struct {
	jobs  func() []*job
	since time.Time
}

var _ sentinel.Schedules = deployed{}

// List implements sentinel.Schedules.
func (d deployed) List(context.Context) ([]sentinel.Schedule, error) {
	var list []sentinel.Schedule
	for _, j := range d.jobs() {
		list = append(list, sentinel.Schedule{
			Name: schema.ScheduleName(j.scheduler, j.name), Job: j.name, Modified: d.since, Disabled: j.disabled,
		})
	}
	return list, nil
}

// Spec implements sentinel.Schedules.
func (d deployed) Spec(_ context.Context, name string) (schema.Spec, error) {
	for _, j := range d.jobs() {
		if schema.ScheduleName(j.scheduler, j.name) == name {
			var ev schema.TickEvent
			err := json.Unmarshal([]byte(j.input), &ev)
			return ev.Spec, err
		}
	}
	return schema.Spec{}, fmt.Errorf("schedule %q: not in the assembly", name)
}
