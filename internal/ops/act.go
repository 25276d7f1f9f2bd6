package ops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// Pause implements Operator.
func (d *Direct) Pause(ctx context.Context, r PauseRequest) (Status, error) {
	if err := r.Check(); err != nil {
		return Status{}, err
	}
	if _, err := d.guardFor(ctx, Act{Job: r.Job, Pause: &r}); err != nil {
		return Status{}, err
	}
	g, err := d.Engine.Pause(ctx, r.Job, pauseOf(r, d.now()))
	if err != nil {
		return Status{}, d.explain(ctx, err)
	}
	return d.status(ctx, g)
}

func pauseOf(r PauseRequest, now guard.Millis) guard.Pause {
	p := guard.Pause{By: r.By, Why: r.Reason, At: now}
	if r.For > 0 {
		p.Until = now.Add(r.For)
	}
	return p
}

// Resume implements Operator.
func (d *Direct) Resume(ctx context.Context, job string) (Status, error) {
	if _, err := d.guardFor(ctx, Act{Job: job, Resume: true}); err != nil {
		return Status{}, err
	}
	g, err := d.Engine.Resume(ctx, job)
	if err != nil {
		return Status{}, d.explain(ctx, err)
	}
	return d.status(ctx, g)
}

// sending bounds what starts and stops runs: nobody ends this process at its timeout as Lambda
// would, and a start that is sent too late would run what others have given up.
func (d *Direct) sending(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d.Engine.Timeout)
}

// Release implements Operator.
func (d *Direct) Release(ctx context.Context, r ReleaseRequest) (ReleaseResult, error) {
	if err := r.Check(); err != nil {
		return ReleaseResult{}, err
	}
	if _, err := d.guardFor(ctx, Act{Job: r.Job, Release: &r}); err != nil {
		return ReleaseResult{}, err
	}
	sending, cancel := d.sending(ctx)
	g, _, err := d.Engine.Release(sending, r.Job, r.Run, r.By, r.Reason)
	cancel()
	if err != nil {
		return ReleaseResult{}, d.explain(ctx, notHeld(g, d.now(), err))
	}
	s, err := d.status(ctx, g)
	if err != nil {
		return ReleaseResult{}, err
	}
	res := ReleaseResult{Status: s}
	switch {
	case g.Run != nil && g.Mark != nil && g.Mark.Why == guard.MarkRelease:
		res.Released, res.Tick = g.Run.ID, g.Run.Tick
		res.Message = fmt.Sprintf("run %s is marked and stopped; the guard of %s comes free once it has ended", res.Released, r.Job)
	case g.Last != nil:
		res.Released, res.Tick, res.Ended = g.Last.Run, g.Last.Tick, true
		res.Message = fmt.Sprintf("run %s has ended; the guard of %s is %s", res.Released, r.Job, s.State)
		if s.Holder != nil {
			res.Message += " by run " + s.Holder.Run
		} else if s.State == Draining {
			res.Message += fmt.Sprintf(": its work may go on until %s", g.DrainUntil)
		}
	}
	return res, nil
}

// notHeld says of a guard that nobody holds what is to be said besides.
func notHeld(g guard.Guard, now guard.Millis, err error) error {
	var refused *guard.Refusal
	if errors.As(err, &refused) && g.Run == nil && draining(g, now) {
		return refusal("the guard of job %s is not held: work of its last run may go on until %s, and nothing can cut that short", g.Job, g.DrainUntil)
	}
	return err
}

// Run implements Operator.
func (d *Direct) Run(ctx context.Context, r RunRequest) (RunResult, error) {
	if err := r.Check(); err != nil {
		return RunResult{}, err
	}
	g, err := d.guardFor(ctx, Act{Job: r.Job, Run: &r})
	if err != nil {
		return RunResult{}, err
	}
	why, err := whyRun(r, g)
	if err != nil {
		return RunResult{}, err
	}
	res, tick, err := d.deliverManual(ctx, r, why)
	for tries := 1; err == nil && res.Verdict == guard.Duplicate && tries < 3; tries++ {
		time.Sleep(time.Millisecond) // the id of a manual run is a millisecond, and somebody else's run has this one
		res, tick, err = d.deliverManual(ctx, r, why)
	}
	if err != nil {
		return RunResult{}, d.notDelivered(ctx, r.Job, tick, err)
	}
	if res.Verdict == guard.Duplicate {
		return RunResult{}, fmt.Errorf("run %s: another run was asked for in the same millisecond: try again", r.Job)
	}
	row := res.Row
	if res.Verdict == guard.Start && !res.Sent { // it may have ended already, refused by Step Functions
		if now, err := d.Engine.Store.Row(ctx, r.Job, tick); err == nil && now != nil {
			row = *now
		}
	}
	return d.runResult(ctx, row, res.Sent, r.Overlap)
}

// deliverManual delivers a run that is asked for now.
func (d *Direct) deliverManual(ctx context.Context, r RunRequest, why string) (res engine.Result, tick string, err error) {
	sending, cancel := d.sending(ctx)
	defer cancel()
	res, err = d.Engine.Run(sending, r.Job, why, func(delivery *guard.Delivery) {
		delivery.Overlap, tick = r.Overlap, delivery.Tick
	})
	return res, tick, err
}

// whyRun is what the record says of a manual run, and refuses what no override can do.
func whyRun(r RunRequest, g guard.Guard) (string, error) {
	why := "asked for by " + r.By
	if r.Reason != "" {
		why += ": " + r.Reason
	}
	if r.Overlap == nil || g.Spec == nil {
		return why, nil
	}
	if *r.Overlap == policy.Allow && (g.Spec.Beats || g.Spec.Fenced) {
		return "", refusal("overlap allow: runs of job %s renew a lease or check a fence, which a run beside the guard does not have; wait for the holder, see `cronfence status %s`, or use --overlap queue-one", r.Job, r.Job)
	}
	return fmt.Sprintf("%s; overlap %s in the place of %s", why, *r.Overlap, g.Spec.Overlap), nil
}

// notDelivered says of a delivery that failed whether the run is on record all the same.
func (d *Direct) notDelivered(ctx context.Context, job, tick string, err error) error {
	var unknown *engine.ErrUnknownJob
	if errors.As(err, &unknown) || tick == "" {
		return d.explain(ctx, err)
	}
	row, readErr := d.Engine.Store.Row(ctx, job, tick)
	if readErr != nil || row == nil || row.Outcome != guard.Running {
		return err
	}
	return fmt.Errorf("%w; run %s is on record: the sentinel starts it by %s, or records it as Abandoned", err, row.Run, row.StartBy)
}

func (d *Direct) runResult(ctx context.Context, row guard.Row, sent bool, overlap *policy.Overlap) (RunResult, error) {
	e := entryOf(d.Name, row)
	res := RunResult{
		Scheduler: d.Name, Job: row.Job, Tick: row.Tick, Outcome: row.Outcome, Run: row.Run, Fence: row.Fence, Holder: e.Holder,
		Refused: row.Outcome == guard.Skipped || row.Outcome == guard.Coalesced || row.Outcome == guard.Expired,
	}
	if !res.Refused && row.Outcome != guard.Queued {
		res.Message = startedText(row, sent)
		return res, nil
	}
	g, err := d.guardOf(ctx, row.Job)
	if err != nil {
		return res, err
	}
	now := d.now()
	switch {
	case row.Outcome == guard.Queued:
		res.Message = fmt.Sprintf("%s waits for the guard: %s", row.Tick, blockerText(row))
		if w := g.Waiting; w != nil && w.Tick == row.Tick {
			res.Message += fmt.Sprintf("; it starts when the guard comes free, until %s at the latest", w.Deadline)
		}
	case paused(g, now) && row.Holder == nil && row.Outcome == guard.Skipped:
		res.Message = fmt.Sprintf("job %s is %s; `cronfence resume %s` ends the pause", row.Job, pauseText(*g.Paused), row.Job)
	case row.Why == guard.WhyBlocked:
		res.Message = fmt.Sprintf("the guard of %s was made anew and is not trusted before %s; try again then", row.Job, g.ReadyAt.Add(guard.Margin))
	default:
		res.Message = fmt.Sprintf("job %s was not run: %s; %s", row.Job, blockerText(row), advice(row, g, overlap))
	}
	return res, nil
}

func startedText(row guard.Row, sent bool) string {
	switch {
	case row.Outcome.Final():
		text := fmt.Sprintf("run %s ended as %s", row.Run, row.Outcome)
		if row.Error != "" {
			text += ": " + row.Error
		}
		if row.Cause != "" {
			text += ": " + row.Cause
		}
		return text
	case !sent:
		return fmt.Sprintf("run %s is on record and not started yet: the sentinel starts it by %s", row.Run, row.StartBy)
	}
	return fmt.Sprintf("run %s started", row.Run)
}

// blockerText names what stood in a run's way, and since when.
func blockerText(row guard.Row) string {
	h := row.Holder
	if h == nil {
		return row.Why
	}
	held := time.Duration(h.HeldFor) * time.Millisecond
	since := row.ClaimedAt.Add(-held)
	if h.Draining {
		return fmt.Sprintf("work of run %s, which ended at %s, may go on until %s", h.Run, since, h.Until)
	}
	text := fmt.Sprintf("run %s holds the guard since %s, for %s, with a lease until %s", h.Run, since, Span(held), h.Until)
	if row.Outcome == guard.Coalesced {
		text = row.Why + ", and " + text
	}
	return text
}

// advice says what to do about a run that was not let in.
func advice(row guard.Row, g guard.Guard, overlap *policy.Overlap) string {
	switch h := row.Holder; {
	case h != nil && h.Draining:
		return "run it again then"
	case overlap == nil && g.Spec != nil && g.Spec.Overlap == policy.Skip:
		return "run it again after its end, or wait for that with --overlap queue-one"
	default:
		return fmt.Sprintf("run it again after its end, see `cronfence status %s`", row.Job)
	}
}

// PausedText says what a pause came to, in a line.
func PausedText(s Status) string {
	text := fmt.Sprintf("%s is paused", s.Job.Job)
	if p := s.Paused; p != nil && !p.Until.IsZero() {
		text += " until " + schema.TickID(p.Until)
	}
	if h := s.Holder; h != nil {
		text += fmt.Sprintf("; run %s goes on", h.Run)
	}
	if w := s.Waiting; w != nil {
		text += fmt.Sprintf("; tick %s, which waits, will be skipped", w.Tick)
	}
	return text
}

// ResumedText says what the end of a pause came to, in a line.
func ResumedText(s Status) string {
	text := fmt.Sprintf("%s is resumed", s.Job.Job)
	if !s.NextTick.IsZero() {
		text += "; its next tick is " + schema.TickID(s.NextTick)
	}
	if b := s.Backlog; b != nil {
		text += fmt.Sprintf("; the %s under way goes on, with at most %d ticks", b.Kind, b.Left)
	}
	if at := s.Job.LastSuccessAt; !at.IsZero() { // whether it was overdue when it was paused, nothing knows any more
		text += fmt.Sprintf("; its last success was %s, and the overdue alarm counts from now on", at.UTC().Format(time.RFC3339))
	}
	return text
}
