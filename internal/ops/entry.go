package ops

import (
	"fmt"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Entry is a line of a job's history: a tick, or neighbouring ticks that never came.
type Entry struct {
	Scheduler string        `json:"scheduler"`
	Job       string        `json:"job"`
	Tick      string        `json:"tick"` // of a gap its last
	At        time.Time     `json:"at"`   // the planned instant; of a manual run the instant it was asked for
	Kind      guard.Kind    `json:"kind"`
	Outcome   guard.Outcome `json:"outcome"`
	Final     bool          `json:"final"`
	Why       string        `json:"why,omitempty"`
	By        string        `json:"by,omitempty"` // of a manual run: who asked for it, and why

	Run             string    `json:"run,omitempty"`
	Attempt         int       `json:"attempt,omitempty"`
	Fence           int64     `json:"fence,omitempty"`
	ClaimedAt       time.Time `json:"claimedAt,omitzero"`
	StartedAt       time.Time `json:"startedAt,omitzero"`
	EndedAt         time.Time `json:"endedAt,omitzero"`
	DelaySeconds    float64   `json:"delaySeconds"`
	RunTimeSeconds  float64   `json:"runTimeSeconds,omitempty"` // of a run that started and ended
	IntervalSeconds int64     `json:"intervalSeconds,omitempty"`
	Ratio           float64   `json:"ratio,omitempty"`

	Holder *Blocker `json:"holder,omitempty"` // of a tick that found the guard taken
	Error  string   `json:"error,omitempty"`
	Cause  string   `json:"cause,omitempty"`

	From  time.Time `json:"from,omitzero"` // of a gap its first tick
	Count int       `json:"count"`         // of ticks: 1, or the gap's

	Schedule string `json:"schedule,omitempty"` // of the job now, in its history alone
	Timezone string `json:"timezone,omitempty"`
}

// Blocker is what a tick found in its way.
type Blocker struct {
	Run            string    `json:"run,omitempty"`
	Tick           string    `json:"tick,omitempty"`
	Since          time.Time `json:"since"` // when it took the guard or, draining, ended
	HeldForSeconds float64   `json:"heldForSeconds"`
	Until          time.Time `json:"until"` // its lease, or the end of its drain, as it was then
	Draining       bool      `json:"draining"`
}

func entryOf(scheduler string, r guard.Row) Entry {
	return Entry{
		Scheduler: scheduler, Job: r.Job, Tick: r.Tick, At: r.At.Time(), Kind: r.Kind,
		Outcome: r.Outcome, Final: r.Outcome.Final(), Why: r.Why, By: r.By,
		Run: r.Run, Attempt: r.Attempt, Fence: r.Fence,
		ClaimedAt: r.ClaimedAt.Time(), StartedAt: r.StartedAt.Time(), EndedAt: r.EndedAt.Time(),
		DelaySeconds: float64(r.Delay) / 1000, RunTimeSeconds: r.RunTimeDuration().Seconds(),
		IntervalSeconds: r.Interval, Ratio: r.Ratio,
		Holder: blockerOf(r), Error: r.Error, Cause: r.Cause, Count: 1,
	}
}

func blockerOf(r guard.Row) *Blocker {
	h := r.Holder
	if h == nil {
		return nil
	}
	return &Blocker{
		Run: h.Run, Tick: h.Tick, Until: h.Until.Time(), Draining: h.Draining,
		HeldForSeconds: float64(h.HeldFor) / 1000, Since: (r.ClaimedAt - guard.Millis(h.HeldFor)).Time(),
	}
}

func gapEntry(scheduler string, g guard.Gap) Entry {
	return Entry{
		Scheduler: scheduler, Job: g.Job, Tick: schema.TickID(g.To.Time()), At: g.To.Time(), Kind: guard.Scheduled,
		Outcome: guard.Missed, Final: true, Why: g.String(), EndedAt: g.At.Time(), From: g.From.Time(), Count: g.Count,
	}
}

// Reason is why the tick came to its outcome, in one line; Why says more.
func (e Entry) Reason() string {
	text := e.Why
	if h := e.Holder; h != nil {
		what := "held by"
		if h.Draining {
			what = "draining after"
		}
		held := fmt.Sprintf("%s %s for %s", what, h.Run, Span(time.Duration(h.HeldForSeconds*float64(time.Second))))
		if e.Outcome == guard.Coalesced {
			held = text + "; " + held
		}
		text = held
	}
	if e.Error != "" {
		text = strings.TrimPrefix(text+"; "+e.Error, "; ")
	}
	return text
}
