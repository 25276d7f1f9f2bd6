package explore

import (
	"encoding/json"
	"fmt"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// phase is where an execution stands.
type phase uint8

const (
	working  phase = iota // the job's task, and with beats the heartbeat beside it
	settling              // its settle step
	closed
)

// execution is an execution of the job's state machine. It never changes: what happens to it
// makes another.
type execution struct {
	executionState
	id uint64
}

// executionState is comparable.
type executionState struct {
	run       string
	input     string
	in        schema.RunInput
	phase     phase
	status    machine.Status
	error     string
	startedAt Millis
	endedAt   Millis // when the job's task ended
	stoppedAt Millis // when the execution ended
	lingers   bool   // its work may go on for the drain time after endedAt
	beats     int    // that were answered
	beatHeld  bool   // a fault holds the next one back
}

// longAgo is before anything that may still go on.
const longAgo = Millis(1)

func (x *explorer) internExecution(s executionState) *execution {
	if r, ok := x.execs[s]; ok {
		return r
	}
	x.lastID++
	r := &execution{s, mix(x.lastID)}
	x.execs[s] = r
	return r
}

// inputOf reads an execution's input.
func (x *explorer) inputOf(input string) schema.RunInput {
	in, ok := x.inputs[input]
	if !ok {
		if err := json.Unmarshal([]byte(input), &in); err != nil {
			panic(fmt.Sprintf("input %q: %v", input, err)) // the engine made it
		}
		x.inputs[input] = in
	}
	return in
}

// finish leaves the job's task, well or with an error, for the settle step. Whether its work
// may go on is judged as the design says: all but success and the task's own error leave doubt.
func (r executionState) finish(errorName string, now Millis) executionState {
	r.phase, r.error, r.endedAt, r.lingers, r.beatHeld = settling, errorName, now, errorName != "", false
	return r
}

// close ends the execution behind its settle step.
func (r executionState) close(now Millis) executionState {
	r.phase, r.stoppedAt, r.status = closed, now, machine.Succeeded
	if r.error != "" {
		r.status = machine.Failed
	}
	return r
}

// abort is StopExecution.
func (r executionState) abort(errorName string, now Millis) executionState {
	if r.phase == working {
		r = r.finish(errorName, now)
		r.lingers = true
	}
	r.phase, r.status, r.error, r.stoppedAt = closed, machine.Aborted, errorName, now
	return r
}

// settled forgets the instants of an execution that ended so long ago that no drain, by
// any clock, counts from them: earlier or later by a second is then the same to every decision.
func (r executionState) settled(now, drain Millis) executionState {
	if r.phase == closed && r.stoppedAt+drain+4*margin < now {
		r.startedAt, r.endedAt, r.stoppedAt, r.lingers, r.beats = longAgo, longAgo, longAgo, false, 0
	}
	return r
}

// sight is what DescribeExecution shows.
func (r executionState) sight() machine.Execution {
	s := machine.Execution{Status: r.status, Input: r.input, StartedAt: r.startedAt.Time()}
	if r.phase == closed {
		s.StoppedAt, s.Error = r.stoppedAt.Time(), r.error
	}
	return s
}

// beatDue is when the run's next beat is due; 0 is never.
func (r executionState) beatDue(spec *schema.Spec) Millis {
	if !spec.Beats || r.phase != working || r.beats == maxBeats {
		return 0
	}
	return r.startedAt + Millis(spec.RenewalSeconds)*second*Millis(r.beats+1)
}

// timesOut is when the run's task ends whatever it does.
func (r executionState) timesOut(spec *schema.Spec) Millis {
	return r.startedAt + Millis(spec.MaxRunSeconds)*second
}
