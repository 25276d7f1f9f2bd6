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

	Waiting *Waiting `json:"waiting,omitempty"` // the one tick that runs next
	// Stop asks the holder to end by itself until StopDeadline; it renews no lease from then on.
	Stop         *StopRequest `json:"stop,omitempty"`
	StopDeadline Millis       `json:"stopDeadline,omitempty"`

	// DrainUntil is when the work of the last run can no longer be going on.
	DrainUntil Millis `json:"drainUntil,omitempty"`
	// Live counts the runs that overlap policy Allow started and nobody settled yet.
	Live int64 `json:"live,omitempty"`
	// LiveSeconds is the longest that one of them may take from its planned instant on, of all
	// since Live was 0: their specs may be gone.
	LiveSeconds int64 `json:"liveSeconds,omitempty"`
	// LiveUntil is when none of them can be going on any more, whatever became of their rows.
	LiveUntil Millis `json:"liveUntil,omitempty"`

	// LastTick says that every planned tick up to it has been recorded.
	// A later one may be too.
	LastTick      Millis   `json:"lastTick,omitempty"`
	LastGap       *GapRef  `json:"lastGap,omitempty"`       // a later gap that adjoins it joins it
	LastSuccessAt Millis   `json:"lastSuccessAt,omitempty"` // of a run of any kind but a backfill's
	Last          *LastRun `json:"last,omitempty"`

	Paused    *Pause `json:"paused,omitempty"`
	ResumedAt Millis `json:"resumedAt,omitempty"` // when the last pause ended: since then a success is expected

	Backlog *Backlog `json:"backlog,omitempty"` // ticks to run one by one whenever nothing else does
	// BacklogEnd is the last backlog that ended before its last tick, and why.
	BacklogEnd *BacklogEnd `json:"backlogEnd,omitempty"`

	Spec      *schema.Spec `json:"spec,omitempty"` // as last seen with a tick
	SpecHash  string       `json:"specHash,omitempty"`
	SpecSince Millis       `json:"specSince,omitempty"` // since when ticks of this spec are expected

	TTL int64 `json:"ttl,omitempty"` // seconds; never set while the guard is held
}

// RunRef names a run and when it acquired the guard.
type RunRef struct {
	ID      string `json:"id"`
	Tick    string `json:"tick"`
	Planned Millis `json:"planned"`
	Attempt int    `json:"attempt"`
	At      Millis `json:"at"` // when it acquired the guard
	Terms   Terms  `json:"terms"`
}

// Terms are what stays true of a run however its job's spec is edited meanwhile.
type Terms struct {
	DrainSeconds int64 `json:"drainSeconds,omitempty"` // how long its work may go on behind its end
	Fenced       bool  `json:"fenced,omitempty"`       // it checks its fence at every write
}

func termsOf(spec schema.Spec) Terms {
	return Terms{DrainSeconds: int64(spec.Drain() / time.Second), Fenced: spec.Fenced}
}

// drain is how long the run's work may go on behind its end: what its own spec said, or the one
// that stands by now if that says longer. Its machine may have been deployed before the guard
// learnt of it.
func (t *Terms) drain(spec *schema.Spec) time.Duration {
	var own time.Duration
	if t != nil {
		own = time.Duration(t.DrainSeconds) * time.Second
	}
	if spec == nil {
		return own
	}
	return max(own, spec.Drain())
}

// MarkReason says why a holder is stopped.
type MarkReason string

// The reasons.
const (
	MarkTakeOver MarkReason = "take-over" // its lease ran out
	MarkReplace  MarkReason = "replace"   // it did not end within the grace time of a stop request
	MarkRelease  MarkReason = "release"   // a person said so
)

// Mark is a note on the guard that its holder is to be stopped and must not renew.
type Mark struct {
	Why MarkReason `json:"why"`
	By  string     `json:"by"` // the tick or person for whom
	At  Millis     `json:"at"`
}

// Waiting is the tick that runs when the guard comes free. It keeps its own start deadline.
type Waiting struct {
	Tick     string `json:"tick"`
	Planned  Millis `json:"planned"`
	Kind     Kind   `json:"kind"`
	Interval int64  `json:"interval,omitempty"` // seconds
	Since    Millis `json:"since"`
	Deadline Millis `json:"deadline"` // no start after
	Why      string `json:"why"`      // "queue" or "replace"
}

// StopRequest asks a holder to end for a newer tick.
type StopRequest struct {
	ByTick string `json:"byTick"`
	At     Millis `json:"at"`
}

// Pause says that a job's ticks are skipped, since when, why and until when.
type Pause struct {
	By    string `json:"by"`
	Why   string `json:"why"`
	At    Millis `json:"at"`
	Until Millis `json:"until,omitempty"` // 0: until somebody resumes it
}

// GapRef names a gap: its first and its last tick, and how many they are.
type GapRef struct {
	From  Millis `json:"from"`
	To    Millis `json:"to"`
	Count int    `json:"count"`
}

// Backlog is a cursor over planned ticks that are run one at a time, oldest first, behind
// everything else the job has to do.
type Backlog struct {
	Kind Kind   `json:"kind"` // CatchUp or Backfill
	Next Millis `json:"next"` // the next planned instant to look at
	To   Millis `json:"to"`   // the last one
	Left int    `json:"left"` // at most so many more; of a backfill all from Next to To, those to be passed over too
	// GiveWay is how many of the next are not run, so that newer ones are.
	GiveWay int    `json:"giveWay,omitempty"`
	Until   Millis `json:"until"` // what has not run by then never does
}

// BacklogEnd says what of a backlog was left when it was ended, who did and why. By is Itself
// where no person did.
type BacklogEnd struct {
	Kind Kind   `json:"kind"`
	Next Millis `json:"next"`
	To   Millis `json:"to"`
	Left int    `json:"left"`
	By   string `json:"by"`
	Why  string `json:"why"`
	At   Millis `json:"at"`
}

// LastRun is the run that released the guard last.
type LastRun struct {
	Run     string `json:"run"`
	Tick    string `json:"tick"`
	EndedAt Millis `json:"endedAt"`
	RunTime int64  `json:"runTime,omitempty"` // milliseconds
	// DrainUntil is when its own work can no longer be going on, as the guard's is of all runs'.
	DrainUntil Millis `json:"drainUntil,omitempty"`
}
