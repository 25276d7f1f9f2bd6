package cronfence

import (
	"fmt"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

const (
	// historyLimit is 5,000 events below the 25,000 at which Step Functions ends a run
	// with a failure that nothing can catch: room for retries.
	historyLimit  = 20_000
	eventsBesides = 18 // of a run without its beats, around a function
	eventsPerBeat = 7  // the wait, the task and what surrounds them
)

// historyEvents bounds the events of a run that lasts as long as its machine may; own are
// those that its target adds.
func historyEvents(maxRun, lease, renewal time.Duration, own int64) int64 {
	if renewal == 0 {
		return eventsBesides + own
	}
	beats := (machineTimeout(maxRun, lease, renewal) + renewal - 1) / renewal
	return eventsBesides + own + eventsPerBeat*int64(beats)
}

// checkHistory refuses a job whose beats, or whose chain, could fill its execution's history.
func checkHistory(maxRun, lease, renewal time.Duration, own int64) error {
	events := historyEvents(maxRun, lease, renewal, own)
	if events <= historyLimit {
		return nil
	}
	if least := int64(eventsBesides + eventsPerBeat); own+least > historyLimit {
		return fmt.Errorf("target: could write %d events of history, its retries included, and %d are allowed: move parts of the chain into state machines of their own", own, historyLimit-least)
	}
	fits := renewal
	for historyEvents(maxRun, max(lease, schema.MinLease(fits)), fits, own) > historyLimit {
		fits += time.Second
	}
	return fmt.Errorf("renewal %v: a run of up to %v could write %d events of history, and %d are allowed: a renewal of %v or more fits, with a lease of at least %v",
		renewal, maxRun, events, historyLimit, fits, max(lease, schema.MinLease(fits)))
}

// machineTimeout is a state machine's own timeout: slightly longer than its task's. A
// run with beats may be going from the moment the guard was acquired, while its maximum
// run time counts from the last instant at which it may start: that delay is added.
func machineTimeout(maxRun, lease, renewal time.Duration) time.Duration {
	timeout := maxRun + schema.MachineSlack
	if renewal > 0 {
		timeout += lease - schema.SkewMargin - renewal
	}
	return timeout
}
