package cronfence

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// definition is an Amazon States Language document. It is written as text here and not
// through the CDK's states: a null ResultPath and the user's payload then reach AWS as
// they are, and no CDK release adds retries of its own to a guarded job.
type definition struct {
	Comment        string           `json:"Comment,omitempty"`
	StartAt        string           `json:"StartAt"`
	TimeoutSeconds int64            `json:"TimeoutSeconds,omitempty"`
	States         map[string]state `json:"States"`
}

type state struct {
	Type             string          `json:"Type"`
	Comment          string          `json:"Comment,omitempty"`
	Resource         string          `json:"Resource,omitempty"`
	Parameters       any             `json:"Parameters,omitempty"`
	TimeoutSeconds   int64           `json:"TimeoutSeconds,omitempty"`
	Seconds          int64           `json:"Seconds,omitempty"`
	HeartbeatSeconds int64           `json:"HeartbeatSeconds,omitempty"`
	Branches         []any           `json:"Branches,omitempty"` // definitions, or a placeholder for a chain's text
	ResultPath       json.RawMessage `json:"ResultPath,omitempty"`
	Retry            []retrier       `json:"Retry,omitempty"`
	Catch            []catcher       `json:"Catch,omitempty"`
	Error            string          `json:"Error,omitempty"`
	Cause            string          `json:"Cause,omitempty"`
	ErrorPath        string          `json:"ErrorPath,omitempty"`
	CausePath        string          `json:"CausePath,omitempty"`
	Next             string          `json:"Next,omitempty"`
	End              bool            `json:"End,omitempty"`
}

type retrier struct {
	ErrorEquals     []string `json:"ErrorEquals"`
	IntervalSeconds int64    `json:"IntervalSeconds,omitempty"`
	MaxAttempts     int64    `json:"MaxAttempts"` // 0 means never: it must be written
	BackoffRate     float64  `json:"BackoffRate,omitempty"`
	MaxDelaySeconds int64    `json:"MaxDelaySeconds,omitempty"`
	JitterStrategy  string   `json:"JitterStrategy,omitempty"`
}

type catcher struct {
	ErrorEquals []string `json:"ErrorEquals"`
	ResultPath  string   `json:"ResultPath"`
	Next        string   `json:"Next"`
}

// discard keeps a task's result out of the state: what the job returned is in the
// history, and added to the input it could pass the 256 KiB that end a run uncaught.
var discard = json.RawMessage("null")

// encode writes v as one line of JSON with < > & as they are: EventBridge Scheduler
// fills in context attributes only where they stand literally.
func encode(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("encode JSON: %w", err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}
