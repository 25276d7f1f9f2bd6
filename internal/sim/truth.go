package sim

import (
	"fmt"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// outcomeIsTrue: what a row says of its run's end is what the execution of that run and fence came
// to. A run that nobody started is given up only once, by the clock of whoever does, nobody may
// start it any more.
func outcomeIsTrue(_ *history, w *World, o *observation) string {
	if o.commit == nil {
		return ""
	}
	for i, row := range o.rowsAfter {
		e, ok := endedBy(o.rowsBefore[i], row)
		if !ok {
			continue
		}
		x := w.executions[e.run]
		switch {
		case x == nil || x.in.Fence != e.fence:
			if what := e.unstarted(o); what != "" {
				return what
			}
		case x.phase != closed && x.fenced && x.stopSent && taken(e.outcome): // its end need not be awaited
		case x.phase == working:
			return fmt.Sprintf("%s goes on and is recorded as %s", e.run, e.outcome)
		case !x.cameTo(e.outcome):
			return fmt.Sprintf("%s ended as %v and is recorded as %s", e.run, x.came(), e.outcome)
		}
	}
	return ""
}

// recordedEnd is an end of a run as a commit records it. One that is followed by another attempt
// was lost.
type recordedEnd struct {
	run     string
	fence   int64
	startBy Millis
	outcome guard.Outcome
}

func endedBy(before, row *guard.Row) (e recordedEnd, ok bool) {
	switch {
	case row == nil || row.Fence == 0:
		return e, false
	case before != nil && before.Outcome == guard.Running && row.Outcome == guard.Running && before.Fence != row.Fence:
		return recordedEnd{before.Run, before.Fence, before.StartBy, guard.LeaseLost}, true
	case !row.Outcome.Final() || before != nil && before.Outcome.Final():
		return e, false
	case before != nil:
		return recordedEnd{row.Run, row.Fence, before.StartBy, row.Outcome}, true
	}
	return recordedEnd{row.Run, row.Fence, 0, row.Outcome}, true // somebody had deleted the row
}

// unstarted judges the end of a run that has no execution. A start that AWS refuses, or whose name
// is another's, fails at once.
func (e recordedEnd) unstarted(o *observation) string {
	if b := o.before; e.startBy == 0 && b != nil && b.Run != nil && b.Fence == e.fence {
		e.startBy = b.StartBy
	}
	switch {
	case e.outcome == guard.Failed:
	case e.outcome != guard.Abandoned && !taken(e.outcome):
		return fmt.Sprintf("%s was never started and is recorded as %s", e.run, e.outcome)
	case o.at+o.by.skew <= e.startBy+margin:
		return fmt.Sprintf("%s is given up although it may be started until %s", e.run, stamp(e.startBy))
	}
	return ""
}

// taken tells the outcomes of runs that others ended.
func taken(o guard.Outcome) bool {
	return o == guard.Aborted || o == guard.Replaced || o == guard.LeaseLost
}

// came is what an execution that has ended came to, in the words of a row: what its settle step
// reports and how it was closed, which differ where it was closed behind that step's back.
func (x *execution) came() (outcomes []guard.Outcome) {
	switch {
	case x.end != nil:
		outcomes = append(outcomes, guard.OutcomeOf(x.end.Error))
	case x.status == schema.RunSucceeded:
		outcomes = append(outcomes, guard.Succeeded)
	}
	if x.phase == closed {
		outcomes = append(outcomes, engine.SightOf(x.Execution, false, 0).Outcome)
	}
	return outcomes
}

// cameTo tells whether an outcome is one that the execution came to. Why others ended it, its guard's
// mark says.
func (x *execution) cameTo(o guard.Outcome) bool {
	for _, one := range x.came() {
		if one == o || taken(one) && taken(o) {
			return true
		}
	}
	return false
}
