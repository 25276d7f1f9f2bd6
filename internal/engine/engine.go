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
	// Recorded hears of every row that this process brought to a final outcome.
	Recorded func(guard.Row)
	// Warn hears of what needs a person but fails no call, such as a stop that was denied.
	Warn func(job, run, what string, err error)
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

// commit applies the decision's commit. It returns what refused it, or nil once it is on
// record - by this request or by an earlier copy of it whose answer was lost.
func (e *Engine) commit(ctx context.Context, c *guard.Commit) (*guard.Refused, error) {
	if c == nil {
		return nil, nil
	}
	err := e.Store.Commit(ctx, *c)
	if err == nil {
		return nil, nil
	}
	refused := new(guard.Refused)
	if !errors.As(err, &refused) {
		return nil, fmt.Errorf("commit to %s: %w", c.Job, err)
	}
	for _, row := range refused.Rows {
		if row != nil && row.Token == c.Token {
			return nil, nil
		}
	}
	return refused, nil
}

func (e *Engine) recorded(d guard.Decision) {
	if d.Row.Outcome.Final() && e.Recorded != nil {
		e.Recorded(d.Row)
	}
}

func (e *Engine) warn(job, run, what string, err error) {
	if e.Warn != nil {
		e.Warn(job, run, what, err)
	}
}
