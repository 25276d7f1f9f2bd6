package localcloud

import (
	"context"
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"math"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/fault"
	"github.com/cronfence/cronfence/internal/localcloud/lambdaapi"
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
		c.work.Go(func() { c.deliver(j, at) })
		after = at
	}
}

// deliver hands a tick over, somewhere in its time window, and now and then late or once more:
// EventBridge Scheduler delivers at least once. A delivery carries the planned time, whenever it
// comes.
func (c *Cloud) deliver(j *job, at time.Time) {
	tick := schema.TickID(at)
	delay := time.Duration(windowShare(j, at) * float64(j.window))
	if late, struck := c.faults.Take(fault.Late, j.name, "tick "+tick+" is delivered late"); struck {
		delay += late
	}
	if delay > 0 && c.clock.Sleep(c.ctx, delay) != nil {
		return
	}
	later, twice := c.faults.Take(fault.Twice, j.name, "tick "+tick+" is delivered twice")
	c.work.Go(func() { c.handOver(j, at) })
	if twice && c.clock.Sleep(c.ctx, later) == nil {
		c.handOver(j, at)
	}
}

// windowShare is where in its time window a tick comes, in [0,1): the same tick at the same share.
func windowShare(j *job, at time.Time) float64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s/%s/%d", j.scheduler, j.name, at.Unix())
	return mathrand.New(mathrand.NewPCG(0, h.Sum64())).Float64()
}

const (
	handOverDelay    = time.Second // before the first retry; each later one waits twice as long
	maxHandOverDelay = 15 * time.Minute
)

// handOver plays EventBridge Scheduler: its retries and its dead-letter queue are for the
// hand-over to Lambda, whose own are for the function's work.
func (c *Cloud) handOver(j *job, at time.Time) {
	began, delay := c.clock.Now(), handOverDelay
	for attempt := 1; ; attempt++ {
		input := fill(j, at, rand.Text(), attempt)
		if c.async.lambda.Knows(j.dispatcher) {
			c.async.invoke(c.ctx, j.dispatcher, input)
			return
		}
		over := c.clock.Now().Add(delay).Sub(began) > j.handOver.maxAge
		if attempt > j.handOver.retries || over {
			err := fmt.Errorf("hand over tick %s to %s: %w", schema.TickID(at), j.dispatcher, lambdaapi.ErrNoFunction)
			c.async.bury("schedule of "+j.name, j.handOver.deadLetter, err, input)
			return
		}
		if c.clock.Sleep(c.ctx, delay) != nil {
			return
		}
		delay = time.Duration(math.Min(float64(2*delay), float64(maxHandOverDelay)))
	}
}

// fill puts the context attributes where they stand in the target's input. Every
// delivery has an execution id of its own.
func fill(j *job, at time.Time, executionID string, attempt int) []byte {
	return []byte(strings.NewReplacer(
		schema.AttrScheduledTime, at.UTC().Format(schema.TickLayout),
		schema.AttrExecutionID, executionID,
		schema.AttrAttempt, strconv.Itoa(attempt),
		schema.AttrScheduleARN, j.scheduleARN,
	).Replace(j.input))
}
