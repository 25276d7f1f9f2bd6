package guard

import (
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Millis is an instant in milliseconds since the epoch; zero is "not set".
type Millis = schema.Millis

// Guard is the one row of a job: who holds it, until when, and with which fence. Records
// are values: nothing that a field points to is ever changed in place.
type Guard struct {
	Job string `json:"-"`

	// Version rises with every write. As it stands when a lease is acquired it is the
	// fence; being a clock besides, it does not fall back when the row is deleted.
	Version int64 `json:"version"`
	// Fence is the fencing token of the last run that acquired the guard.
	Fence int64 `json:"fence,omitempty"`

	// Ready is false on a guard just made, until it is known that no run of a lost guard lives.
	Ready bool `json:"ready,omitempty"`
	// ReadyAt is when a guard that found rows of its job may become ready.
	ReadyAt Millis `json:"readyAt,omitempty"`

	Run         *RunRef `json:"run,omitempty"` // the holder; nil when the guard is free
	LeaseUntil  Millis  `json:"leaseUntil,omitempty"`
	StartBy     Millis  `json:"startBy,omitempty"`     // no start is sent after
	MaxRunUntil Millis  `json:"maxRunUntil,omitempty"` // no renewal after
	Mark        *Mark   `json:"mark,omitempty"`        // the holder is being stopped and must not renew

	// DrainUntil is when the work of the last run can no longer be going on.
	DrainUntil Millis `json:"drainUntil,omitempty"`
	// Live counts the runs that overlap policy Allow started and nobody settled yet.
	Live int64 `json:"live,omitempty"`

	// LastTick says that every planned tick up to it has been recorded.
	LastTick      Millis   `json:"lastTick,omitempty"`
	LastSuccessAt Millis   `json:"lastSuccessAt,omitempty"`
	Last          *LastRun `json:"last,omitempty"`

	Spec      *schema.Spec `json:"spec,omitempty"` // as last seen with a tick
	SpecHash  string       `json:"specHash,omitempty"`
	SpecSince Millis       `json:"specSince,omitempty"` // since when ticks of this spec are expected

	TTL int64 `json:"ttl,omitempty"` // seconds; never set while the guard is held
}

// RunRef names a run and when it acquired the guard.
type RunRef struct {
	ID      string `json:"id"`
	Tick    string `json:"tick"`
	Attempt int    `json:"attempt"`
	At      Millis `json:"at"`
}

// MarkReason says why a holder is stopped.
type MarkReason string

// MarkTakeOver marks a holder whose lease ran out.
const MarkTakeOver MarkReason = "take-over"

// Mark is a note on the guard that its holder is to be stopped and must not renew.
type Mark struct {
	Why MarkReason `json:"why"`
	By  string     `json:"by"` // the tick or person for whom
	At  Millis     `json:"at"`
}

// LastRun is the run that released the guard last.
type LastRun struct {
	Run     string `json:"run"`
	Tick    string `json:"tick"`
	EndedAt Millis `json:"endedAt"`
}

// Kind says where a tick comes from. Ids of different kinds never meet.
type Kind string

// Scheduled is a tick of the job's own schedule.
const Scheduled Kind = "scheduled"

// Row is the ledger's record of one tick: the claim first, its outcome in the end.
type Row struct {
	Job string `json:"-"`

	Tick    string  `json:"tick"`
	At      Millis  `json:"at"` // the planned instant
	Kind    Kind    `json:"kind"`
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why,omitempty"`

	Fence   int64  `json:"fence,omitempty"`
	Run     string `json:"run,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Shared  bool   `json:"shared,omitempty"` // a run of policy Allow: it holds no guard
	Token   string `json:"token"`            // of the decision that wrote the row last

	ClaimedAt   Millis `json:"claimedAt"`
	StartBy     Millis `json:"startBy,omitempty"`
	MaxRunUntil Millis `json:"maxRunUntil,omitempty"`
	StartedAt   Millis `json:"startedAt,omitempty"`
	EndedAt     Millis `json:"endedAt,omitempty"`

	RunTime  int64   `json:"runTime,omitempty"`  // milliseconds
	Interval int64   `json:"interval,omitempty"` // seconds to the next tick; 0 when there is none
	Ratio    float64 `json:"ratio,omitempty"`    // run time / interval
	Delay    int64   `json:"delay,omitempty"`    // milliseconds from the planned instant to the claim

	Holder *Holder `json:"holder,omitempty"` // of a skip: what stood in the way
	Error  string  `json:"error,omitempty"`
	Cause  string  `json:"cause,omitempty"` // at most MaxCause bytes

	TTL int64 `json:"ttl,omitempty"` // seconds; set with a final outcome
}

// Holder is what a skipped tick found in its way.
type Holder struct {
	Run      string `json:"run,omitempty"`
	Tick     string `json:"tick,omitempty"`
	HeldFor  int64  `json:"heldFor"` // milliseconds since it acquired the guard
	Until    Millis `json:"until"`   // its lease, or the end of its drain
	Draining bool   `json:"draining,omitempty"`
}

// MaxCause is how much of an error's cause a row keeps, in bytes.
const MaxCause = 1024

// RunTimeDuration is the run time of a row that has one.
func (r Row) RunTimeDuration() time.Duration { return time.Duration(r.RunTime) * time.Millisecond }

// Outcome says what became of a tick.
type Outcome string

// The outcomes. Running is the only one that is not final.
const (
	Running   Outcome = "Running"
	Succeeded Outcome = "Succeeded"
	Failed    Outcome = "Failed"
	TimedOut  Outcome = "TimedOut"
	Aborted   Outcome = "Aborted"
	Replaced  Outcome = "Replaced"
	LeaseLost Outcome = "LeaseLost"
	Skipped   Outcome = "Skipped"
	Expired   Outcome = "Expired"
	Abandoned Outcome = "Abandoned"
)

// Final tells whether an outcome never changes any more.
func (o Outcome) Final() bool { return o != Running && o != "" }
