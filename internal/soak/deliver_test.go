package soak

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/sentinel"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// tickUntil delivers the ticks of all jobs until an instant, and waits until nothing is to be
// delivered any more.
func (c *cloud) tickUntil(end time.Time) {
	var tickers, deliveries sync.WaitGroup
	for _, spec := range c.specs {
		plan := schedule.MustParse(spec.Schedule)
		tickers.Go(func() {
			for at, ok := plan.Next(c.clock.Now()); ok && !at.After(end); at, ok = plan.Next(at) {
				if c.clock.SleepUntil(c.ctx, at) != nil {
					return
				}
				for _, wait := range c.deliveries() {
					deliveries.Go(func() {
						_ = c.clock.Sleep(c.ctx, wait)
						c.async(schema.DispatcherTimeout, schema.TickEvent{Job: spec.Job, Tick: schema.TickID(at), Spec: spec}, dispatcher)
					})
				}
			}
		})
	}
	tickers.Wait()
	deliveries.Wait()
}

// deliveries are when a tick comes, after it is due.
func (c *cloud) deliveries() (waits []time.Duration) {
	if c.chance(2) {
		c.count("tick that never comes")
		return nil
	}
	first := c.between(0, 5*time.Second)
	if c.chance(7) {
		c.count("tick that comes late")
		first = c.between(30*time.Second, 200*time.Second)
	}
	waits = append(waits, first)
	if c.chance(10) {
		c.count("tick that comes twice")
		waits = append(waits, first+c.between(0, 90*time.Second))
	}
	return waits
}

func dispatcher(ctx context.Context, p *process, payload json.RawMessage) (any, error) {
	h := &dispatch.Handler{Scheduler: scheduler, Store: p.store, Machines: p.machines(), Now: p.now, NewToken: p.token, Out: p.out()}
	return h.Handle(ctx, payload)
}

// async invokes a function as Lambda does for those who do not wait: twice more after errors.
func (c *cloud) async(timeout time.Duration, event any, handle handler) {
	for _, wait := range []time.Duration{0, time.Minute, 2 * time.Minute} {
		if c.clock.Sleep(c.ctx, wait) != nil {
			return
		}
		if err := c.invoke(timeout, event, handle); err == nil {
			return
		}
	}
	c.count("dead letter")
}

// List and Spec are the scheduler's group of schedules, for the sentinel.
func (c *cloud) List(context.Context) (list []sentinel.Schedule, err error) {
	for job := range c.specs {
		list = append(list, sentinel.Schedule{Name: job, Job: job})
	}
	return list, nil
}

// Spec implements sentinel.Schedules.
func (c *cloud) Spec(_ context.Context, name string) (schema.Spec, error) { return c.specs[name], nil }

// sweepOnce is one invocation of the sentinel.
func (c *cloud) sweepOnce() {
	err := c.invoke(schema.SentinelTimeout, struct{}{}, func(ctx context.Context, p *process, payload json.RawMessage) (any, error) {
		h := &sentinel.Handler{
			Scheduler: scheduler, Store: p.store, Machines: p.machines(), Schedules: c, Now: p.now, NewToken: p.token, Out: p.out(),
		}
		return h.Handle(ctx, payload)
	})
	switch {
	case err == nil:
		c.count("sweep")
	case !c.faulty.Load():
		c.t.Fatal(err)
	default:
		c.count("sweep that fails")
	}
}

func (c *cloud) keepSweeping(ctx context.Context) {
	for c.clock.Sleep(ctx, schema.Sweep) == nil {
		c.sweepOnce()
	}
}
