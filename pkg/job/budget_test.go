package job_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cronfence/cronfence/pkg/job"
)

func TestABudgetEndsInsideTheInterval(t *testing.T) {
	for name, c := range map[string]struct {
		interval, deadline time.Duration
		piece              time.Duration
		want               int // pieces
	}{
		"interval":                 {10 * time.Minute, time.Hour, 30 * time.Second, 16},
		"deadline is nearer":       {time.Hour, 10 * time.Minute, 30 * time.Second, 16},
		"no interval":              {0, 10 * time.Minute, 30 * time.Second, 16},
		"the last would not fit":   {10 * time.Minute, time.Hour, 50 * time.Second, 9},
		"one that fills it is all": {10 * time.Minute, time.Hour, 9 * time.Minute, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run := newRun()
				run.Interval, run.Deadline = c.interval, time.Now().Add(c.deadline)
				pieces := 0
				err := job.Do(t.Context(), run, func(ctx context.Context, run job.Run) error {
					for run.Budget.More(ctx) {
						time.Sleep(c.piece)
						pieces++
					}
					return nil
				})
				if err != nil || pieces != c.want {
					t.Errorf("%d pieces, %v: want %d", pieces, err, c.want)
				}
			})
		})
	}
}

func TestABudgetSaysHowMuchIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_ = job.Do(t.Context(), newRun(), func(_ context.Context, run job.Run) error {
			time.Sleep(time.Minute)
			if got, want := run.Budget.String(), "7m0s of 8m0s left"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
			time.Sleep(8 * time.Minute)
			if run.Budget.Left() != 0 {
				t.Errorf("%v left, want none", run.Budget.Left())
			}
			return nil
		})
	})
}

func TestABudgetIsSpentWhenTheContextIs(t *testing.T) {
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	_ = job.Do(ctx, newRun(), func(ctx context.Context, run job.Run) error {
		if run.Budget.More(ctx) {
			t.Error("more work for a run that is to stop")
		}
		return nil
	})
}

func TestALambdasOwnTimeoutBoundsTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_ = job.Do(ctx, newRun(), func(_ context.Context, run job.Run) error {
			if got := run.Budget.Total(); got != 48*time.Second {
				t.Errorf("budget %v, want 48s", got)
			}
			return nil
		})
	})
}

// As in an author's unit test of the work alone.
func TestARunWithoutABudgetWorksUntilItsContextIsDone(t *testing.T) {
	var run job.Run
	ctx, cancel := context.WithCancel(t.Context())
	if !run.Budget.More(ctx) || run.Budget.Left() < 1000*time.Hour || run.Budget.Total() < 1000*time.Hour || run.Budget.String() != "no budget" {
		t.Errorf("%v", run.Budget)
	}
	cancel()
	if run.Budget.More(ctx) {
		t.Error("more work after the end of the context")
	}
}
