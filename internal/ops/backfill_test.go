package ops_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/policy"
)

func TestABackfillIsOfThePastAndItsProgressIsToldUntilItsEnd(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Spec("cleanup", "cron(0/10 * * * ? *)")
	spec.Overlap = policy.Skip
	d.Established(spec, "02:00")
	d.At("02:05:00")
	ctx := t.Context()
	if _, err := d.op.Backfill(ctx, ops.BackfillRequest{Job: "cleanup", From: d.Clock, To: d.Clock.Add(time.Hour)}); err == nil || !strings.Contains(err.Error(), "must be in the past") {
		t.Errorf("of the future: got %v", err)
	}
	b := must(d.op.Backfill(ctx, ops.BackfillRequest{Job: "cleanup", From: testworld.Midnight.Add(time.Hour), To: testworld.Midnight.Add(80 * time.Minute)}))
	if b.Ticks != 3 || b.First != testworld.Midnight.Add(time.Hour) || b.Last != testworld.Midnight.Add(80*time.Minute) {
		t.Errorf("got %+v", b)
	}
	var told []string
	sleep := func(context.Context, time.Duration) error {
		s := must(d.op.Status(ctx, "cleanup"))
		d.Clock = d.Clock.Add(time.Second)
		if h := s.Holder; h != nil {
			_, err := d.Succeed(reply(ops.RunResult{Job: "cleanup", Tick: h.Tick, Run: h.Run, Fence: h.Fence}))
			return err
		}
		d.sweep("cleanup")
		return nil
	}
	outcomes, err := ops.WaitBackfill(ctx, d.op, b, func(p ops.BackfillProgress) { told = append(told, p.Running) }, sleep)
	want := []string{"backfill-2026-09-07T01:00:00Z", "backfill-2026-09-07T01:10:00Z", "backfill-2026-09-07T01:20:00Z"}
	if err != nil || outcomes[guard.Succeeded] != 3 || len(outcomes) != 1 || !slices.Equal(slices.DeleteFunc(told, func(s string) bool { return s == "" }), want) {
		t.Errorf("got %v, %v, told of %q", outcomes, err, told)
	}
}

func TestARepeatedBackfillTellsWhatItPassesOverAndWaitsForItsOwnRuns(t *testing.T) {
	d := newDesk(t)
	d.Established(testworld.Spec("cleanup", "cron(0/10 * * * ? *)"), "02:00")
	d.At("02:10:05")
	ctx, fail := t.Context(), true
	sleep := func(context.Context, time.Duration) error {
		d.Clock = d.Clock.Add(time.Second)
		if h := must(d.op.Status(ctx, "cleanup")).Holder; h != nil {
			run := reply(ops.RunResult{Job: "cleanup", Tick: h.Tick, Run: h.Run, Fence: h.Fence})
			if fail && !strings.Contains(h.Tick, "01:10") {
				_, err := d.Fail(run, "OutOfStock", "")
				return err
			}
			_, err := d.Succeed(run)
			return err
		}
		return nil
	}
	ask := ops.BackfillRequest{Job: "cleanup", From: testworld.Midnight.Add(time.Hour), To: d.Clock}
	wait := func() (ops.BackfillResult, map[guard.Outcome]int) {
		b := must(d.op.Backfill(ctx, ask))
		last := -1
		return b, must(ops.WaitBackfill(ctx, d.op, b, func(p ops.BackfillProgress) {
			if p.Of != 7 || p.Done < last || p.Over != (p.Done == 7) {
				t.Errorf("%+v after %d done: want it go up to all seven", p, last)
			}
			last = p.Done
		}, sleep))
	}
	if b, got := wait(); b.Ticks != 7 || b.Passed != 0 || got[guard.Failed] != 6 || got[guard.Succeeded] != 1 {
		t.Errorf("got %+v, %v", b, got)
	}
	fail = false
	b, got := wait()
	if b.Ticks != 6 || b.Passed != 1 || len(got) != 1 || got[guard.Succeeded] != 6 {
		t.Errorf("again: got %+v, %v: want the six that failed", b, got)
	}
	want := "6 ticks of cleanup, from 2026-09-07T01:00:00Z to 2026-09-07T02:00:00Z, run one at a time, planned ticks first; " +
		"1 more are passed over: an earlier backfill of them succeeded; 1 behind them are left out: they may still come by themselves"
	if b.Message != want {
		t.Errorf("got %q", b.Message)
	}
	ask.To = testworld.Midnight.Add(90 * time.Minute)
	if _, err := d.op.Preview(ctx, ops.Act{Job: "cleanup", Backfill: &ask}); err == nil || !strings.Contains(err.Error(), "succeeded in an earlier backfill") {
		t.Errorf("a third time: got %v", err)
	}
}

func TestABackfillWhoseFirstStartIsRefusedIsNotToldToGoOn(t *testing.T) {
	for name, last := range map[string]time.Duration{"of many": 80 * time.Minute, "of one": time.Hour} {
		d := newDesk(t)
		d.Established(testworld.Spec("cleanup", "cron(0/10 * * * ? *)"), "02:00")
		d.At("02:05:00")
		d.Runs.FailStart = fmt.Errorf("no such machine: %w", machine.ErrPermanent)
		_, err := d.op.Backfill(t.Context(), ops.BackfillRequest{Job: "cleanup", From: testworld.Midnight.Add(time.Hour), To: testworld.Midnight.Add(last)})
		if err == nil || !strings.Contains(err.Error(), "the backfill of cleanup is over already: run cleanup-backfill20260907T010000Z-1 ended as Failed: Cronfence.StartRefused: no such machine") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The run of the backfill before goes on and succeeds: it is not one that was not run.
func TestWaitingForABackfillTakesInTheRunOfTheOneBefore(t *testing.T) {
	d := newDesk(t)
	d.Established(testworld.Spec("cleanup", "cron(0/10 * * * ? *)"), "02:00")
	d.At("02:05:00")
	ctx := t.Context()
	ask := ops.BackfillRequest{Job: "cleanup", From: testworld.Midnight.Add(time.Hour), To: testworld.Midnight.Add(80 * time.Minute)}
	must(d.op.Backfill(ctx, ask))
	must(d.op.EndBacklog(ctx, ops.EndBacklogRequest{Job: "cleanup", By: "me", Reason: "a bug"}))
	d.Clock = d.Clock.Add(time.Second)
	b := must(d.op.Backfill(ctx, ask))
	var told []string
	outcomes, err := ops.WaitBackfill(ctx, d.op, b, func(p ops.BackfillProgress) {
		told = append(told, fmt.Sprintf("%d of %d", p.Done, p.Of))
	}, func(context.Context, time.Duration) error {
		d.Clock = d.Clock.Add(time.Second)
		if h := must(d.op.Status(ctx, "cleanup")).Holder; h != nil {
			must(d.Succeed(reply(ops.RunResult{Job: "cleanup", Tick: h.Tick, Run: h.Run, Fence: h.Fence})))
		}
		d.sweep("cleanup")
		return nil
	})
	if err != nil || outcomes[guard.Succeeded] != 3 || len(outcomes) != 1 {
		t.Errorf("got %v, %v: want all three", outcomes, err)
	}
	if want := []string{"0 of 3", "1 of 3", "2 of 3", "3 of 3"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
