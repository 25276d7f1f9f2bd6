// Package engine carries out what package guard decides: it reads and commits records,
// and starts, looks at and stops runs. The handlers share it.
package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Engine holds what a decision's execution needs. Its zero fields are not usable.
type Engine struct {
	Store    guard.Store
	Machines machine.Runner
	Now      func() time.Time
	NewToken func() string
	// Timeout is how long the process that calls the engine can go on at the most: it sends
	// no start that could arrive after the run was given up.
	Timeout time.Duration
	// Observe hears of what this process put on record. It may be nil.
	Observe Observer
}

// Observer hears of what was put on record, once, by whoever did it.
type Observer interface {
	// Ended hears of a row that came to its final outcome.
	Ended(row guard.Row)
	// Lost hears of an attempt that was lost and is followed by another.
	Lost(row guard.Row)
	// Missed hears of ticks that never came.
	Missed(gap guard.Gap)
	// Given hears of a run that was given a guard that came free, or another attempt.
	Given(row guard.Row)
	// Going hears, at every sweep, of a run that holds no guard and has not ended.
	Going(row guard.Row)
	// Warn hears of what needs a person although no call failed, such as a denied stop.
	Warn(job, run, what string, err error)
}

// maxTries bounds how often a decision is made anew because the records had changed.
// Each loss means that somebody else's commit went through.
const maxTries = 10

var errContended = fmt.Errorf("the records changed %d times in a row: %w", maxTries, guard.ErrBusy)

func (e *Engine) now() guard.Millis { return schema.MillisOf(e.Now()) }

// seen is what is known of the records a decision looks at. Known and nil: there is none.
type seen struct {
	guard                *guard.Guard
	row                  *guard.Row
	guardKnown, rowKnown bool
}

// learn takes in what a refused commit showed. A row that was not refused was as assumed.
func (s *seen) learn(r *guard.Refused, tick string) {
	if r.GuardRefused {
		s.guard, s.guardKnown = r.Guard, true
	}
	if row, refused := r.Rows[tick]; refused {
		s.row, s.rowKnown = row, true
	}
}

// read reads what is not known yet.
func (e *Engine) read(ctx context.Context, s *seen, job, tick string) (err error) {
	if !s.guardKnown {
		if s.guard, err = e.Store.Guard(ctx, job); err != nil {
			return fmt.Errorf("read guard of %s: %w", job, err)
		}
		s.guardKnown = true
	}
	if !s.rowKnown {
		if s.row, err = e.Store.Row(ctx, job, tick); err != nil {
			return fmt.Errorf("read tick %s of %s: %w", tick, job, err)
		}
		s.rowKnown = true
	}
	return nil
}

// deadline is when this process can no longer be sending anything.
func (e *Engine) deadline() guard.Millis { return e.now().Add(e.Timeout) }

// commit applies the decision's commit and tells the observer. It returns what refused it,
// or nil once it is on record - by this request or by an earlier copy of it whose answer
// was lost.
func (e *Engine) commit(ctx context.Context, d guard.Decision) (*guard.Refused, error) {
	if d.Commit == nil {
		return nil, nil
	}
	err := e.Store.Commit(ctx, *d.Commit)
	refused := new(guard.Refused)
	switch {
	case err == nil:
	case !errors.As(err, &refused):
		return nil, fmt.Errorf("commit to %s: %w", d.Commit.Job, err)
	case !wroteItself(refused, d):
		return refused, nil
	}
	e.observe(d)
	return nil, nil
}

// wroteItself tells whether what refused a commit is an earlier copy of it, which the SDK sent and
// whose answer was lost. A row carries the token of its writer. A guard written alone carries none:
// if it is, to the version and the millisecond, what this commit would make it, there is nothing
// left to write, whoever wrote it.
func wroteItself(r *guard.Refused, d guard.Decision) bool {
	for _, row := range r.Rows {
		if row != nil && row.Token == d.Commit.Token {
			return true
		}
	}
	return len(d.Commit.Writes) == 1 && r.Guard != nil && r.Guard.Same(d.Guard)
}

func (e *Engine) observe(d guard.Decision) {
	if e.Observe == nil {
		return
	}
	if d.Row.Outcome.Final() {
		e.Observe.Ended(d.Row)
	}
	for _, row := range d.Ended {
		e.Observe.Ended(row)
	}
	if d.Lost != nil {
		e.Observe.Lost(*d.Lost)
	}
	for _, gap := range d.Gaps {
		e.Observe.Missed(gap)
	}
	if d.Next != nil {
		e.Observe.Given(*d.Next)
	}
	end, ended := d.Commit.Writes[0].Patch.Set.Get("backlogEnd").(*guard.BacklogEnd)
	if ended && end.By == guard.Itself { // whoever asked for it has gone
		err := fmt.Errorf("%s, up to %d ticks from %s to %s not run: %s", end.Kind, end.Left, end.Next, end.To, end.Why)
		e.warn(d.Commit.Job, "", "backlog ended", err)
	}
}

func (e *Engine) warn(job, run, what string, err error) {
	if e.Observe != nil {
		e.Observe.Warn(job, run, what, err)
	}
}
