package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Settle records the end of a run and releases its guard, or hands it straight to the tick
// that waits and starts it. However often and by whomever an end is reported, it has one
// effect.
func (e *Engine) Settle(ctx context.Context, end guard.End) (guard.Decision, error) {
	return e.settle(ctx, end, true)
}

// settle settles an end. more says that a tick of the backlog may follow at once; else the sweep
// sees to it.
func (e *Engine) settle(ctx context.Context, end guard.End, more bool) (guard.Decision, error) {
	deadline := e.deadline()
	var s seen
	dec, blind := guard.Decision{}, false
	for range maxTries {
		now := e.now()
		end.Token = e.NewToken()
		if blind = false; !s.guardKnown && !s.rowKnown {
			dec, blind = guard.BlindSettle(end, now)
		}
		if !blind {
			if err := e.read(ctx, &s, end.Job, end.Tick); err != nil {
				return guard.Decision{}, err
			}
			if more {
				var err error
				if end.Backlog, err = e.backlogTick(ctx, s.guard, now); err != nil {
					return guard.Decision{}, err
				}
			}
			dec = guard.Settle(end, s.guard, s.row, now)
		}
		refused, err := e.commit(ctx, dec)
		if err != nil {
			return guard.Decision{}, err
		}
		if refused == nil {
			e.startNext(ctx, dec, deadline)
			return dec, nil
		}
		s.learn(refused, end.Tick)
	}
	return guard.Decision{}, fmt.Errorf("settle %s: %w", end.Run, errContended)
}

// SettleObserved settles an end that a status event tells of. Nearly always the run has
// reported it by then: a read says so for less than a refused commit costs.
func (e *Engine) SettleObserved(ctx context.Context, end guard.End) (guard.Decision, error) {
	row, err := e.Store.Row(ctx, end.Job, end.Tick)
	if err != nil {
		return guard.Decision{}, fmt.Errorf("read tick %s of %s: %w", end.Tick, end.Job, err)
	}
	if row != nil && row.Outcome.Final() {
		return guard.Settle(end, nil, row, e.now()), nil // without a guard it writes nothing
	}
	return e.Settle(ctx, end)
}

// startNext starts the run that a commit gave the guard to. That it cannot be started is not
// the error of the run that ended: the sentinel starts it.
func (e *Engine) startNext(ctx context.Context, dec guard.Decision, deadline guard.Millis) {
	if dec.Next == nil || dec.Guard.Spec == nil {
		return
	}
	if _, err := e.start(ctx, *dec.Guard.Spec, *dec.Next, deadline, true); err != nil {
		e.warn(dec.Next.Job, dec.Next.Run, "the next run was not started yet", err)
	}
}

// advance hands a free guard to the tick that waits and starts it. It returns the guard as
// it is afterwards.
func (e *Engine) advance(ctx context.Context, g *guard.Guard, deadline guard.Millis) (*guard.Guard, error) {
	dec, ok := guard.Advance(*g, e.NewToken(), e.now())
	if !ok {
		return g, nil
	}
	refused, err := e.commit(ctx, dec)
	if err != nil {
		return nil, err
	}
	if refused != nil {
		return e.Store.Guard(ctx, g.Job)
	}
	e.startNext(ctx, dec, deadline)
	next := dec.Guard
	return &next, nil
}

// takeOver looks at the execution of a holder that is due and settles it on its behalf,
// stopping it first if it still runs. It returns the guard as it is afterwards; stays is
// true when the holder could not be taken over yet.
func (e *Engine) takeOver(ctx context.Context, g guard.Guard, by string, deadline guard.Millis) (_ *guard.Guard, stays bool, err error) {
	row, err := e.Store.Row(ctx, g.Job, g.Run.Tick)
	if err != nil {
		return nil, false, fmt.Errorf("read tick %s of %s: %w", g.Run.Tick, g.Job, err)
	}
	backlog, err := e.backlogTick(ctx, &g, e.now())
	if err != nil {
		return nil, false, err
	}
	for stopped := false; ; stopped = true {
		sight, err := e.sightOfHolder(ctx, g)
		if err != nil {
			return nil, false, err
		}
		sight.Stopped = stopped
		dec := guard.TakeOver(g, row, sight, by, backlog, e.NewToken(), e.now())
		refused, err := e.commit(ctx, dec)
		if err != nil {
			return nil, false, err
		}
		if refused != nil { // somebody moved: decide anew from the guard as it is
			fresh, err := e.Store.Guard(ctx, g.Job)
			return fresh, false, err
		}
		g = dec.Guard
		switch {
		case dec.Verdict == guard.Done:
			e.startNext(ctx, dec, deadline)
			return &g, false, nil
		case dec.Verdict != guard.Look || stopped:
			return &g, true, nil
		}
		if err := e.stop(ctx, *g.Spec, g.Run.ID, stopError[g.Mark.Why], string(g.Mark.Why)+": "+g.Mark.By); err != nil && !guard.FencedHolder(g) {
			return &g, true, nil // warned of; the old run keeps its place
		}
	}
}

// stopError is the error that an execution is stopped with.
var stopError = map[guard.MarkReason]string{
	guard.MarkTakeOver: schema.ErrorLeaseLost,
	guard.MarkReplace:  schema.ErrorStop,
	guard.MarkRelease:  schema.ErrorReleased,
}

func (e *Engine) sightOfHolder(ctx context.Context, g guard.Guard) (guard.Sight, error) {
	sight, fence, err := e.look(ctx, *g.Spec, g.Run.ID)
	if err == nil && fence != g.Fence { // a stranger of the same name: this run was never started
		sight = guard.Sight{At: sight.At}
	}
	return sight, err
}

// Beat renews a run's lease. It returns until when the run is trusted if the answer is
// Renewed. An error says that the store could not be asked, which is no lost lease.
func (e *Engine) Beat(ctx context.Context, b guard.Beat) (guard.Renewal, time.Time, error) {
	now := e.now()
	until := now.Add(b.Lease)
	err := e.Store.Commit(ctx, guard.BlindBeat(b, now))
	refused := new(guard.Refused)
	switch {
	case err == nil:
		return guard.Renewed, until.Time(), nil
	case !errors.As(err, &refused):
		return 0, time.Time{}, fmt.Errorf("renew lease of %s: %w", b.Run, err)
	}
	row, err := e.Store.Row(ctx, b.Job, b.Tick)
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("read tick %s of %s: %w", b.Tick, b.Job, err)
	}
	return guard.JudgeBeat(b, refused.Guard, row, until, e.now()), until.Time(), nil
}
