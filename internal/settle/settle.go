// Package settle is the settler: it records how a run ended and releases its guard. The run
// itself reports its end as the last step of its state machine; EventBridge's status events
// report what no state machine can catch: an abort, the machine's own timeout, a runtime error.
package settle

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Handler handles the ends of runs.
type Handler struct {
	Scheduler string
	Store     guard.Store
	Machines  machine.Runner
	Now       func() time.Time
	NewToken  func() string
	Out       io.Writer // log and metric lines
}

// Reply tells the caller what the report came to: the tick's outcome on record, or of an event
// that has nothing to add the execution's.
type Reply struct {
	Outcome guard.Outcome `json:"outcome"`
	Changed bool          `json:"changed"` // false: it was on record, or the report was stale
}

// Handle records one reported end.
func (h *Handler) Handle(ctx context.Context, event json.RawMessage) (any, error) {
	var kind struct {
		DetailType string `json:"detail-type"`
	}
	if err := json.Unmarshal(event, &kind); err != nil {
		return nil, fmt.Errorf("read end of run: %w", err)
	}
	switch kind.DetailType {
	case "":
		return h.reported(ctx, event)
	case schema.StatusDetailType:
		return h.observed(ctx, event)
	}
	return nil, fmt.Errorf("read end of run: detail-type %q: must be %q", kind.DetailType, schema.StatusDetailType)
}

// reported handles the run's own word.
func (h *Handler) reported(ctx context.Context, event json.RawMessage) (any, error) {
	var ev schema.SettleEvent
	if err := json.Unmarshal(event, &ev); err != nil {
		return nil, fmt.Errorf("read settle event: %w", err)
	}
	end, err := Reported(ev)
	if err != nil {
		return nil, err
	}
	return h.settle(ctx, end, (*engine.Engine).Settle)
}

// observed handles a status event. Such events may be late, lost or out of order, so they
// say nothing that the record does not allow.
func (h *Handler) observed(ctx context.Context, event json.RawMessage) (any, error) {
	var ev schema.StatusEvent
	if err := json.Unmarshal(event, &ev); err != nil {
		return nil, fmt.Errorf("read status event: %w", err)
	}
	if machine.Status(ev.Detail.Status) == machine.Running {
		return Reply{Outcome: guard.Running}, nil
	}
	if ev.Detail.SettledInside() {
		return Reply{Outcome: guard.Succeeded}, nil
	}
	end, err := Observed(ctx, h.Machines, h.Scheduler, ev, h.Now)
	if err != nil {
		return nil, err
	}
	return h.settle(ctx, end, (*engine.Engine).SettleObserved)
}

type settleFunc func(*engine.Engine, context.Context, guard.End) (guard.Decision, error)

func (h *Handler) settle(ctx context.Context, end guard.End, settle settleFunc) (any, error) {
	if err := schema.CheckJob(end.Job); err != nil {
		return nil, fmt.Errorf("settle: %w", err)
	}
	if end.Run == "" || end.Fence <= 0 {
		return nil, fmt.Errorf("settle tick %s of %s: run %q, fence %d: must be set", end.Tick, end.Job, end.Run, end.Fence)
	}
	if want := schema.RunID(end.Job, end.Tick, end.Attempt); end.Run != want { // it would end the run and close another's row
		return nil, fmt.Errorf("settle tick %s of %s: run %q: must be %q", end.Tick, end.Job, end.Run, want)
	}
	log := &telemetry.Writer{Scheduler: h.Scheduler, Out: h.Out, Now: h.Now}
	e := engine.Engine{
		Store: h.Store, Machines: h.Machines, Now: h.Now, NewToken: h.NewToken,
		Timeout: schema.DispatcherTimeout, Observe: log,
	}
	dec, err := settle(&e, ctx, end)
	if err != nil {
		return nil, err
	}
	if dec.Verdict == guard.Stale {
		log.Line("WARN", "late end of a run that is no longer on record", end.Job, map[string]any{
			"tick": end.Tick, "run": end.Run, "fence": end.Fence, "outcome": end.Outcome,
		}, nil)
	}
	return Reply{Outcome: dec.Row.Outcome, Changed: dec.Verdict == guard.Done}, nil
}
