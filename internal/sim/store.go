package sim

import (
	"context"
	"errors"
	"fmt"

	"github.com/cronfence/cronfence/pkg/guard"
)

// store is the store as one process sees it: every request is an effect.
type store struct{ p *process }

var _ guard.Store = store{}

// Commit implements guard.Store. A request whose answer was lost is sent again by the SDK: a
// transaction then answers as the first time, by its token, while a plain write meets its
// own row. Some stores forget the token, so a transaction may meet its own rows as well.
func (s store) Commit(ctx context.Context, c guard.Commit) error {
	w := s.p.w
	e := effect{is: transitionOf(c)}
	e.run = func() error { return w.commit(s.p, c, e.is) }
	e.again = e.run
	if w.tracing {
		e.what = describe(e.is, c)
	}
	err := s.p.do(ctx, e)
	if err == nil && (e.is == SkipTick || e.is == Coalesce) {
		s.p.result.skipped = true
	}
	return err
}

// Guard implements guard.Store.
func (s store) Guard(ctx context.Context, job string) (g *guard.Guard, err error) {
	err = s.p.do(ctx, effect{is: Read, what: "read guard", run: func() error {
		g, err = s.p.w.mem.Guard(ctx, job)
		return err
	}})
	return g, err
}

// Row implements guard.Store.
func (s store) Row(ctx context.Context, job, tick string) (row *guard.Row, err error) {
	err = s.p.do(ctx, effect{is: Read, what: "read row", run: func() error {
		row, err = s.p.w.mem.Row(ctx, job, tick)
		return err
	}})
	return row, err
}

// Rows implements guard.Store.
func (s store) Rows(ctx context.Context, q guard.RowQuery) (page guard.RowPage, err error) {
	err = s.p.do(ctx, effect{is: Read, what: "query rows", run: func() error {
		page, err = s.p.w.mem.Rows(ctx, q)
		return err
	}})
	return page, err
}

// Gaps implements guard.Store.
func (s store) Gaps(ctx context.Context, job, from, to string, limit int) (gaps []guard.Gap, err error) {
	err = s.p.do(ctx, effect{is: Read, what: "query gaps", run: func() error {
		gaps, err = s.p.w.mem.Gaps(ctx, job, from, to, limit)
		return err
	}})
	return gaps, err
}

// Guards implements guard.Store.
func (s store) Guards(ctx context.Context, after string, limit int) (page guard.GuardPage, err error) {
	err = s.p.do(ctx, effect{is: Read, what: "list guards", run: func() error {
		page, err = s.p.w.mem.Guards(ctx, after, limit)
		return err
	}})
	return page, err
}

// commit applies a commit and shows it to the checks.
func (w *World) commit(p *process, c guard.Commit, is Transition) error {
	ctx := context.Background()
	o := observation{by: p, commit: &c, is: is, before: w.guard}
	writes := rowWrites(c)
	o.rowsBefore = make([]*guard.Row, len(writes))
	for i, write := range writes {
		if !write.Absent { // once it passed there was none
			o.rowsBefore[i], _ = w.mem.Row(ctx, c.Job, guard.TickOf(write.SK)) // memory fails only on a cancelled context
		}
	}
	if err := w.mem.Commit(ctx, c); err != nil {
		return err
	}
	w.guard, _ = w.mem.Guard(ctx, c.Job)
	o.after = w.guard
	for _, write := range writes {
		row, _ := w.mem.Row(ctx, c.Job, guard.TickOf(write.SK))
		o.rowsAfter = append(o.rowsAfter, row)
	}
	w.observe(o)
	return nil
}

// busy is the answer to an effect that was throttled.
func (w *World) busy(e effect) error {
	switch e.is {
	case Start, Describe, Stop:
		return errors.New("ThrottlingException: rate exceeded")
	default:
		return fmt.Errorf("throughput exceeded: %w", guard.ErrBusy)
	}
}
