// Package schema names what Cronfence's parts say to each other: the keys of the
// table, the names of machines and runs, and the JSON that crosses between the
// EventBridge schedule, the Lambda functions and the state machine. It holds no
// logic of the protocol and imports no SDK, so constructs and handlers share it.
package schema

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Keys and attributes of the table that the constructs and IAM policies name.
const (
	PK         = "pk"     // partition key: the job's name
	SK         = "sk"     // sort key: GuardSK, TickSK(id) or GapSK(from)
	TTL        = "ttl"    // seconds since the epoch; collects rubbish only, no rule reads it
	GuardSK    = "guard"  // sort key of a job's one guard row
	GuardIndex = "guards" // sparse, keys only: partition key GuardIndexPK, sort key PK
	// GuardIndexPK stands on guard rows alone; its value is always GuardSK.
	GuardIndexPK = "kind_index"

	tickPrefix = "tick#"
	gapPrefix  = "gap#"
)

// TickSK returns the sort key of the ledger row of a tick.
func TickSK(id string) string { return tickPrefix + id }

// GapSK returns the sort key of the row for ticks that never came, by the first of them.
func GapSK(from string) string { return gapPrefix + from }

const (
	digits     = "0123456789"
	letters    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + digits
	maxJobName = 48
	maxName    = 31 // of a scheduler
)

// named tells whether a name begins with a letter or digit, goes on with those and others, and
// is not too long. A regular expression would be compiled at every cold start.
func named(name string, others string, longest int) bool {
	return name != "" && len(name) <= longest && only(name[:1], letters) && only(name, letters+others)
}

// only tells whether a text is of these characters alone.
func only(text, allowed string) bool {
	for i := range len(text) {
		if strings.IndexByte(allowed, text[i]) < 0 {
			return false
		}
	}
	return true
}

// CheckJob refuses a name that no job can have.
func CheckJob(name string) error {
	if !named(name, "_-", maxJobName) {
		return fmt.Errorf("job name %q: must match ^[A-Za-z0-9][A-Za-z0-9_-]{0,47}$", name)
	}
	return nil
}

// CheckScheduler refuses a name that no scheduler can have. It has no underscore,
// so that no scheduler's machine prefix is the prefix of another's.
func CheckScheduler(name string) error {
	if !named(name, "-", maxName) {
		return fmt.Errorf("scheduler name %q: must match ^[A-Za-z0-9][A-Za-z0-9-]{0,30}$", name)
	}
	return nil
}

// MachineName is the name of a job's state machine: policies and the status rule
// match a scheduler's machines by the prefix MachinePrefix.
func MachineName(scheduler, job string) string { return MachinePrefix(scheduler) + job }

// MachinePrefix is what the names of all of a scheduler's state machines begin with.
func MachinePrefix(scheduler string) string { return scheduler + "_" }

// ExecutionARN derives the ARN of a run from its state machine's.
func ExecutionARN(machineARN, run string) string {
	return strings.Replace(machineARN, ":stateMachine:", ":execution:", 1) + ":" + run
}

// ParseExecutionARN splits an execution's ARN into its machine's name and the run.
func ParseExecutionARN(arn string) (machine, run string, err error) {
	p := strings.Split(arn, ":")
	if len(p) != 8 || p[2] != "states" || p[5] != "execution" || p[6] == "" || p[7] == "" {
		return "", "", fmt.Errorf("execution ARN %q: must be arn:PARTITION:states:REGION:ACCOUNT:execution:MACHINE:NAME", arn)
	}
	return p[6], p[7], nil
}

// TickLayout is the form of a planned tick's id: the planned instant in UTC, to the second.
const TickLayout = "2006-01-02T15:04:05Z"

// TickID returns the id of the tick planned at t.
func TickID(t time.Time) string { return t.UTC().Format(TickLayout) }

// ParseTick reads a planned tick's id; a fraction of a second is dropped. The zero time is
// never a tick, and neither is a context attribute that nobody filled in.
func ParseTick(id string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, id)
	switch {
	case err != nil && strings.HasPrefix(id, "<aws."):
		return time.Time{}, fmt.Errorf("tick %q: EventBridge Scheduler did not fill in the context attribute; it must stand literally in the schedule's input, with its angle brackets unescaped", id)
	case err != nil || t.Unix() <= 0:
		return time.Time{}, fmt.Errorf("tick %q: must be an instant such as 2026-09-07T02:00:00Z", id)
	}
	return t.UTC().Truncate(time.Second), nil
}

// RunID names the run of a tick. It is made from job, tick and attempt alone, so that
// every delivery of the tick names the same execution; it fits Step Functions' 80
// characters and has no colon.
func RunID(job, tick string, attempt int) string {
	return job + "-" + plain.Replace(tick) + "-" + strconv.Itoa(attempt)
}

var plain = strings.NewReplacer("-", "", ":", "")
