package ops

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Direct operates a scheduler on its records, through the same engine as the functions.
type Direct struct {
	Name   string // the scheduler's
	Engine *engine.Engine
	Notes  Notes        // nil where there are none
	Around Surroundings // needed by Doctor and Logs alone
	Clock  Clock        // nil where this machine's clock is that of the records
}

var _ Operator = (*Direct)(nil)

const (
	jobsPage = 100
	// recent is how many ticks a status shows.
	recent = 5
)

func (d *Direct) now() guard.Millis { return schema.MillisOf(d.Engine.Now()) }

// Jobs implements Operator.
func (d *Direct) Jobs(ctx context.Context) iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		var unreadable []error // told behind what can be read
		for after := ""; ; {
			page, err := d.Engine.Store.Guards(ctx, after, jobsPage)
			if err != nil {
				yield(Job{}, fmt.Errorf("list jobs: %w", err))
				return
			}
			unreadable = append(unreadable, page.Unreadable...)
			now := d.now()
			for _, g := range page.Guards {
				if !yield(viewOf(d.Name, g, now), nil) {
					return
				}
			}
			if after = page.Next; after == "" {
				break
			}
		}
		if len(unreadable) > 0 {
			yield(Job{}, fmt.Errorf("list jobs: %w", errors.Join(unreadable...)))
		}
	}
}

// guardOf reads a job's guard, which every known job has.
func (d *Direct) guardOf(ctx context.Context, job string) (guard.Guard, error) {
	g, err := d.Engine.Store.Guard(ctx, job)
	switch {
	case err != nil:
		return guard.Guard{}, fmt.Errorf("read guard of %s: %w", job, err)
	case g == nil:
		return guard.Guard{}, d.unknown(ctx, job)
	}
	return *g, nil
}

// Status implements Operator.
func (d *Direct) Status(ctx context.Context, job string) (Status, error) {
	g, err := d.guardOf(ctx, job)
	if err != nil {
		return Status{}, err
	}
	return d.status(ctx, g)
}

func (d *Direct) status(ctx context.Context, g guard.Guard) (Status, error) {
	s := statusOf(viewOf(d.Name, g, d.now()), g)
	for e, err := range d.history(ctx, g, 0, recent, "") {
		if err != nil {
			return Status{}, err
		}
		if s.Recent = append(s.Recent, e); len(s.Recent) == recent {
			break
		}
	}
	return s, nil
}

// Tick implements Operator.
func (d *Direct) Tick(ctx context.Context, job, tick string) (*Entry, error) {
	row, err := d.Engine.Store.Row(ctx, job, tick)
	if err != nil {
		return nil, fmt.Errorf("read tick %s of %s: %w", tick, job, err)
	}
	if row == nil {
		return nil, nil
	}
	e := entryOf(d.Name, *row)
	return &e, nil
}
