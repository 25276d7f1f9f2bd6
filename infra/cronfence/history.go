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
	eventsBesides = 18 // of a run without its beats
	eventsPerBeat = 7  // the wait, the task and what surrounds them
)

// historyEvents bounds the events of a run that lasts as long as its machine may.
func historyEvents(maxRun, lease, renewal time.Duration) int64 {
	beats := (machineTimeout(maxRun, lease, renewal) + renewal - 1) / renewal
	return eventsBesides + eventsPerBeat*int64(beats)
}

// checkHistory refuses a job whose beats could fill its execution's history.
func checkHistory(maxRun, lease, renewal time.Duration) error {
	events := historyEvents(maxRun, lease, renewal)
	if events <= historyLimit {
		return nil
	}
	fits := renewal
	for historyEvents(maxRun, max(lease, schema.MinLease(fits)), fits) > historyLimit {
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
