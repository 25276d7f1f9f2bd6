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

	"github.com/cronfence/cronfence/internal/localcloud/lambdaapi"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Faults are what the services around the functions may do at any time and seldom do.
// The same seed does the same to the same ticks.
type Faults struct {
	Seed uint64
	// Twice is the fraction of ticks that are delivered twice, from 0 to 1: EventBridge
	// Scheduler delivers at least once.
	Twice float64
}

// redelivery is how much later than the first a second delivery comes at most.
const redelivery = time.Minute

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

// deliver hands a tick over, somewhere in its time window, and now and then once more. A
// delivery carries the planned time, whenever it comes.
func (c *Cloud) deliver(j *job, at time.Time) {
	if j.window > 0 && c.clock.Sleep(c.ctx, time.Duration(c.roll(j, at, "window")*float64(j.window))) != nil {
		return
	}
	c.work.Go(func() { c.handOver(j, at) })
	if c.roll(j, at, "twice") >= c.config.Faults.Twice {
		return
	}
	if c.clock.Sleep(c.ctx, time.Duration(c.roll(j, at, "later")*float64(redelivery))) != nil {
		return
	}
	c.journal.note(fmt.Sprintf("tick %s of %s is delivered twice", schema.TickID(at), j.name))
	c.handOver(j, at)
}

// roll is a number in [0,1) that depends on the seed, the job, the tick and what it is for,
// and on nothing that happens at the same time.
func (c *Cloud) roll(j *job, at time.Time, what string) float64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s/%s/%s/%d", j.scheduler, j.name, what, at.Unix())
	return mathrand.New(mathrand.NewPCG(c.config.Faults.Seed, h.Sum64())).Float64()
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
