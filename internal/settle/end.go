package settle

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Reported reads the run's own word on its end.
func Reported(ev schema.SettleEvent) (guard.End, error) {
	end := guard.End{
		Job: ev.Job, Tick: ev.Tick, Run: ev.Run, Fence: ev.Fence, Attempt: ev.Attempt, Interval: ev.Interval,
		StartedAt: instant(ev.StartedAt), EndedAt: instant(ev.EndedAt),
	}
	switch ev.Status {
	case schema.RunSucceeded:
		end.Outcome = guard.Succeeded
	case schema.RunFailed:
		if ev.End == nil {
			return guard.End{}, fmt.Errorf("settle %s: a failed run must say how it ended", ev.Run)
		}
		end.Outcome = guard.OutcomeOf(ev.End.Error)
		end.Error, end.Cause = ev.End.Error, ev.End.Cause
		end.MayLinger = ev.Chain || !guard.OwnError(ev.End.Error)
	default:
		return guard.End{}, fmt.Errorf("settle %s: status %q: must be %q or %q", ev.Run, ev.Status, schema.RunSucceeded, schema.RunFailed)
	}
	return end, nil
}

// Observed reads a status event of an execution that ended, and looks at the execution where
// the event does not say all.
func Observed(ctx context.Context, m machine.Runner, scheduler string, ev schema.StatusEvent, clock func() time.Time) (guard.End, error) {
	name, run, err := schema.ParseExecutionARN(ev.Detail.ExecutionARN)
	if err != nil {
		return guard.End{}, fmt.Errorf("read status event: %w", err)
	}
	job, ours := strings.CutPrefix(name, schema.MachinePrefix(scheduler))
	if !ours {
		return guard.End{}, fmt.Errorf("status event of machine %q: must be one of scheduler %s", name, scheduler)
	}
	x := machine.Execution{
		Status: machine.Status(ev.Detail.Status), Input: ev.Detail.Input,
		StartedAt: schema.Millis(ev.Detail.StartDate).Time(), StoppedAt: schema.Millis(ev.Detail.StopDate).Time(),
	}
	if x.Status == machine.Failed || x.Input == "" { // the event names no error
		if x, err = m.Describe(ctx, ev.Detail.ExecutionARN); err != nil {
			return guard.End{}, fmt.Errorf("describe %s: %w", run, err)
		}
		if x.Status == machine.Running { // the look is older than the event: a later one tells
			return guard.End{}, fmt.Errorf("describe %s: still %s, but the event says %s", run, x.Status, ev.Detail.Status)
		}
	}
	var in schema.RunInput
	if err := json.Unmarshal([]byte(x.Input), &in); err != nil || in.Job != job || in.Run != run {
		return guard.End{}, fmt.Errorf("status event of %s: its input is not a run of job %s", run, job)
	}
	// Whether the job is a chain is not known here: in doubt its work may go on.
	s := engine.SightOf(x, true, schema.MillisOf(clock()))
	if !s.Ended { // a status that this code does not know: of a redrive, perhaps
		return guard.End{}, fmt.Errorf("status event of %s: status %q is no end", run, x.Status)
	}
	return guard.End{
		Job: in.Job, Tick: in.Tick, Run: in.Run, Fence: in.Fence, Attempt: in.Attempt, Interval: in.Interval,
		Outcome: s.Outcome, Error: s.Error, Cause: s.Cause, MayLinger: s.MayLinger,
		StartedAt: s.StartedAt, EndedAt: s.EndedAt,
	}, nil
}

func instant(s string) guard.Millis {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0
	}
	return schema.MillisOf(t)
}
