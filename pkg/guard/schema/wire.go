package schema

import "encoding/json"

// Error names that a guarded run ends with. The heartbeat function returns the first
// three as the error types of its Lambda response, and so may the job's own work.
const (
	ErrorStop       = "Cronfence.Stop"       // asked to stop for a newer tick
	ErrorLeaseLost  = "Cronfence.LeaseLost"  // the guard is no longer this run's
	ErrorMaxRunTime = "Cronfence.MaxRunTime" // the run had its maximum run time
	ErrorReleased   = "Cronfence.Released"   // a person released its guard by force
	ErrorFinished   = "Cronfence.Finished"   // the job's branch is done; ends the heartbeat's
	// ErrorReserved stands for ErrorFinished when it is the job's own task that returned it.
	ErrorReserved = "Cronfence.ReservedError"
)

// RunVariable is the name under which a container finds the run object, as JSON: an
// environment variable, in Glue a job argument.
const RunVariable = "CRONFENCE_RUN"

// Context attributes that EventBridge Scheduler fills in, only where they stand
// literally in the target's input: never let an encoder escape the angle brackets.
const (
	AttrScheduledTime = "<aws.scheduler.scheduled-time>"
	AttrExecutionID   = "<aws.scheduler.execution-id>"
	AttrAttempt       = "<aws.scheduler.attempt-number>"
	AttrScheduleARN   = "<aws.scheduler.schedule-arn>"
)

// TickEvent is the input of a job's schedule: one planned start, delivered at least once.
type TickEvent struct {
	Job  string `json:"job"`
	Tick string `json:"tick"` // AttrScheduledTime, filled in: the planned instant in UTC
	Spec Spec   `json:"spec"`
	// Delivery says which delivery this is. It is logged and decides nothing.
	Delivery Delivery `json:"delivery"`
}

// Delivery identifies one delivery of a tick: every attempt has an id of its own.
type Delivery struct {
	ExecutionID string `json:"executionId"`
	Attempt     string `json:"attempt"`
	ScheduleARN string `json:"scheduleArn"`
}

// RunInput is the input of an execution. It is made from the ledger row alone, so that
// every repeated start is the same to the byte.
type RunInput struct {
	Job      string `json:"job"`
	Tick     string `json:"tick"`
	Run      string `json:"run"`
	Fence    int64  `json:"fence"`
	Attempt  int    `json:"attempt"`
	Deadline string `json:"deadline"` // RFC 3339 in UTC: when the run's maximum run time is over
	Interval int64  `json:"interval"` // seconds from this tick to the next; 0 when there is none
}

// RunObject is what the job's task receives: the run's input, where its records are,
// and the payload, which is a constant of the state machine.
type RunObject struct {
	Scheduler string `json:"scheduler"`
	Table     string `json:"table"`
	RunInput
	Payload any `json:"payload"`
}

// TokenMessage is the message that a worker receives which answers by task token: the run
// object and the token.
type TokenMessage struct {
	RunObject
	TaskToken string `json:"taskToken"`
}

// BeatEvent is what the state machine sends the heartbeat function at every renewal.
type BeatEvent struct {
	Job          string `json:"job"`
	Tick         string `json:"tick"`
	Run          string `json:"run"`
	Fence        int64  `json:"fence"`
	Interval     int64  `json:"interval"`     // seconds
	StartedAt    string `json:"startedAt"`    // $$.Execution.StartTime
	LeaseSeconds int64  `json:"leaseSeconds"` // how far a beat renews the lease
}

// BeatReply is the heartbeat's answer to a run that may go on.
type BeatReply struct {
	LeaseUntil string `json:"leaseUntil"` // RFC 3339
}

// SettleEvent is what the state machine sends the settler as its last step.
type SettleEvent struct {
	Job       string    `json:"job"`
	Tick      string    `json:"tick"`
	Run       string    `json:"run"`
	Fence     int64     `json:"fence"`
	Attempt   int       `json:"attempt"`
	Interval  int64     `json:"interval"`        // seconds
	StartedAt string    `json:"startedAt"`       // $$.Execution.StartTime
	EndedAt   string    `json:"endedAt"`         // $$.State.EnteredTime of the settling state
	Machine   string    `json:"machine"`         // $$.StateMachine.Id
	Chain     bool      `json:"chain,omitempty"` // the spec's Chain
	Status    RunStatus `json:"status"`
	// End is the error a failed run ended with: $.end of the Catch. Absent on success.
	End *EndError `json:"end,omitempty"`
}

// RunStatus tells the settler how the run's own states ended.
type RunStatus string

// How a run's own states ended.
const (
	RunSucceeded RunStatus = "succeeded"
	RunFailed    RunStatus = "failed"
)

// EndError is the error output of a Catch.
type EndError struct {
	Error string `json:"Error"`
	Cause string `json:"Cause"`
}

// StatusEvent is the part of EventBridge's "Step Functions Execution Status Change"
// that the settler reads. Such events are best effort: late, in any order, or lost.
type StatusEvent struct {
	DetailType string       `json:"detail-type"`
	Detail     StatusDetail `json:"detail"`
}

// StatusDetailType is the detail-type of a StatusEvent.
const StatusDetailType = "Step Functions Execution Status Change"

// StatusDetail describes an execution. Dates are in milliseconds since the epoch.
type StatusDetail struct {
	ExecutionARN string `json:"executionArn"`
	MachineARN   string `json:"stateMachineArn"`
	Name         string `json:"name"`
	Status       string `json:"status"` // RUNNING, SUCCEEDED, FAILED, TIMED_OUT, ABORTED
	StartDate    int64  `json:"startDate"`
	StopDate     int64  `json:"stopDate"`
	Input        string `json:"input"`  // the RunInput as text; absent when it was too long
	Output       string `json:"output"` // of one that succeeded; absent when it was too long
}

// UnsettledField is where a state machine leaves the error when its run succeeded and that
// could not be put on record.
const UnsettledField = "unsettled"

// SettledInside tells whether the execution succeeded and its own last step has put that on
// record: the event then has nothing to add.
func (d StatusDetail) SettledInside() bool {
	var output *struct { // no map: the rest may be long, and is the job's own
		Unsettled json.RawMessage `json:"unsettled"` // UnsettledField
	}
	if d.Status != "SUCCEEDED" || json.Unmarshal([]byte(d.Output), &output) != nil || output == nil {
		return false
	}
	return output.Unsettled == nil
}
