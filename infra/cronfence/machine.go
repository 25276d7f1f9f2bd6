package cronfence

import (
	"encoding/json"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Names of the states. Operators see them in the console and in execution histories.
const (
	stateRun          = "Run"
	stateGuarded      = "Cronfence Guarded"
	stateWait         = "Cronfence Wait"
	stateHeartbeat    = "Cronfence Heartbeat"
	stateStopped      = "Cronfence Stopped"
	stateSilent       = "Cronfence Silent"
	stateFinished     = "Cronfence Finished"
	stateSettle       = "Cronfence Settle"
	stateSettleFailed = "Cronfence Settle Failed"
	stateUnsettled    = "Cronfence Unsettled"
	stateFailed       = "Cronfence Failed"
)

const (
	// throttled is the one error which proves that a function was never started.
	throttled = "Lambda.TooManyRequestsException"
	anyError  = "States.ALL"
	fullRange = "FULL" // jitter: anything between nothing and the delay
)

// machine is what a job's state machine is made from; ARNs may be CDK tokens.
type machine struct {
	spec      schema.Spec
	table     string
	payload   json.RawMessage
	invoke    string // the resource of Step Functions' Lambda integration
	heartbeat string // function ARNs
	settler   string
	// task is the job's own state, without what the shape adds to it.
	task state
}

// definition returns the job's state machine: the job beside its heartbeat, or the job
// alone where its maximum run time fits the lease.
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
	if m.spec.Beats {
		d.StartAt = stateGuarded
		d.States[stateGuarded] = m.guarded()
		return d
	}
	d.StartAt = stateRun
	run := m.run()
	run.Catch = []catcher{{ErrorEquals: []string{anyError}, ResultPath: "$.end", Next: stateSettleFailed}}
	run.Next = stateSettle
	d.States[stateRun] = run
	return d
}

// run is the job's task. It is retried only where it never started: any other retry
// could run the job beside itself, since a task that timed out may still be working.
func (m machine) run() state {
	run := m.task
	run.TimeoutSeconds = m.spec.MaxRunSeconds
	run.ResultPath = discard
	run.Retry = []retrier{throttleRetry}
	return run
}

// throttleWait is how long throttleRetry waits at most, within schema.MachineSlack.
const throttleWait = 14 * time.Second

var throttleRetry = retrier{ErrorEquals: []string{throttled}, IntervalSeconds: 2, MaxAttempts: 3, BackoffRate: 2}

// guarded runs the job beside its heartbeat. Whichever branch ends first fails and so
// cancels the other. Settling stands behind it: in the job's branch it would race with
// the heartbeat, which then finds the guard released and ends a success as LeaseLost.
func (m machine) guarded() state {
	run := m.run()
	run.Next = stateFinished
	return state{
		Type: "Parallel",
		Branches: []definition{
			{StartAt: stateRun, States: map[string]state{
				stateRun:      run,
				stateFinished: {Type: "Fail", Comment: "Ends the heartbeat too; caught below", Error: schema.ErrorFinished, Cause: "the job is done"},
			}},
			m.beats(),
		},
		ResultPath: discard,
		Catch: []catcher{
			{ErrorEquals: []string{schema.ErrorFinished}, ResultPath: "$.end", Next: stateSettle},
			{ErrorEquals: []string{anyError}, ResultPath: "$.end", Next: stateSettleFailed},
		},
		Next: stateSettle,
	}
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
	s.Catch = []catcher{{ErrorEquals: []string{anyError}, ResultPath: "$.unsettled", Next: stateUnsettled}}
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
	left := (spec.MachineTimeout() - spec.MaxRun() - throttleWait) / 2
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
	return state{Type: "Task", Resource: m.invoke, Parameters: invocation(function, payload), ResultPath: discard}
}

func invocation(function string, payload any) map[string]any {
	return map[string]any{"FunctionName": function, "Payload": payload}
}
