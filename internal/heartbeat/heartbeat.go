// Package heartbeat renews the lease of a run, or tells it to end.
package heartbeat

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Handler handles the beats of running runs.
type Handler struct {
	Scheduler string
	Store     guard.Store
	Now       func() time.Time
	Out       io.Writer // log and metric lines
}

// Handle renews the lease. The typed errors Cronfence.LeaseLost, Cronfence.MaxRunTime and
// Cronfence.Stop end the run; any other error says that the store could not be asked, which is no lost lease:
// the state machine tries again for as long as the lease lasts.
func (h *Handler) Handle(ctx context.Context, event json.RawMessage) (any, error) {
	var ev schema.BeatEvent
	if err := json.Unmarshal(event, &ev); err != nil {
		return nil, fmt.Errorf("read beat: %w", err)
	}
	if err := check(ev); err != nil {
		return nil, err
	}
	log := &telemetry.Writer{Scheduler: h.Scheduler, Out: h.Out, Now: h.Now}
	b := guard.Beat{
		Job: ev.Job, Tick: ev.Tick, Run: ev.Run, Fence: ev.Fence,
		Lease: time.Duration(ev.LeaseSeconds) * time.Second,
	}
	e := engine.Engine{Store: h.Store, Now: h.Now}
	answer, until, err := e.Beat(ctx, b)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{"tick": ev.Tick, "run": ev.Run, "fence": ev.Fence}
	switch name := Refusal(answer); name {
	case "":
		fields["leaseUntil"] = until.UTC().Format(time.RFC3339)
		log.Line("INFO", "beat", ev.Job, fields, runningRatio(ev, h.Now()))
		return schema.BeatReply{LeaseUntil: until.Format(time.RFC3339)}, nil
	case schema.ErrorLeaseLost:
		log.Line("ERROR", "lease lost", ev.Job, fields, nil)
		return nil, ended(name, "the guard of "+ev.Job+" is no longer held by "+ev.Run)
	case schema.ErrorMaxRunTime:
		log.Line("ERROR", "maximum run time over", ev.Job, fields, nil)
		return nil, ended(name, ev.Run+" had its maximum run time")
	default:
		log.Line("INFO", "asked to stop", ev.Job, fields, nil)
		return nil, ended(name, ev.Run+" is replaced by a newer tick")
	}
}

// Refusal is the name of the error that ends a run whose beat was answered so, or nothing
// when the run may go on.
func Refusal(answer guard.Renewal) string {
	switch answer {
	case guard.LostLease:
		return schema.ErrorLeaseLost
	case guard.HadMaxTime:
		return schema.ErrorMaxRunTime
	case guard.AskedToStop:
		return schema.ErrorStop
	case guard.Renewed, guard.Ending:
	}
	return ""
}

// ended is the one form in which Step Functions sees the error's name: the plain value. A
// pointer, a wrapped error or a type of our own would come out under another name.
func ended(name, message string) error {
	return messages.InvokeResponse_Error{Type: name, Message: message}
}

func check(ev schema.BeatEvent) error {
	if err := schema.CheckJob(ev.Job); err != nil {
		return fmt.Errorf("beat: %w", err)
	}
	if ev.Run == "" || ev.Fence <= 0 || ev.LeaseSeconds <= 0 {
		return fmt.Errorf("beat of %s: run %q, fence %d, leaseSeconds %d: must all be set", ev.Job, ev.Run, ev.Fence, ev.LeaseSeconds)
	}
	return nil
}

// runningRatio is the ratio of a run that is still going on: a hung run shows before it ends.
func runningRatio(ev schema.BeatEvent, now time.Time) telemetry.Values {
	metrics := telemetry.Values{}
	if started, err := time.Parse(time.RFC3339, ev.StartedAt); err == nil {
		telemetry.RunningRatio(metrics, now.Sub(started), time.Duration(ev.Interval)*time.Second)
	}
	return metrics
}
