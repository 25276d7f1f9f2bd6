package sentinel

import (
	"context"
	"fmt"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// The resume points are kept in the table under names that no job and no tick can have.
const (
	ownJob      = "#sentinel"
	sweptRow    = "resume"   // of the guards
	comparedRow = "compared" // of the schedules
)

// resumePoint returns the job after which the last sweep ended; empty: it went over all.
func (h *Handler) resumePoint(ctx context.Context, of string) (string, error) {
	row, err := h.Store.Row(ctx, ownJob, of)
	if err != nil || row == nil {
		return "", err
	}
	return row.Why, nil
}

func (h *Handler) setResumePoint(ctx context.Context, of, before, after string) error {
	if before == after {
		return nil
	}
	patch := guard.Patch{Set: guard.Fields{{Name: "tick", Value: of}, {Name: "why", Value: after}}}
	if after == "" {
		patch = guard.Patch{Set: guard.Fields{{Name: "tick", Value: of}}, Remove: []string{"why"}}
	}
	err := h.Store.Commit(ctx, guard.Commit{
		Job: ownJob, Token: h.NewToken(),
		Writes: []guard.Write{{SK: schema.TickSK(of), OrAbsent: true, Patch: patch}},
	})
	if err != nil {
		return fmt.Errorf("note where the sweep ended: %w", err)
	}
	return nil
}
