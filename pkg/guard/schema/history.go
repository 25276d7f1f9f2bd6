package schema

import (
	"fmt"
	"time"
)

const (
	// HistoryLimit is how many events of history a run may come to: 5,000 below the 25,000 at
	// which Step Functions ends it with a failure that nothing can catch, as room for retries.
	HistoryLimit = 20_000
	// EventsPerTask are those of a task of a user's chain: entered, scheduled, started,
	// submitted, ended, exited.
	EventsPerTask = 6
	// SyncEvents are those that a task adds which waits for another service than Lambda.
	SyncEvents = 3

	eventsBesides = 18 // of a run without its beats, around a function
	eventsPerBeat = 7  // the wait, the task and what surrounds them
)

// MachineTimeout is a state machine's own timeout: slightly longer than its task's. A run with
// beats may be going from the moment the guard was acquired, while its maximum run time counts
// from the last instant at which it may start: that delay is added. renewal is 0 without beats.
func MachineTimeout(maxRun, lease, renewal time.Duration) time.Duration {
	timeout := maxRun + MachineSlack
	if renewal > 0 {
		timeout += lease - SkewMargin - renewal
	}
	return timeout
}

// CheckTimes refuses a job whose lease would run out between beats, or whose beats or chain
// could fill its execution's history. renewal is 0 without beats; own are the events that its
// target adds.
func CheckTimes(maxRun, lease, renewal time.Duration, own int64) error {
	if least := MinLease(renewal); renewal > 0 && lease < least {
		return fmt.Errorf("lease %v: must be at least %v with a renewal of %v, or %v to do without beats", lease, least, renewal, StartAllowance+maxRun)
	}
	events := historyEvents(maxRun, lease, renewal, own)
	if events <= HistoryLimit {
		return nil
	}
	if least := int64(eventsBesides + eventsPerBeat); own+least > HistoryLimit {
		return fmt.Errorf("target: could write %d events of history, its retries included, and %d are allowed: move parts of the chain into state machines of their own", own, HistoryLimit-least)
	}
	fits := renewal
	for historyEvents(maxRun, max(lease, MinLease(fits)), fits, own) > HistoryLimit {
		fits += time.Second
	}
	return fmt.Errorf("renewal %v: a run of up to %v could write %d events of history, and %d are allowed: a renewal of %v or more fits, with a lease of at least %v",
		renewal, maxRun, events, HistoryLimit, fits, max(lease, MinLease(fits)))
}

// historyEvents bounds the events of a run that lasts as long as its machine may.
func historyEvents(maxRun, lease, renewal time.Duration, own int64) int64 {
	if renewal == 0 {
		return eventsBesides + own
	}
	beats := (MachineTimeout(maxRun, lease, renewal) + renewal - 1) / renewal
	return eventsBesides + own + eventsPerBeat*int64(beats)
}

// CheckDuration refuses a duration of a job that Step Functions could not keep.
func CheckDuration(name string, got, byDefault time.Duration) error {
	if got < 0 || got%time.Second != 0 || got > MaxDuration {
		return fmt.Errorf("%s %v: must be whole seconds, up to %v, or 0 for %v", name, got, MaxDuration, byDefault)
	}
	return nil
}
