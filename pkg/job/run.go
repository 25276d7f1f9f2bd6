package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job/internal/fence"
)

// EnvRun is the environment variable in which a container finds its run object.
const EnvRun = "CRONFENCE_RUN"

// Run is one execution of a job for one tick: the run object that the task received. Its
// JSON is in docs/contract.md.
type Run struct {
	Scheduler string
	Table     string // the scheduler's DynamoDB table
	Job       string
	Tick      string // id of the tick: of a planned one its instant, 2026-09-07T02:00:00Z
	ID        string // names the execution
	// Fence rises with every run of the job: from 1 to 2^53-1. A write that carries an older one
	// than the last seen is late. Those of different jobs say nothing about each other.
	Fence    int64
	Attempt  int
	Deadline time.Time       // when the run's maximum run time is over
	Interval time.Duration   // from this tick to the next; 0 when there is none
	Payload  json.RawMessage // the job's own; null when it has none
	Token    string          // task token; empty unless the task waits for one
	// Budget bounds the run's work. Do sets it; nil has no end.
	Budget *Budget
}

// wire is the run object.
type wire struct {
	schema.RunObject
	Payload json.RawMessage `json:"payload"` // in place of RunObject's
	Token   string          `json:"taskToken"`
}

// Parse reads a run object. Members that it does not know are left alone: a newer scheduler
// may send more.
func Parse(object []byte) (Run, error) {
	var w wire
	if err := json.Unmarshal(object, &w); err != nil {
		return Run{}, fmt.Errorf("read run object: %w", err)
	}
	if w.Job == "" || w.Tick == "" || w.Run == "" {
		return Run{}, fmt.Errorf("read run object: job %q, tick %q, run %q: all must be set", w.Job, w.Tick, w.Run)
	}
	if err := fence.Check(w.Fence); err != nil {
		return Run{}, fmt.Errorf("read run object: %w", err)
	}
	deadline, err := time.Parse(time.RFC3339, w.Deadline)
	if err != nil {
		return Run{}, fmt.Errorf("read run object: deadline %q: must be an instant such as 2026-09-07T02:05:00Z", w.Deadline)
	}
	if w.Interval < 0 {
		return Run{}, fmt.Errorf("read run object: interval %d: must be seconds, at least 0", w.Interval)
	}
	return Run{
		Scheduler: w.Scheduler, Table: w.Table,
		Job: w.Job, Tick: w.Tick, ID: w.Run, Fence: w.Fence, Attempt: w.Attempt,
		Deadline: deadline, Interval: time.Duration(w.Interval) * time.Second,
		Payload: w.Payload, Token: w.Token,
	}, nil
}

// FromEnv reads the run of a container from the environment variable CRONFENCE_RUN.
func FromEnv() (Run, error) {
	object := os.Getenv(EnvRun)
	if object == "" {
		return Run{}, fmt.Errorf("environment variable %s is empty: it must hold the run object", EnvRun)
	}
	return Parse([]byte(object))
}

// FromToken reads the run of a worker from a message: the run object with one more member,
// taskToken. Give Do the option WithTokens, so that the token is answered.
func FromToken(message []byte) (Run, error) {
	run, err := Parse(message)
	if err == nil && run.Token == "" {
		err = errors.New("read run object: it has no taskToken")
	}
	return run, err
}

// Name is what a run's fences are kept under where several jobs share a place: no two jobs
// have the same.
func (r Run) Name() string { return r.Scheduler + "/" + r.Job }
