package engine

import (
	"context"
	"fmt"

	"github.com/cronfence/cronfence/pkg/guard"
)

// Settle records the end of a run and releases its guard. However often and by whomever
// an end is reported, it has one effect.
func (e *Engine) Settle(ctx context.Context, end guard.End) (guard.Decision, error) {
	var s seen
	dec, blind := guard.Decision{}, false
	for range maxTries {
		now := e.now()
		end.Token = e.NewToken()
		if !s.guardKnown && !s.rowKnown {
			dec, blind = guard.BlindSettle(end, now)
		}
		if !blind {
			if err := e.read(ctx, &s, end.Job, end.Tick); err != nil {
				return guard.Decision{}, err
			}
			dec = guard.Settle(end, s.guard, s.row, now)
		}
		refused, err := e.commit(ctx, dec.Commit)
		if err != nil {
			return guard.Decision{}, err
		}
		if refused == nil {
			if dec.Verdict == guard.Done {
				e.recorded(dec)
			}
			return dec, nil
		}
		s.learn(refused, end.Tick)
		blind = false
	}
	return guard.Decision{}, fmt.Errorf("settle %s: %w", end.Run, errContended)
}

// takeOver looks at the execution of a holder whose lease is over and settles it on its
// behalf, stopping it first if it still runs. It returns the guard as it is afterwards;
// stays is true when the holder could not be taken over yet.
func (e *Engine) takeOver(ctx context.Context, g guard.Guard, by string) (_ *guard.Guard, stays bool, err error) {
	row, err := e.Store.Row(ctx, g.Job, g.Run.Tick)
	if err != nil {
		return nil, false, fmt.Errorf("read tick %s of %s: %w", g.Run.Tick, g.Job, err)
	}
	for stopped := false; ; stopped = true {
		sight, fence, err := e.look(ctx, *g.Spec, g.Run.ID)
		if err != nil {
			return nil, false, err
		}
		if fence != g.Fence { // a stranger of the same name: this run was never started
			sight = guard.Sight{}
		}
		dec := guard.TakeOver(g, row, sight, by, e.NewToken(), e.now())
		refused, err := e.commit(ctx, dec.Commit)
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
			e.recorded(dec)
			return &g, false, nil
		case dec.Verdict == guard.Stale || stopped:
			return &g, true, nil
		}
		if err := e.stop(ctx, *g.Spec, g.Run.ID, "the lease ran out; stopped for "+by); err != nil {
			return &g, true, nil // warned of; the old run keeps its place
		}
	}
}
