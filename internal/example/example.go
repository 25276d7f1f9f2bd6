// Package example holds the handlers of the example app's three jobs. They do nothing but
// take their time, like the work they are named after.
package example

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Job is the handler of a job that takes a while.
type Job struct {
	Name  string
	Takes time.Duration
	// Sleep waits for d or until ctx is done. Default: in real time. The local cloud puts
	// its own faster time here.
	Sleep func(ctx context.Context, d time.Duration) error
}

// The jobs of the example app.
var (
	// Cleanup runs every minute and takes 2 min 50 s: two of three ticks find it running.
	Cleanup = Job{Name: "cleanup", Takes: 2*time.Minute + 50*time.Second}
	// Sync runs every quarter of an hour and takes 40 s.
	Sync = Job{Name: "sync", Takes: 40 * time.Second}
	// Report runs every night and takes 8 minutes.
	Report = Job{Name: "report", Takes: 8 * time.Minute}
)

// Jobs are all jobs of the example app.
var Jobs = []Job{Cleanup, Sync, Report}

// Result is what a job's handler returns.
type Result struct {
	Job   string `json:"job"`
	Tick  string `json:"tick"`
	Fence int64  `json:"fence"`
}

// Handle is the Lambda handler: it reads the run object and takes the job's time.
func (j Job) Handle(ctx context.Context, input json.RawMessage) (any, error) {
	var run schema.RunObject
	if err := json.Unmarshal(input, &run); err != nil {
		return nil, fmt.Errorf("read run object: %w", err)
	}
	sleep := j.Sleep
	if sleep == nil {
		sleep = realTime
	}
	if err := sleep(ctx, j.Takes); err != nil {
		return nil, fmt.Errorf("work on tick %s: %w", run.Tick, err)
	}
	return Result{Job: run.Job, Tick: run.Tick, Fence: run.Fence}, nil
}

func realTime(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
