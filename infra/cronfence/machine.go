package cronfence

import (
	"encoding/json"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Names of the states. Operators see them in the console and in execution histories. Those
// of a chain are its author's: all but stateRun begin with statePrefix, so that theirs need
// not.
const (
	statePrefix       = "Cronfence "
	stateRun          = "Run"
	stateChain        = statePrefix + "Chain"
	stateGuarded      = statePrefix + "Guarded"
	stateWait         = statePrefix + "Wait"
	stateHeartbeat    = statePrefix + "Heartbeat"
	stateStopped      = statePrefix + "Stopped"
	stateSilent       = statePrefix + "Silent"
	stateOutOfTime    = statePrefix + "Out Of Time"
	stateReserved     = statePrefix + "Reserved Error"
	stateFinished     = statePrefix + "Finished"
	stateSettle       = statePrefix + "Settle"
	stateSettleFailed = statePrefix + "Settle Failed"
	stateUnsettled    = statePrefix + "Unsettled"
	stateFailed       = statePrefix + "Failed"
)

const (
	anyError  = "States.ALL"
	fullRange = "FULL" // jitter: anything between nothing and the delay
)

// machine is what a job's state machine is made from; ARNs may be CDK tokens.
type machine struct {
	spec      schema.Spec
	table     string
	payload   json.RawMessage
	partition string
	heartbeat string // function ARNs
	settler   string
	work      work
}

// work is the job's own part of its state machine.
type work struct {
	// task is the state that does the work, without what the shape adds to it: a Task, or
	// a Parallel around a chain.
	task state
	// cancelled says that the work stops when its branch is cancelled and not when a
	// timeout of its own runs out: a second branch bounds it.
	cancelled bool
	// object says that the task hands the run object on as text, and so needs it in its input.
	object bool
	// neverStarted are the errors which prove that the work was never started.
	neverStarted []string
}

// definition returns the job's state machine: the job beside its heartbeat, beside a clock,
// or alone where its maximum run time fits the lease and its own timeout bounds it.
func (m machine) definition() definition {
	d := definition{
		Comment:        "Job " + m.spec.Job + " of Cronfence scheduler " + m.spec.Scheduler,
		TimeoutSeconds: m.spec.MachineTimeoutSeconds,
		States: map[string]state{
			stateSettle:       m.settle(schema.RunSucceeded),
			stateUnsettled:    {Type: "Succeed", Comment: "The job is done; its record follows from the execution's status event"},
			stateSettleFailed: m.settle(schema.RunFailed),
			stateFailed:       {Type: "Fail", ErrorPath: "$.end.Error", CausePath: "$.end.Cause"},
		},
	}
	switch {
	case m.spec.Beats:
		d.StartAt, d.States[stateGuarded] = stateGuarded, m.guarded(m.beats())
		return d
	case m.work.cancelled:
		d.StartAt, d.States[stateGuarded] = stateGuarded, m.guarded(m.clock())
		return d
	}
	d.StartAt = stateRun
	run := m.run()
	run.Catch = append(run.Catch, catcher{ErrorEquals: []string{anyError}, ResultPath: "$.end", Next: stateSettleFailed})
	run.Next = stateSettle
	d.States[stateRun] = run
	d.States[stateReserved] = state{
		Type: "Pass", Comment: reservedComment,
		Parameters: map[string]any{"Error": schema.ErrorReserved, "Cause.$": "$.end.Cause"},
		ResultPath: json.RawMessage(`"$.end"`), Next: stateSettleFailed,
	}
	return d
}

// reserved are the errors that are the machine's own word: out of the job's task it would end
// a run that failed as Succeeded. Cronfence.Stop, LeaseLost and MaxRunTime are the job's words
// too: with them it says that it ended because it was asked to, as package job does.
var reserved = []string{schema.ErrorFinished}

const reservedComment = "The job itself failed with an error name that is this machine's own"

// run is the job's task. It is retried only where it never started: any other retry
// could run the job beside itself, since a task that timed out may still be working.
func (m machine) run() state {
	run := m.work.task
	if !m.work.cancelled {
		run.TimeoutSeconds = m.spec.MaxRunSeconds
	}
	run.ResultPath = discard
	if len(m.work.neverStarted) > 0 {
		retry := startRetry
		retry.ErrorEquals = m.work.neverStarted
		run.Retry = []retrier{retry}
	}
	run.Catch = []catcher{{ErrorEquals: reserved, ResultPath: "$.end", Next: stateReserved}}
	return run
}

// startWait is how long startRetry waits at most, within schema.MachineSlack.
const startWait = 14 * time.Second

var startRetry = retrier{IntervalSeconds: 2, MaxAttempts: 3, BackoffRate: 2}

// guarded runs the job beside a branch that bounds it. Whichever branch ends first fails and
// so cancels the other. Settling stands behind it: in the job's branch it would race with
// the heartbeat, which then finds the guard released and ends a success as LeaseLost.
func (m machine) guarded(beside definition) state {
	guarded := state{
		Type:       "Parallel",
		Branches:   []any{m.jobBranch(), beside},
		ResultPath: discard,
		Catch: []catcher{
			{ErrorEquals: []string{schema.ErrorFinished}, ResultPath: "$.end", Next: stateSettle},
			{ErrorEquals: []string{anyError}, ResultPath: "$.end", Next: stateSettleFailed},
		},
		Next: stateSettle,
	}
	if m.work.object {
		guarded.Parameters = m.withObject()
	}
	return guarded
}

func (m machine) jobBranch() definition {
	name, run := stateRun, m.run()
	if run.Type == "Parallel" {
		name = stateChain
	}
	run.Next = stateFinished
	branch := definition{StartAt: name, States: map[string]state{
		name:          run,
		stateFinished: {Type: "Fail", Comment: "Ends the other branch too; caught below", Error: schema.ErrorFinished, Cause: "the job is done"},
		stateReserved: {Type: "Fail", Comment: reservedComment, Error: schema.ErrorReserved, CausePath: "$.end.Cause"},
	}}
	return branch
}

// clock bounds work that no timeout of its own would stop.
func (m machine) clock() definition {
	return definition{StartAt: stateWait, States: map[string]state{
		stateWait:      {Type: "Wait", Seconds: m.spec.MaxRunSeconds, Next: stateOutOfTime},
		stateOutOfTime: {Type: "Fail", Error: schema.ErrorMaxRunTime, Cause: "the run had its maximum run time"},
	}}
}

// beats renews the lease until the branch is cancelled or the heartbeat refuses. What a
// broken heartbeat dies of must not be taken for the job's own error, after which its
// work is known to have ended: it ends the run as LeaseLost.
func (m machine) beats() definition {
	refusals := []string{schema.ErrorStop, schema.ErrorLeaseLost, schema.ErrorMaxRunTime}
	beat := m.call(m.heartbeat, m.beatEvent())
	beat.TimeoutSeconds = wholeSeconds(schema.HeartbeatTimeout)
	beat.Retry = []retrier{{ErrorEquals: refusals}, beatRetry(m.spec)}
	beat.Catch = []catcher{
		{ErrorEquals: refusals, ResultPath: "$.beat", Next: stateStopped},
		{ErrorEquals: []string{anyError}, ResultPath: "$.beat", Next: stateSilent},
	}
	beat.Next = stateWait
	return definition{StartAt: stateWait, States: map[string]state{
		stateWait:      {Type: "Wait", Seconds: m.spec.RenewalSeconds, Next: stateHeartbeat},
		stateHeartbeat: beat,
		stateStopped:   {Type: "Fail", ErrorPath: "$.beat.Error", CausePath: "$.beat.Cause"},
		stateSilent:    {Type: "Fail", Error: schema.ErrorLeaseLost, Cause: "the heartbeat failed until the lease was as good as out; see the history"},
	}}
}

const beatMaxDelay = 10 * time.Second

// beatRetry tries a failing beat again for as long as the lease of the beat before is
// good: the wait between them and the skew margin are gone from it.
func beatRetry(spec schema.Spec) retrier {
	left := spec.Lease() - schema.SkewMargin - spec.Renewal() - schema.HeartbeatTimeout
	var attempts int64
	for delay := time.Second; ; attempts++ {
		if left -= delay + schema.HeartbeatTimeout; left < 0 {
			break
		}
		delay = min(2*delay, beatMaxDelay)
	}
	return retrier{
		ErrorEquals: []string{anyError}, IntervalSeconds: 1, MaxAttempts: attempts, BackoffRate: 2,
		MaxDelaySeconds: wholeSeconds(beatMaxDelay), JitterStrategy: fullRange,
	}
}

// settle records how the run ended. What its retries do not bridge is settled by the
// execution's status event, and truly so: the Catch gives the execution the status of the
// work.
func (m machine) settle(status schema.RunStatus) state {
	s := m.call(m.settler, m.settleEvent(status))
	s.TimeoutSeconds = wholeSeconds(schema.DispatcherTimeout)
	s.Retry = []retrier{settleRetry(m.spec)}
	s.Catch = []catcher{{ErrorEquals: []string{anyError}, ResultPath: "$." + schema.UnsettledField, Next: stateUnsettled}}
	if status == schema.RunFailed {
		s.Catch[0].Next = stateFailed
		s.Next = stateFailed
		return s
	}
	s.End = true
	return s
}

const settleMaxDelay = 20 * time.Second

// settleRetry waits for half of what the machine's timeout leaves behind the longest run,
// so that the other half is for the attempts. Were the machine's timeout to cut settling
// short, the status event would report a success as timed out.
func settleRetry(spec schema.Spec) retrier {
	left := (spec.MachineTimeout() - spec.MaxRun() - startWait) / 2
	var attempts int64
	for delay := time.Second; left >= delay; attempts++ {
		left -= delay
		delay = min(2*delay, settleMaxDelay)
	}
	return retrier{
		ErrorEquals: []string{anyError}, IntervalSeconds: 1, MaxAttempts: attempts, BackoffRate: 2,
		MaxDelaySeconds: wholeSeconds(settleMaxDelay), JitterStrategy: fullRange,
	}
}

func (m machine) call(function string, payload map[string]any) state {
	return state{Type: "Task", Resource: m.integration("lambda:invoke"), Parameters: invocation(function, payload), ResultPath: discard}
}

func invocation(function string, payload any) map[string]any {
	return map[string]any{"FunctionName": function, "Payload": payload}
}

// integration is the resource of a task that calls an AWS service.
func (m machine) integration(call string) string { return "arn:" + m.partition + ":states:::" + call }
