package engine

import (
	"fmt"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// ScheduleOf parses the spec's schedule with its zone and bounds.
func ScheduleOf(spec schema.Spec) (schedule.Schedule, error) {
	var opts []schedule.Option
	if spec.Timezone != "" {
		opts = append(opts, schedule.In(spec.Timezone))
	}
	for _, bound := range []struct {
		name, at string
		option   func(time.Time) schedule.Option
	}{{"start", spec.Start, schedule.Starting}, {"end", spec.End, schedule.Ending}} {
		if bound.at == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339, bound.at)
		if err != nil {
			return schedule.Schedule{}, fmt.Errorf("spec: %s %q: must be RFC 3339, such as 2026-09-07T02:00:00Z", bound.name, bound.at)
		}
		opts = append(opts, bound.option(t))
	}
	return schedule.Parse(spec.Schedule, opts...)
}
