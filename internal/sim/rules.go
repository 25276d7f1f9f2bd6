package sim

import (
	"fmt"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// The rules below stand in the protocol's own text, pkg/guard/doc.go, beside I1 to I10. Each says
// how much of a difference between clocks it has to allow for: a process knows its own clock only,
// and may stand still between what it decided and what it wrote, for as long as it lives.

// processLife is how much later than its decision a process may still write or send, and by a clock that
// is off by as much as one may be.
const processLife = Millis(schema.DispatcherTimeout/1e6) + margin/2

// startsInTime: a tick is given the guard within its start deadline, and its start is sent within
// the life of whoever claimed it at the last moment. Retries and backlogs have windows of their own.
func startsInTime(h *history, w *World, o *observation) string {
	switch {
	case o.commit != nil:
		for _, row := range o.begun() {
			if due := h.startDeadline(w, row.Tick); row.Attempt == 1 && due != 0 && o.at > due+processLife {
				return fmt.Sprintf("%s begins after its start deadline, %s", row.Run, stamp(due))
			}
		}
	case o.started != nil && o.started.in.Attempt == 1:
		if due := h.startDeadline(w, o.started.in.Tick); due != 0 && o.at > due+processLife+1 {
			return fmt.Sprintf("%s starts after its start deadline, %s", o.started.in.Run, stamp(due))
		}
	}
	return ""
}

// startDeadline is until when a tick may start; 0 is any time. That of a manual run is of the spec
// that stood when it was asked for: the longest is taken.
func (h *history) startDeadline(w *World, tick string) Millis {
	switch kind, at := guard.KindOf(tick); kind {
	case guard.Scheduled:
		return h.deadlines[at]
	case guard.Manual:
		return at + w.plan.ever.longDeadline
	default:
		return 0
	}
}

// begun are the runs that a commit lets begin, on the guard or beside it.
func (o *observation) begun() (rows []*guard.Row) {
	for i, row := range o.rowsAfter {
		if row == nil || row.Outcome != guard.Running {
			continue
		}
		if before := o.rowsBefore[i]; before == nil || before.Outcome != guard.Running || before.Fence != row.Fence {
			rows = append(rows, row)
		}
	}
	return rows
}

// pausedStartsNothing: while a job is paused by every clock, no run of any kind begins.
func pausedStartsNothing(_ *history, _ *World, o *observation) string {
	if o.commit == nil || o.before == nil || o.before.Paused == nil {
		return ""
	}
	if until := o.before.Paused.Until; until != 0 && o.at+margin/2 >= until {
		return ""
	}
	for _, row := range o.begun() {
		return fmt.Sprintf("%s begins while the job is paused", row.Run)
	}
	return ""
}

// attemptsEnd: a run has as many attempts as the spec that stands allows, all within the window
// that was counted from the end of the first.
func attemptsEnd(_ *history, _ *World, o *observation) string {
	if o.commit == nil || o.before == nil {
		return ""
	}
	for i, row := range o.rowsAfter {
		if row == nil || row.Outcome != guard.Running || row.Attempt < 2 {
			continue
		}
		first := o.rowsBefore[i]
		switch {
		case row.Attempt > o.before.Spec.Retries+1:
			return fmt.Sprintf("%s is attempt %d; the job has %d retries", row.Run, row.Attempt, o.before.Spec.Retries)
		case row.NotBefore > row.RetryUntil:
			return fmt.Sprintf("%s may start at %s; its attempts were to end by %s", row.Run, stamp(row.NotBefore), stamp(row.RetryUntil))
		case first != nil && first.RetryUntil != 0 && first.RetryUntil != row.RetryUntil:
			return fmt.Sprintf("the attempts of %s were to end by %s, now by %s", row.Tick, stamp(first.RetryUntil), stamp(row.RetryUntil))
		}
	}
	return ""
}

// beatsEnd: no beat is let through that, by the clock it was decided on, comes after the run had
// its maximum run time.
func beatsEnd(_ *history, _ *World, o *observation) string {
	if o.commit == nil || o.is != Renew || o.before.MaxRunUntil > o.by.read+o.by.skew {
		return ""
	}
	return fmt.Sprintf("%s renews its lease; its time was over at %s", o.before.Run.ID, stamp(o.before.MaxRunUntil))
}

// liveIsCounted: each run of policy Allow is counted when it begins, and counted off with its end,
// by the very commit; as long as one is, no run is given the guard, but for first attempts of a
// backlog under that policy. Somebody who deletes a row takes it from both; see guard.NoneLive.
func liveIsCounted(_ *history, _ *World, o *observation) string {
	if o.commit == nil || o.before == nil || o.before.Version == o.after.Version {
		return "" // the guard was not written: it was made anew since that run began
	}
	if acquires(o) && o.before.Live > 0 && (o.after.Spec.Overlap != policy.Allow || o.after.Run.Attempt > 1 || planned(o.after.Run.Tick)) {
		return fmt.Sprintf("%s is given the guard while %d runs beside it are counted", o.after.Run.ID, o.before.Live)
	}
	want, counted := o.before.Live, false
	for i, row := range o.rowsAfter {
		before := o.rowsBefore[i]
		switch {
		case row == nil || !row.Shared:
		case before == nil && row.Outcome == guard.Running:
			want, counted = want+1, true
		case before != nil && before.Outcome == guard.Running && row.Outcome.Final():
			want, counted = max(0, want-1), true
		}
	}
	if counted && o.after.Live != want {
		return fmt.Sprintf("%d runs are alive beside each other, and %d are counted", want, o.after.Live)
	}
	return ""
}
