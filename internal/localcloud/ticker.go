package localcloud

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// tick delivers the job's ticks until ctx ends or the schedule does, in the local
// cloud's time.
func (c *Cloud) tick(ctx context.Context, j *job, after, until time.Time) {
	for {
		at, ok := j.schedule.Next(after)
		if !ok || (!until.IsZero() && at.After(until)) {
			return
		}
		if c.clock.SleepUntil(ctx, at) != nil {
			return
		}
		j.fired(schema.TickID(at))
		input := fill(j, at, rand.Text())
		c.work.Go(func() { c.async.invoke(c.ctx, j.dispatcher, input) })
		after = at
	}
}

// fill puts the context attributes where they stand in the target's input. Every
// delivery has an execution id of its own.
func fill(j *job, at time.Time, executionID string) []byte {
	return []byte(strings.NewReplacer(
		schema.AttrScheduledTime, at.UTC().Format(schema.TickLayout),
		schema.AttrExecutionID, executionID,
		schema.AttrAttempt, "1",
		schema.AttrScheduleARN, j.scheduleARN,
	).Replace(j.input))
}
