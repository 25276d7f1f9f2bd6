package guard

import "time"

// Kind says where a tick comes from. Ids of different kinds never meet.
type Kind string

// The kinds. Ids of all but the scheduled ones begin with the kind and a hyphen.
const (
	Scheduled Kind = "scheduled" // of the job's own schedule
	Manual    Kind = "manual"    // asked for by a person
	Backfill  Kind = "backfill"  // of the past, asked for by a person
	CatchUp   Kind = "catchup"   // missed, and run later by the job's catch-up policy
)

// Row is the ledger's record of one tick: the claim first, its outcome in the end.
type Row struct {
	Job string `json:"-"`

	Tick    string  `json:"tick"`
	At      Millis  `json:"at"` // the planned instant
	Kind    Kind    `json:"kind"`
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why,omitempty"`
	By      string  `json:"by,omitempty"` // of a manual run: who asked for it, and why

	Fence   int64  `json:"fence,omitempty"`
	Run     string `json:"run,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Shared  bool   `json:"shared,omitempty"` // a run of policy Allow: it holds no guard
	Token   string `json:"token"`            // of the decision that wrote the row last

	ClaimedAt   Millis `json:"claimedAt"`
	NotBefore   Millis `json:"notBefore,omitempty"` // of a retry: the work of the attempt before may go on until then
	RetryUntil  Millis `json:"retryUntil,omitempty"`
	StartBy     Millis `json:"startBy,omitempty"`
	Terms       *Terms `json:"terms,omitempty"` // of a run that has a fence
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

// maxWhy is how much of a reason that nobody wrote the guard keeps, in bytes.
const maxWhy = 160

// RunTimeDuration is the run time of a row that has one.
func (r Row) RunTimeDuration() time.Duration { return time.Duration(r.RunTime) * time.Millisecond }

// Outcome says what became of a tick.
type Outcome string

// The outcomes. Running and Queued are not final.
const (
	Running   Outcome = "Running"
	Queued    Outcome = "Queued"
	Succeeded Outcome = "Succeeded"
	Failed    Outcome = "Failed"
	TimedOut  Outcome = "TimedOut"
	Aborted   Outcome = "Aborted"
	Replaced  Outcome = "Replaced"
	LeaseLost Outcome = "LeaseLost"
	Skipped   Outcome = "Skipped"
	Coalesced Outcome = "Coalesced"
	Expired   Outcome = "Expired"
	Missed    Outcome = "Missed"
	Abandoned Outcome = "Abandoned"
)

// Final tells whether an outcome never changes any more.
func (o Outcome) Final() bool { return o != Running && o != Queued && o != "" }

// Gap records planned ticks that never came, all of them Missed. Neighbours are one row,
// which grows for as long as an outage lasts.
type Gap struct {
	Job   string `json:"-"`
	From  Millis `json:"from"` // the first planned instant
	To    Millis `json:"to"`   // the last one
	Count int    `json:"count"`
	At    Millis `json:"at"` // when they were found missing
	TTL   int64  `json:"ttl"`
}
