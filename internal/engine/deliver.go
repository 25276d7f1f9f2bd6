package engine

import (
	"context"
	"fmt"

	"github.com/cronfence/cronfence/pkg/guard"
)

// Result says what a delivery came to.
type Result struct {
	Verdict guard.Verdict // Start, Done or Duplicate
	Row     guard.Row
	// Sent is false for a run that is on record and was not sent, because it could have
	// arrived after the run was given up.
	Sent bool
}

// Deliver decides on the tick and carries the decision out. An error means that trying
// again can help; whatever was committed by then is found again.
func (e *Engine) Deliver(ctx context.Context, d guard.Delivery) (Result, error) {
	deadline := e.now().Add(e.Timeout)
	var s seen
	dec, blind := guard.Decision{}, false
	for range maxTries {
		now := e.now()
		d.Token = e.NewToken()
		if !s.rowKnown && !s.guardKnown {
			dec, blind = guard.BlindClaim(d, now)
		}
		if !blind {
			if err := e.read(ctx, &s, d.Spec.Job, d.Tick); err != nil {
				return Result{}, err
			}
			dec = guard.Deliver(d, s.guard, s.row, now)
		}
		refused, err := e.commit(ctx, dec.Commit)
		if err != nil {
			return Result{}, err
		}
		if refused != nil {
			s.learn(refused, d.Tick)
			if blind { // the claim's own condition is that the tick has no row
				s.rowKnown = true
			}
			if s.row != nil && s.row.Outcome.Final() { // decides without the guard
				s.guardKnown = true
			}
			blind = false
			continue
		}
		switch dec.Verdict {
		case guard.Unblock:
			s.guard, err = e.unblock(ctx, dec.Guard)
		case guard.Look:
			var stays bool
			if s.guard, stays, err = e.takeOver(ctx, dec.Guard, d.Tick); stays {
				d.Stays = dec.Guard.Run.ID
			}
		default:
			return e.finish(ctx, d, dec, deadline)
		}
		if err != nil {
			return Result{}, err
		}
		s.guardKnown = true
	}
	return Result{}, fmt.Errorf("deliver tick %s of %s: %w", d.Tick, d.Spec.Job, errContended)
}

// finish does what is left once the decision is on record.
func (e *Engine) finish(ctx context.Context, d guard.Delivery, dec guard.Decision, deadline guard.Millis) (Result, error) {
	res := Result{Verdict: dec.Verdict, Row: dec.Row}
	if dec.Verdict == guard.Done {
		e.recorded(dec)
	}
	if dec.Verdict != guard.Start {
		return res, nil
	}
	var err error
	res.Sent, err = e.start(ctx, d.Spec, dec.Row, deadline)
	return res, err
}
