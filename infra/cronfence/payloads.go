package cronfence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// runObject is schema.RunObject as a payload template: the one JSON object that every
// target hands to the job.
func (m machine) runObject() map[string]any {
	return map[string]any{
		"scheduler":  m.spec.Scheduler,
		"table":      m.table,
		"job.$":      "$.job",
		"tick.$":     "$.tick",
		"run.$":      "$.run",
		"fence.$":    "$.fence",
		"attempt.$":  "$.attempt",
		"deadline.$": "$.deadline",
		"interval.$": "$.interval",
		"payload":    m.payload,
	}
}

// objectField is where a task that hands the run object on as text finds it.
const objectField = "object"

// withObject is the run's input with the run object beside it. It stands in the Parallel around
// the task: a state of its own would be one more to pay for.
func (m machine) withObject() map[string]any {
	input := map[string]any{objectField: m.runObject()}
	for _, field := range []string{"job", "tick", "run", "fence", "attempt", "deadline", "interval"} {
		input[field+".$"] = "$." + field
	}
	return input
}

// beatEvent is schema.BeatEvent as a payload template.
func (m machine) beatEvent() map[string]any {
	return map[string]any{
		"job.$":        "$.job",
		"tick.$":       "$.tick",
		"run.$":        "$.run",
		"fence.$":      "$.fence",
		"interval.$":   "$.interval",
		"startedAt.$":  "$$.Execution.StartTime",
		"leaseSeconds": m.spec.LeaseSeconds,
	}
}

// settleEvent is schema.SettleEvent as a payload template.
func (m machine) settleEvent(status schema.RunStatus) map[string]any {
	e := map[string]any{
		"job.$":       "$.job",
		"tick.$":      "$.tick",
		"run.$":       "$.run",
		"fence.$":     "$.fence",
		"attempt.$":   "$.attempt",
		"interval.$":  "$.interval",
		"startedAt.$": "$$.Execution.StartTime",
		"endedAt.$":   "$$.State.EnteredTime",
		"machine.$":   "$$.StateMachine.Id",
		"chain":       m.spec.Chain,
		"status":      status,
	}
	if status == schema.RunFailed {
		e["end.$"] = "$.end"
	}
	return e
}

// tickInput is the input of a job's schedule, with the context attributes literally.
func tickInput(spec schema.Spec) (string, error) {
	return encode(schema.TickEvent{
		Job:  spec.Job,
		Tick: schema.AttrScheduledTime,
		Spec: spec,
		Delivery: schema.Delivery{
			ExecutionID: schema.AttrExecutionID,
			Attempt:     schema.AttrAttempt,
			ScheduleARN: schema.AttrScheduleARN,
		},
	})
}

// maxPayload leaves room for the rest of the run object within the 256 KiB that Step
// Functions allows a state.
const maxPayload = 200 * 1024

// encodePayload writes the job's constant. Keys that end in ".$" would be read as paths
// into the state, not handed to the job, and so are refused.
func encodePayload(payload any) (json.RawMessage, error) {
	text, err := encode(payload)
	if err != nil {
		return nil, fmt.Errorf("payload: must be a value that encoding/json can write: %w", err)
	}
	if len(text) > maxPayload {
		return nil, fmt.Errorf("payload: %d bytes of JSON: at most %d are allowed", len(text), maxPayload)
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("payload: must be JSON: %w", err)
	}
	if key, found := pathKey(v); found {
		return nil, fmt.Errorf("payload key %q: must not end in \".$\", which Step Functions reads as a path", key)
	}
	return json.RawMessage(text), nil
}

func pathKey(v any) (string, bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			if strings.HasSuffix(k, ".$") {
				return k, true
			}
			if key, found := pathKey(inner); found {
				return key, true
			}
		}
	case []any:
		for _, inner := range v {
			if key, found := pathKey(inner); found {
				return key, true
			}
		}
	}
	return "", false
}

func wholeSeconds(d time.Duration) int64 { return int64(d / time.Second) }
