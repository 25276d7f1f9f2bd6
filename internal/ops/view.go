package ops

import (
	"strings"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
)

// State says what stands in the way of a job's next run.
type State string

// The states. A pause is told apart from them: a job may be held and paused.
const (
	Free     State = "free"
	Held     State = "held"     // a run holds the guard
	Draining State = "draining" // the last run's work may still be going on
	Live     State = "live"     // runs of policy allow are going on
	Blocked  State = "blocked"  // the guard was made anew and is not trusted yet
)

// Job is a job as its guard shows it. Instants are in UTC.
type Job struct {
	Scheduler     string    `json:"scheduler"`
	Job           string    `json:"job"`
	State         State     `json:"state"`
	Schedule      string    `json:"schedule"`
	Timezone      string    `json:"timezone"`
	Overlap       string    `json:"overlap"`
	Holder        *Holder   `json:"holder,omitempty"`
	Waiting       *Waiting  `json:"waiting,omitempty"`
	Paused        *Pause    `json:"paused,omitempty"`
	DrainUntil    time.Time `json:"drainUntil,omitzero"`
	Live          int64     `json:"live,omitempty"` // runs of policy allow
	LastTick      time.Time `json:"lastTick,omitzero"`
	LastSuccessAt time.Time `json:"lastSuccessAt,omitzero"`
	NextTick      time.Time `json:"nextTick,omitzero"`
}

// Holder is the run that holds a guard.
type Holder struct {
	Run            string    `json:"run"`
	Tick           string    `json:"tick"`
	Attempt        int       `json:"attempt"`
	Fence          int64     `json:"fence"`
	Since          time.Time `json:"since"`
	HeldForSeconds float64   `json:"heldForSeconds"`
	LeaseUntil     time.Time `json:"leaseUntil"`
	LeaseOver      bool      `json:"leaseOver"` // by anybody's clock: it is about to be taken over
	MaxRunUntil    time.Time `json:"maxRunUntil"`
	Mark           *Mark     `json:"mark,omitempty"`
	StopDeadline   time.Time `json:"stopDeadline,omitzero"` // it was asked to end by itself until then
}

// Mark says that a holder is being stopped.
type Mark struct {
	Why string    `json:"why"`
	By  string    `json:"by"`
	At  time.Time `json:"at"`
}

// Waiting is the tick that runs when the guard comes free.
type Waiting struct {
	Tick     string    `json:"tick"`
	Since    time.Time `json:"since"`
	Deadline time.Time `json:"deadline"` // no start after
	Why      string    `json:"why"`
}

// Pause is a pause of a job.
type Pause struct {
	By    string    `json:"by"`
	Why   string    `json:"why"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // zero: until somebody resumes it
}

// Status is everything about a job that one look shows.
type Status struct {
	Job
	Fence                int64       `json:"fence"`
	Version              int64       `json:"version"`
	ReadyAt              time.Time   `json:"readyAt,omitzero"` // of a blocked guard
	Backlog              *Backlog    `json:"backlog,omitempty"`
	BacklogEnd           *BacklogEnd `json:"backlogEnd,omitempty"`
	LeaseSeconds         int64       `json:"leaseSeconds"`
	MaxRunSeconds        int64       `json:"maxRunSeconds"`
	StartDeadlineSeconds int64       `json:"startDeadlineSeconds"`
	Fenced               bool        `json:"fenced"`
	Recent               []Entry     `json:"recent"` // the newest ticks, newest first
}

// Backlog is what is left of a backfill or of catching up.
type Backlog struct {
	Kind guard.Kind `json:"kind"`
	Next time.Time  `json:"next"`
	To   time.Time  `json:"to"`
	Left int        `json:"left"`
}

// BacklogEnd is what was left of the last backlog that ended before its last tick. By is cronfence
// where no person ended it.
type BacklogEnd struct {
	Backlog
	By  string    `json:"by"`
	Why string    `json:"why"`
	At  time.Time `json:"at"`
}

// viewOf reads a guard at an instant.
func viewOf(scheduler string, g guard.Guard, now guard.Millis) Job {
	j := Job{
		Scheduler: scheduler, Job: g.Job, State: stateOf(g, now), Live: g.Live,
		LastTick: g.LastTick.Time(), LastSuccessAt: g.LastSuccessAt.Time(), Holder: holderOf(g, now),
	}
	if g.Spec != nil {
		j.Schedule, j.Timezone, j.Overlap = g.Spec.Schedule, g.Spec.Timezone, g.Spec.Overlap.String()
		if j.Timezone == "" {
			j.Timezone = "UTC"
		}
		// A schedule that this version cannot read hides the next tick and nothing else.
		if p, err := engine.PlannedBy(g); err == nil {
			j.NextTick = p.Next(now).Time()
		}
	}
	if draining(g, now) {
		j.DrainUntil = g.DrainUntil.Time()
	}
	if w := g.Waiting; w != nil {
		j.Waiting = &Waiting{Tick: w.Tick, Since: w.Since.Time(), Deadline: w.Deadline.Time(), Why: w.Why}
	}
	if p := g.Paused; paused(g, now) {
		j.Paused = &Pause{By: p.By, Why: p.Why, Since: p.At.Time(), Until: p.Until.Time()}
	}
	return j
}

func holderOf(g guard.Guard, now guard.Millis) *Holder {
	if g.Run == nil {
		return nil
	}
	h := &Holder{
		Run: g.Run.ID, Tick: g.Run.Tick, Attempt: g.Run.Attempt, Fence: g.Fence, Since: g.Run.At.Time(),
		HeldForSeconds: max(0, now.Sub(g.Run.At)).Seconds(), LeaseUntil: g.LeaseUntil.Time(),
		LeaseOver: g.LeaseUntil < now.Add(-guard.Margin), MaxRunUntil: g.MaxRunUntil.Time(), StopDeadline: g.StopDeadline.Time(),
	}
	if m := g.Mark; m != nil {
		h.Mark = &Mark{Why: string(m.Why), By: m.By, At: m.At.Time()}
	}
	return h
}

func stateOf(g guard.Guard, now guard.Millis) State {
	switch {
	case !g.Ready:
		return Blocked
	case g.Run != nil:
		return Held
	case g.Live > 0:
		return Live
	case draining(g, now):
		return Draining
	}
	return Free
}

// StateText is the state in few words, with what is true besides.
func (j Job) StateText() string {
	words := []string{string(j.State)}
	if j.State == Free && j.Paused != nil {
		words = nil
	}
	if j.Holder != nil && j.Holder.LeaseOver {
		words = append(words, "lease over")
	}
	if j.Holder != nil && j.Holder.Mark != nil {
		words = append(words, "stopping")
	}
	if j.Waiting != nil {
		words = append(words, "one waits")
	}
	if j.Paused != nil {
		words = append(words, "paused")
	}
	return strings.Join(words, ", ")
}

func draining(g guard.Guard, now guard.Millis) bool {
	return g.DrainUntil != 0 && g.DrainUntil >= now.Add(-guard.Margin)
}

func paused(g guard.Guard, now guard.Millis) bool {
	return g.Paused != nil && (g.Paused.Until == 0 || now < g.Paused.Until)
}

func statusOf(j Job, g guard.Guard) Status {
	s := Status{Job: j, Fence: g.Fence, Version: g.Version, Recent: []Entry{}}
	if !g.Ready {
		s.ReadyAt = g.ReadyAt.Time()
	}
	if b := g.Backlog; b != nil {
		s.Backlog = &Backlog{Kind: b.Kind, Next: b.Next.Time(), To: b.To.Time(), Left: b.Left}
	}
	if b := g.BacklogEnd; b != nil {
		left := Backlog{Kind: b.Kind, Next: b.Next.Time(), To: b.To.Time(), Left: b.Left}
		s.BacklogEnd = &BacklogEnd{left, b.By, b.Why, b.At.Time()}
	}
	if g.Spec != nil {
		s.LeaseSeconds, s.MaxRunSeconds = g.Spec.LeaseSeconds, g.Spec.MaxRunSeconds
		s.StartDeadlineSeconds, s.Fenced = g.Spec.StartDeadlineSeconds, g.Spec.Fenced
	}
	return s
}
