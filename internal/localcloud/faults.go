package localcloud

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/assembly"
	"github.com/cronfence/cronfence/internal/localcloud/fault"
	"github.com/cronfence/cronfence/internal/localcloud/process"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard"
)

// Faults are those that were asked for. They strike where the functions meet the services around
// them: at the delivery of a tick, an invocation, a request to the table or to Step Functions, a
// status event, a reading of the clock.
func (c *Cloud) Faults() *fault.Set { return c.faults }

func (c *Cloud) newFaults() *fault.Set {
	known := func(job string) error {
		if c.jobNamed(job) == nil {
			return c.unknownJob(job)
		}
		return nil
	}
	tell := func(job, text string) {
		if c.jobNamed(job) == nil { // the sentinel has records of its own
			job = ""
		}
		c.journal.fault(job, text)
	}
	return fault.NewSet(c.clock, known, tell, c.strikeRunning)
}

// strikeRunning lets a fault strike what goes on already. What begins afterwards is looked after
// where it begins.
func (c *Cloud) strikeRunning(f fault.Fault) {
	j := c.jobNamed(f.Job)
	switch {
	case j == nil: // no fault of a run
	case f.Kind == fault.Kill:
		if w := j.oldestAtWork(); w != nil {
			c.kill(j, w)
		}
	case f.Kind == fault.Abort:
		if x := c.states.oldestRunning(j.machineARN); x != nil {
			c.abort(j, x)
		}
	}
}

func (c *Cloud) kill(j *job, w *work) {
	if _, struck := c.faults.Take(fault.Kill, j.name, "the process of "+w.run+" is killed"); struck {
		w.cancel(process.ErrKilled)
	}
}

func (c *Cloud) abort(j *job, x *execution) {
	if _, struck := c.faults.Take(fault.Abort, j.name, x.name+" is stopped from outside"); struck {
		_ = c.states.Stop(c.ctx, x.arn, "", "") // of one that has just ended nothing is to be stopped
	}
}

// workBegun is called with a job's work as it begins: before that there is nothing that could
// go on behind the end of its execution.
func (c *Cloud) workBegun(j *job, w *work) {
	c.kill(j, w)
	if x := c.states.named(j.machineARN, w.run); x != nil {
		c.abort(j, x)
	}
}

// heldStates are where a run that is frozen stands still: its beats, and what puts its end on
// record. Its work goes on.
var heldStates = []string{"Cronfence Heartbeat", "Cronfence Finished", "Cronfence Settle", "Cronfence Settle Failed"}

// hold keeps an execution before a state.
func (c *Cloud) hold(ctx context.Context, x *execution, state string) {
	for _, held := range heldStates {
		if j := c.jobOfMachine(x.machine.arn); j != nil && state == held {
			c.faults.Hold(ctx, j.name, x.name, state)
		}
	}
}

// statusLost tells whether a status event does not arrive.
func (c *Cloud) statusLost(machineARN, run, status string) bool {
	j := c.jobOfMachine(machineARN)
	if j == nil {
		return false
	}
	_, struck := c.faults.Take(fault.Drop, j.name, fmt.Sprintf("the status event %s of %s is lost", status, run))
	return struck
}

// crashing is Step Functions as the dispatcher sees it: when the fault strikes the dispatcher is
// dead before its request is sent.
type crashing struct {
	machine.Runner
	cloud *Cloud
}

// Start implements machine.Runner.
func (m crashing) Start(ctx context.Context, machineARN, name, input string) error {
	if j := m.cloud.jobOfMachine(machineARN); j != nil {
		if _, struck := m.cloud.faults.Take(fault.Crash, j.name, "the dispatcher dies before it starts "+name); struck {
			runtime.Goexit()
		}
	}
	return m.Runner.Start(ctx, machineARN, name, input)
}

// throttled is the table as a function sees it. Every refusal stands for all tries of the SDK.
type throttled struct {
	guard.Store
	faults *fault.Set
	meter  *meter
}

func (s throttled) refused(job, request string) error {
	s.meter.requests.Add(1)
	if _, struck := s.faults.Take(fault.Throttle, job, "the table refuses "+request); struck {
		return fmt.Errorf("%s: throttled: %w", request, guard.ErrBusy)
	}
	return nil
}

// Commit implements guard.Store.
func (s throttled) Commit(ctx context.Context, c guard.Commit) error {
	if err := s.refused(c.Job, "commit of "+c.Job); err != nil {
		return err
	}
	return s.Store.Commit(ctx, c)
}

// Guard implements guard.Store.
func (s throttled) Guard(ctx context.Context, job string) (*guard.Guard, error) {
	if err := s.refused(job, "read of guard "+job); err != nil {
		return nil, err
	}
	return s.Store.Guard(ctx, job)
}

// Row implements guard.Store.
func (s throttled) Row(ctx context.Context, job, tick string) (*guard.Row, error) {
	if err := s.refused(job, "read of tick "+tick); err != nil {
		return nil, err
	}
	return s.Store.Row(ctx, job, tick)
}

// Rows implements guard.Store.
func (s throttled) Rows(ctx context.Context, q guard.RowQuery) (guard.RowPage, error) {
	if err := s.refused(q.Job, "query of ticks of "+q.Job); err != nil {
		return guard.RowPage{}, err
	}
	return s.Store.Rows(ctx, q)
}

// Gaps implements guard.Store.
func (s throttled) Gaps(ctx context.Context, job, from, to string, limit int) ([]guard.Gap, error) {
	if err := s.refused(job, "query of gaps of "+job); err != nil {
		return nil, err
	}
	return s.Store.Gaps(ctx, job, from, to, limit)
}

// Guards implements guard.Store. It is of no one job.
func (s throttled) Guards(ctx context.Context, after string, limit int) (guard.GuardPage, error) {
	if err := s.refused("", "list of guards"); err != nil {
		return guard.GuardPage{}, err
	}
	return s.Store.Guards(ctx, after, limit)
}

// faulty puts what can go wrong around what a function runs on. Only what guards meets it: the
// dispatcher alone crashes before a start, and jobs have their own ways to fail.
func (c *Cloud) faulty(e Env, f assembly.Function) Env {
	name, guards := strings.CutPrefix(f.GoPackage, guardPackages)
	if !guards {
		return e
	}
	m := c.meters.of(f)
	e.Store = throttled{e.Store, c.faults, m}
	e.Out = measured{e.Out, &m.logBytes}
	now := e.Now
	e.Now = func() time.Time { return c.faults.Now(name, now()) }
	if name == "dispatcher" {
		e.Machines = crashing{e.Machines, c}
	}
	return e
}
