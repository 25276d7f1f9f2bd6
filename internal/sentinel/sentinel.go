// Package sentinel looks after what no event will: it sweeps over all guards of a scheduler,
// and compares them with the schedules that are deployed.
package sentinel

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Schedules is what the sentinel needs of EventBridge Scheduler: the scheduler's own group.
type Schedules interface {
	// List returns all of them. It may miss one that was made moments ago.
	List(ctx context.Context) ([]Schedule, error)
	// Spec reads the job's spec from its schedule's target input.
	Spec(ctx context.Context, name string) (schema.Spec, error)
}

// Schedule is one entry of the list.
type Schedule struct {
	Name     string
	Job      string
	Modified time.Time
	Disabled bool // it ticks not: its job is known, so that people can run it, and nothing is expected
}

// Handler sweeps, once an invocation.
type Handler struct {
	Scheduler string
	Store     guard.Store
	Machines  machine.Runner
	Schedules Schedules
	Now       func() time.Time
	NewToken  func() string
	Notices   Notices   // may be nil: then there is no weekly message
	Out       io.Writer // log and metric lines

	// known is how each job's schedule was when it was last compared with its guard, by job: a
	// function that stays warm compares only what changed since.
	known map[string]known
	// comparedTo is the job after which the last sweep stopped comparing; empty: none was left.
	comparedTo string
	// told is the week whose message is known to be sent.
	told string
}

// Reply says what a sweep came to.
type Reply struct {
	Guards   int  `json:"guards"`   // looked at
	Failed   int  `json:"failed"`   // that could not be seen to, and are tried again
	Complete bool `json:"complete"` // false: the next sweep goes on where this one ended
}

// How much one sweep does: it takes up no new guard when less than spare of its time is
// left, and the next one goes on from there.
const (
	pageSize = 100
	spare    = 20 * time.Second
)

// Handle sweeps over as many guards as its time allows. An error says that some of them
// could not be seen to; the others were.
func (h *Handler) Handle(ctx context.Context, _ json.RawMessage) (any, error) {
	log := &telemetry.Writer{Scheduler: h.Scheduler, Out: h.Out, Now: h.Now}
	e := &engine.Engine{
		Store: h.Store, Machines: h.Machines, Now: h.Now, NewToken: h.NewToken,
		Timeout: schema.DispatcherTimeout, Observe: log,
	}
	until := h.Now().Add(schema.SentinelTimeout - spare)
	deployed, err := h.compare(ctx, e, h.Now().Add((schema.SentinelTimeout-spare)/2))
	if err != nil { // the guards need it less than they need the sweep
		log.Warn("", "", "schedules not compared", err)
	}
	reply, sweepErr := h.sweep(ctx, e, log, deployed, until)
	if err := h.weekly(ctx, e, until); err != nil { // neither do jobs need it, nor is it a sweep that failed
		log.Warn("", "", "weekly message not sent yet", err)
	}
	log.Line("INFO", "sweep", "", map[string]any{"guards": reply.Guards, "failed": reply.Failed, "complete": reply.Complete}, nil)
	return reply, errors.Join(err, sweepErr)
}

// sweep goes over the guards from where the last sweep ended, those first of each page that
// stand in their job's way.
func (h *Handler) sweep(ctx context.Context, e *engine.Engine, log *telemetry.Writer, deployed map[string]bool, until time.Time) (Reply, error) {
	began, err := h.resumePoint(ctx, sweptRow)
	if err != nil {
		return Reply{}, err
	}
	after := began
	var reply Reply
	var failed []error
	whole, seen := after == "", map[string]bool{}
	for {
		page, err := h.Store.Guards(ctx, after, pageSize)
		if err != nil {
			return reply, errors.Join(append(failed, err)...)
		}
		failed = append(failed, page.Unreadable...)
		late := false
		for _, g := range urgentFirst(page.Guards, e.Urgent) {
			if late = h.Now().After(until); late {
				break
			}
			if err := h.see(ctx, e, log, g, deployed); err != nil {
				failed = append(failed, err)
			}
			reply.Guards++
			seen[g.Job] = true
			after = g.Job // what is passed over has its turn in the next round
		}
		reply.Failed = len(failed)
		if late {
			break
		}
		if after = page.Next; after == "" {
			reply.Complete = true
			break
		}
	}
	if whole && reply.Complete { // a guard that somebody deleted is made anew by the next sweep
		maps.DeleteFunc(h.known, func(job string, _ known) bool { return !seen[job] })
	}
	return reply, errors.Join(append(failed, h.setResumePoint(ctx, sweptRow, began, after))...)
}

func (h *Handler) see(ctx context.Context, e *engine.Engine, log *telemetry.Writer, g guard.Guard, deployed map[string]bool) error {
	ticks, listed := deployed[g.Job]
	if deployed != nil && !ticks {
		if !listed {
			delete(h.known, g.Job)
		}
		forgotten, err := e.Forget(ctx, g)
		if err != nil || forgotten == nil {
			return err
		}
		g = *forgotten
	} else if k := h.known[g.Job]; k.hash != "" && k.hash != g.SpecHash { // a late tick put an older spec back
		delete(h.known, g.Job) // the next sweep compares it again
	}
	reportGauges(log, g, schema.MillisOf(h.Now()))
	return e.SweepGuard(ctx, g)
}

func urgentFirst(guards []guard.Guard, urgent func(guard.Guard) bool) []guard.Guard {
	var first, then []guard.Guard
	for _, g := range guards {
		if urgent(g) {
			first = append(first, g)
		} else {
			then = append(then, g)
		}
	}
	return append(first, then...)
}
