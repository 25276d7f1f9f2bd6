package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Result says what a delivery came to.
type Result struct {
	Verdict guard.Verdict // Start, Done or Duplicate
	Row     guard.Row
	// Sent is false for a run that is on record and was not sent, because it could have
	// arrived after the run was given up.
	Sent bool
}

// accountLag is how far behind its record a job may be before a tick, and not the sentinel,
// brings it up to date.
const accountLag = 5 * time.Minute

// Deliver decides on the tick and carries the decision out. An error means that trying
// again can help; whatever was committed by then is found again.
func (e *Engine) Deliver(ctx context.Context, d guard.Delivery) (Result, error) {
	deadline := e.deadline()
	var s seen
	dec, blind := guard.Decision{}, false
	for range maxTries {
		now := e.now()
		d.Token = e.NewToken()
		if blind = false; !s.rowKnown && !s.guardKnown {
			dec, blind = guard.BlindClaim(d, now)
		}
		if !blind {
			if err := e.read(ctx, &s, d.Spec.Job, d.Tick); err != nil {
				return Result{}, err
			}
			if behind, err := e.catchUpWithRecord(ctx, d, &s, now); err != nil {
				return Result{}, err
			} else if behind {
				continue
			}
			dec = guard.Deliver(d, s.guard, s.row, now)
		}
		refused, err := e.commit(ctx, dec)
		if err != nil {
			return Result{}, err
		}
		if refused != nil {
			s.learn(refused, d.Tick)
			s.rowKnown = s.rowKnown || blind // the claim's own condition is that there is none
			if s.row != nil && s.row.Outcome.Final() {
				s.guardKnown = true // it decides without the guard
			}
			continue
		}
		done, err := e.carryOut(ctx, &d, dec, &s, deadline)
		if err != nil {
			return Result{}, err
		}
		if done {
			return e.finish(ctx, d, dec, deadline)
		}
	}
	return Result{}, fmt.Errorf("deliver tick %s of %s: %w", d.Tick, d.Spec.Job, errContended)
}

// carryOut does what a decision asks for before the tick itself can be decided. It is true
// when the decision was the tick's own.
func (e *Engine) carryOut(ctx context.Context, d *guard.Delivery, dec guard.Decision, s *seen, deadline guard.Millis) (done bool, err error) {
	switch dec.Verdict {
	case guard.Unblock:
		s.guard, err = e.unblock(ctx, dec.Guard)
	case guard.HandOver:
		held := dec.Guard
		s.guard, err = e.advance(ctx, &held, deadline)
		s.rowKnown = false // the tick itself may have been the one that waited
	case guard.Look:
		var stays bool
		if s.guard, stays, err = e.takeOver(ctx, dec.Guard, d.Tick, deadline); stays {
			d.Stays = dec.Guard.Run.ID
		}
		s.rowKnown = s.rowKnown && s.row == nil
	default:
		return true, nil
	}
	s.guardKnown = err == nil
	return false, err
}

// finish does what is left once the decision is on record.
func (e *Engine) finish(ctx context.Context, d guard.Delivery, dec guard.Decision, deadline guard.Millis) (Result, error) {
	res := Result{Verdict: dec.Verdict, Row: dec.Row}
	if dec.Verdict != guard.Start {
		return res, nil
	}
	var err error
	res.Sent, err = e.start(ctx, d.Spec, dec.Row, deadline, dec.Commit != nil)
	return res, err
}

// catchUpWithRecord brings a job's record up to date that is far behind, so that an outage is
// on record before what comes after it. It is true when the guard changed.
func (e *Engine) catchUpWithRecord(ctx context.Context, d guard.Delivery, s *seen, now guard.Millis) (bool, error) {
	g := s.guard
	if g == nil || s.row != nil || !g.Ready || g.SpecHash != d.Spec.Hash() {
		return false, nil
	}
	if g.LastTick >= d.Prev || g.LastTick.Add(d.Spec.Window()+accountLag) >= now {
		return false, nil
	}
	moved, err := e.account(ctx, *g)
	if err != nil || moved == nil {
		return false, err
	}
	s.guard = moved
	return true, nil
}

// account records what a job missed. It returns nil when nothing was to be recorded.
func (e *Engine) account(ctx context.Context, g guard.Guard) (*guard.Guard, error) {
	p, err := PlannedBy(g)
	if err != nil {
		return nil, err
	}
	if !guard.AccountDue(g, p, e.now()) {
		return nil, nil
	}
	page, err := e.Store.Rows(ctx, guard.RowQuery{
		Job: g.Job, From: schema.TickID(g.LastTick.Time()), To: lastScheduled, Limit: maxAccounted,
	})
	if err != nil {
		return nil, fmt.Errorf("query ticks of %s: %w", g.Job, err)
	}
	dec, ok := guard.Account(g, page.Rows, page.Next == "", p, e.NewToken(), e.now())
	if !ok {
		return nil, nil
	}
	refused, err := e.commit(ctx, dec)
	if err != nil {
		return nil, err
	}
	if refused != nil {
		return e.Store.Guard(ctx, g.Job)
	}
	return &dec.Guard, nil
}

const (
	// maxAccounted bounds the rows that one accounting looks at; the next goes on from there.
	maxAccounted = 500
	// lastScheduled sorts behind the ids of all planned ticks and before those of other kinds.
	lastScheduled = ":"
)
