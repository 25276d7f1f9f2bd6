package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// start sends the row's run to Step Functions. deadline is when this process can no
// longer be sending: where that is at or past the row's StartBy, or past already, nothing is sent
// and the run is left to expire, since a late start would run what others have given up. A retry that must wait
// for its predecessor's work to end is left to the sentinel. first says that this call put the
// run on record, and nobody is known to have sent its start before.
func (e *Engine) start(ctx context.Context, spec schema.Spec, row guard.Row, deadline guard.Millis, first bool) (sent bool, err error) {
	if row.NotBefore > e.now() {
		return false, nil
	}
	if deadline >= row.StartBy || e.now() >= deadline {
		e.warn(row.Job, row.Run, "not started: too late to arrive before it is given up", nil)
		return false, nil
	}
	input, err := inputOf(row)
	if err != nil {
		return false, err
	}
	err = e.Machines.Start(ctx, spec.Machine, row.Run, input)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, machine.ErrExists):
		return true, e.startedBefore(ctx, spec, row)
	case errors.Is(err, machine.ErrPermanent):
		return e.startRefused(ctx, spec, row, first, err)
	}
	return false, fmt.Errorf("start %s: %w", row.Run, err)
}

// startRefused settles a run that cannot be started, unless an earlier start of it went
// through: then the refusal says nothing of the run, which may be at work. A look that does
// not see the run proves nothing until nobody may start it any more, so the refusal of a
// repeated start leaves it to be abandoned by then. No tick of the backlog follows at once: what
// refused this one refuses that one too.
func (e *Engine) startRefused(ctx context.Context, spec schema.Spec, row guard.Row, first bool, refusal error) (sent bool, err error) {
	sight, fence, err := e.look(ctx, spec, row.Run)
	switch {
	case err != nil:
		return false, err
	case !first && (!sight.Known || fence != row.Fence):
		return false, fmt.Errorf("start %s: %w", row.Run, refusal)
	case !sight.Known || fence != row.Fence:
		sight = guard.Sight{Outcome: guard.Failed, Error: "Cronfence.StartRefused", Cause: refusal.Error()}
	case !sight.Ended:
		return true, nil
	}
	end := endOf(row, sight)
	end.Refused = !sight.Known
	_, err = e.settle(ctx, end, false)
	return sight.Known, err
}

// inputOf makes the execution's input from the row alone: every start of the run, by
// whomever, is the same to the byte.
func inputOf(row guard.Row) (string, error) {
	b, err := json.Marshal(schema.RunInput{
		Job: row.Job, Tick: row.Tick, Run: row.Run, Fence: row.Fence, Attempt: row.Attempt,
		Deadline: row.MaxRunUntil.Time().Format(time.RFC3339), Interval: row.Interval,
	})
	if err != nil {
		return "", fmt.Errorf("write input of %s: %w", row.Run, err)
	}
	return string(b), nil
}

// startedBefore finds out what a name that is taken means: this run, started by an earlier
// delivery, or a stranger of the same name.
func (e *Engine) startedBefore(ctx context.Context, spec schema.Spec, row guard.Row) error {
	sight, fence, err := e.look(ctx, spec, row.Run)
	switch {
	case err != nil:
		return err
	case !sight.Known: // taken, but not visible yet
		return fmt.Errorf("start %s: %w", row.Run, machine.ErrNotFound)
	case fence != row.Fence && !sight.Ended: // nobody holds the guard for it: it must not go on beside another
		if err := e.stop(ctx, spec, row.Run, schema.ErrorLeaseLost, "its guard was lost"); err != nil {
			return fmt.Errorf("start %s: an execution of this name goes on and cannot be stopped: %w", row.Run, err)
		}
		return fmt.Errorf("start %s: an execution of this name, of an earlier guard of the job, is being stopped", row.Run)
	case fence != row.Fence:
		sight = guard.Sight{
			Ended: true, Outcome: guard.Failed, Error: "Cronfence.NameUsed", MayLinger: sight.MayLinger, EndedAt: sight.EndedAt,
			Cause: "name used: an execution of this name belongs to an earlier guard of the job",
		}
	case !sight.Ended:
		return nil
	}
	_, err = e.settle(ctx, endOf(row, sight), false) // the names of the ticks behind it may be taken too
	return err
}

// endOf is the end of a row's run as a look showed it.
func endOf(row guard.Row, s guard.Sight) guard.End {
	return guard.End{
		Job: row.Job, Tick: row.Tick, Run: row.Run, Fence: row.Fence, Attempt: row.Attempt, Interval: row.Interval,
		Outcome: s.Outcome, Error: s.Error, Cause: s.Cause, MayLinger: s.MayLinger,
		StartedAt: s.StartedAt, EndedAt: s.EndedAt,
	}
}

// look describes a run. fence is the one its input carries.
func (e *Engine) look(ctx context.Context, spec schema.Spec, run string) (s guard.Sight, fence int64, err error) {
	at := e.now()
	x, err := e.Machines.Describe(ctx, schema.ExecutionARN(spec.Machine, run))
	if errors.Is(err, machine.ErrNotFound) {
		return guard.Sight{At: at}, 0, nil
	}
	if err != nil {
		return guard.Sight{}, 0, fmt.Errorf("describe %s: %w", run, err)
	}
	var in schema.RunInput
	if err := json.Unmarshal([]byte(x.Input), &in); err != nil {
		in.Fence = 0 // not one of ours: no fence of ours is 0
	}
	s = SightOf(x, spec.Chain, e.now())
	s.At = at
	return s, in.Fence, nil
}

// SightOf reads an execution's status. now is read after the look: the work of an execution
// whose stop date is not known may have gone on until then.
func SightOf(x machine.Execution, chain bool, now guard.Millis) guard.Sight {
	s := guard.Sight{
		Known: true, Ended: true, Error: x.Error, Cause: x.Cause, MayLinger: true,
		StartedAt: schema.MillisOf(x.StartedAt), EndedAt: schema.MillisOf(x.StoppedAt),
	}
	if s.EndedAt == 0 {
		s.EndedAt = now
	}
	switch x.Status {
	case machine.Succeeded:
		s.Outcome, s.MayLinger = guard.Succeeded, false
	case machine.Failed:
		s.Outcome = guard.OutcomeOf(x.Error)
		s.MayLinger = chain || !guard.OwnError(x.Error)
	case machine.TimedOut:
		s.Outcome = guard.TimedOut
	case machine.Aborted:
		s.Outcome = guard.Aborted
	default:
		s.Ended = false
	}
	return s
}
