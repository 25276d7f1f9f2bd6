package ops_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// desk is a world with an operator in it.
type desk struct {
	*testworld.World
	t  *testing.T
	op *ops.Direct
}

func newDesk(t *testing.T) *desk {
	w := testworld.New(t, nil)
	token := 0
	e := &engine.Engine{
		Store: w.Store, Machines: w.Runs, Now: w.Now, Timeout: engine.CommandLineTimeout,
		NewToken: func() string { token++; return fmt.Sprintf("ops%d", token) },
	}
	return &desk{w, t, &ops.Direct{Name: testworld.Scheduler, Engine: e}}
}

// running counts executions, but for the one that Established leaves behind.
func (d *desk) running() int { return d.Runs.Running() - 1 }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (d *desk) sweep(job string) {
	d.t.Helper()
	if err := d.op.Engine.SweepGuard(d.t.Context(), d.Guard(job)); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) run(job string) ops.RunResult {
	d.t.Helper()
	res, err := d.op.Run(d.t.Context(), ops.RunRequest{Job: job, By: "alice@laptop"})
	if err != nil {
		d.t.Fatal(err)
	}
	return res
}

// reply is a manual run as the world's other functions know runs.
func reply(r ops.RunResult) dispatch.Reply {
	return dispatch.Reply{Job: r.Job, Tick: r.Tick, Run: r.Run, Fence: r.Fence}
}

func (d *desk) history(q ops.HistoryQuery) []ops.Entry {
	d.t.Helper()
	var all []ops.Entry
	for e, err := range d.op.History(d.t.Context(), q) {
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func brief(entries []ops.Entry) string {
	var lines []string
	for _, e := range entries {
		tick := strings.ReplaceAll(e.Tick, "2026-09-07T", "")
		line := tick + " " + string(e.Outcome)
		if e.Count > 1 {
			line += fmt.Sprintf(" %d", e.Count)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestJobsComeByNameAcrossPagesAndMayBeLeftEarly(t *testing.T) {
	d := newDesk(t)
	d.At("02:00:00")
	for i := range 250 {
		spec := testworld.Minutely(fmt.Sprintf("job%03d", i))
		if err := d.op.Engine.Introduce(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for j, err := range d.op.Jobs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, j.Job)
	}
	if len(names) != 250 || names[0] != "job000" || names[249] != "job249" {
		t.Errorf("got %d jobs, %v...", len(names), names[:1])
	}
	d.Store.Reset()
	for _, err := range d.op.Jobs(t.Context()) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if got := d.Store.Reads; got != 1 {
		t.Errorf("the first job took %d requests: want 1", got)
	}
}

func TestStatusShowsHolderWaitingAndPause(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	spec.Overlap = policy.QueueOne
	d.Established(spec, "01:59")
	d.At("02:00:00")
	d.Tick(spec, "02:00")
	d.At("02:01:00")
	d.Tick(spec, "02:01")
	must(d.op.Pause(t.Context(), ops.PauseRequest{Job: "cleanup", By: "alice@laptop", Reason: "index rebuild", For: time.Hour}))
	s := must(d.op.Status(t.Context(), "cleanup"))
	if s.State != ops.Held || s.Holder == nil || s.Holder.Run != "cleanup-20260907T020000Z-1" || s.Holder.HeldForSeconds != 60 {
		t.Errorf("holder: got %s %+v", s.State, s.Holder)
	}
	if s.Waiting == nil || s.Waiting.Tick != "2026-09-07T02:01:00Z" {
		t.Errorf("waiting: got %+v", s.Waiting)
	}
	if p := s.Paused; p == nil || p.By != "alice@laptop" || p.Why != "index rebuild" || p.Until.Sub(p.Since) != time.Hour {
		t.Errorf("paused: got %+v", s.Paused)
	}
	if got := brief(s.Recent); got != "02:01:00Z Queued\n02:00:00Z Running\n01:59:00Z Succeeded" {
		t.Errorf("recent: got\n%s", got)
	}
	if want := testworld.Midnight.Add(2*time.Hour + 2*time.Minute); !s.NextTick.Equal(want) {
		t.Errorf("next tick %s: want %s", s.NextTick, want)
	}
}

func TestAnUnknownJobIsNamedBesideTheKnownOnes(t *testing.T) {
	d := newDesk(t)
	d.Established(testworld.Minutely("cleanup"), "01:59")
	_, status := d.op.Status(t.Context(), "nope")
	_, run := d.op.Run(t.Context(), ops.RunRequest{Job: "nope"})
	_, pause := d.op.Pause(t.Context(), ops.PauseRequest{Job: "nope", Reason: "rebuild"})
	_, release := d.op.Release(t.Context(), ops.ReleaseRequest{Job: "nope", Reason: "hangs"})
	_, why := d.op.Why(t.Context(), "nope", "2026-09-07T02:00:00Z")
	for verb, err := range map[string]error{"status": status, "run": run, "pause": pause, "release": release, "why": why} {
		var unknown *ops.UnknownJobError
		if !errors.As(err, &unknown) || err.Error() != `job "nope" is unknown to scheduler test: must be one of cleanup` {
			t.Errorf("%s: got %v", verb, err)
		}
	}
}

// B37: a skip, a missed tick and a success are three lines with their reasons, and never each
// other.
func TestHistoryTellsSuccessSkipAndMissedApart(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Spec("sync", "cron(0/15 * * * ? *)")
	d.Established(spec, "01:45")
	d.At("02:00:00")
	run := d.Tick(spec, "02:00")
	d.At("02:15:00")
	for range 30 { // it beats, and so is not taken over
		must(0, d.Beat(run))
	}
	d.Tick(spec, "02:15")
	d.At("02:16:00")
	must(d.Succeed(run))
	d.At("02:51:00") // 02:30 has had its 15 + 5 minutes
	d.sweep("sync")
	got := d.history(ops.HistoryQuery{Job: "sync", Last: 55 * time.Minute})
	if want := "02:30:00Z Missed\n02:15:00Z Skipped\n02:00:00Z Succeeded"; brief(got) != want {
		t.Fatalf("got\n%s\nwant\n%s", brief(got), want)
	}
	if got[0].Why != "tick 2026-09-07T02:30:00Z never came" || got[1].Why != guard.WhyHeld || got[1].Holder.Run != run.Run {
		t.Errorf("reasons: %q, %q, holder %+v", got[0].Why, got[1].Why, got[1].Holder)
	}
	if got := brief(d.history(ops.HistoryQuery{Job: "sync", Outcome: guard.Skipped})); got != "02:15:00Z Skipped" {
		t.Errorf("skips: got\n%s", got)
	}
}

// B26: two hours of silence are one line of 120 ticks.
func TestHistoryShowsAnOutageAsOneLine(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("04:00:00")
	must(d.Succeed(d.Tick(spec, "04:00")))
	d.At("04:21:00")
	d.sweep("cleanup")
	got := brief(d.history(ops.HistoryQuery{Job: "cleanup"}))
	if want := "04:00:00Z Succeeded\n03:59:00Z Missed 120\n01:59:00Z Succeeded"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestHistoryMergesKindsNewestFirstAcrossPages(t *testing.T) {
	d := newDesk(t)
	d.Established(testworld.Minutely("cleanup"), "01:59")
	put := func(k guard.Kind, id string, at guard.Millis) {
		err := d.Store.Commit(t.Context(), guard.Commit{Job: "cleanup", Token: id, Writes: []guard.Write{{
			SK: schema.TickSK(id), Absent: true,
			Patch: guard.Patch{Set: guard.Fields{{Name: "tick", Value: id}, {Name: "at", Value: at}, {Name: "kind", Value: k}, {Name: "outcome", Value: guard.Succeeded}, {Name: "token", Value: id}}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	begin := schema.MillisOf(testworld.Midnight.Add(3 * time.Hour))
	const n = 450
	for i := range n {
		at := begin.Add(time.Duration(i) * time.Minute)
		put(guard.Scheduled, guard.TickID(guard.Scheduled, at), at)
		if i%3 == 0 {
			put(guard.Backfill, guard.TickID(guard.Backfill, at), at.Add(time.Millisecond))
			put(guard.Manual, guard.ManualID(at.Add(30*time.Second)), at.Add(30*time.Second))
		}
	}
	all := d.history(ops.HistoryQuery{Job: "cleanup", Since: begin.Time()})
	if want := n + 2*n/3; len(all) != want {
		t.Fatalf("%d entries: want %d", len(all), want)
	}
	for i := 1; i < len(all); i++ {
		if all[i].At.After(all[i-1].At) {
			t.Fatalf("entry %d, %s, is newer than %s before it", i, all[i].Tick, all[i-1].Tick)
		}
	}
	d.Store.Reset()
	for _, err := range d.op.History(t.Context(), ops.HistoryQuery{Job: "cleanup"}) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if got := d.Store.Reads; got > 7 { // the guard, a page of each kind, the gaps between
		t.Errorf("the first entry took %d requests: want at most 7", got)
	}
	since := all[10].At
	if got := d.history(ops.HistoryQuery{Job: "cleanup", Since: since}); len(got) != 11 {
		t.Errorf("since %s: %d entries, want 11", since, len(got))
	}
}

func TestWaitPollsUntilTheOutcomeIsFinal(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:30")
	res := d.run("cleanup")
	slept := 0
	e, err := ops.Wait(t.Context(), d.op, "cleanup", res.Tick, func(context.Context, time.Duration) error {
		if slept++; slept == 3 {
			must(d.Succeed(reply(res)))
		}
		return nil
	})
	if err != nil || e.Outcome != guard.Succeeded || slept != 3 {
		t.Errorf("got %v, %s after %d sleeps", err, e.Outcome, slept)
	}
	d.At("02:01:30")
	res = d.run("cleanup")
	_, err = ops.Wait(t.Context(), d.op, "cleanup", res.Tick, func(context.Context, time.Duration) error { return context.Canceled })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "goes on without this command") {
		t.Errorf("interrupted: got %v", err)
	}
}

// A page from the end of the ledger tells of all kinds where it reaches a planned tick; else each
// kind is read for itself. Either way the order is that of time, and nothing is there twice.
func TestHistoryReadsAllKindsAtOnceWhereItCan(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:00")
	tick := func(minute int) {
		clock := fmt.Sprintf("01:%02d", minute)
		d.At(clock + ":00")
		must(d.Succeed(d.Tick(spec, clock)))
		d.At(clock + ":30")
		must(d.Succeed(reply(d.run("cleanup"))))
	}
	const before = 1 // of the establishing
	for i := 1; i <= 59; i++ {
		tick(i)
		d.Store.Reset()
		all := d.history(ops.HistoryQuery{Job: "cleanup"})
		if want := 2*i + before; len(all) != want {
			t.Fatalf("after %d: got %d entries, want %d", i, len(all), want)
		}
		for j := 1; j < len(all); j++ {
			if !all[j].At.Before(all[j-1].At) {
				t.Fatalf("after %d: %s is behind %s", i, all[j].Tick, all[j-1].Tick)
			}
		}
		if d.Store.Reads != 3 { // guard, ticks, gaps
			t.Errorf("after %d: %d requests, want 3", i, d.Store.Reads)
		}
		recent := must(d.op.Status(t.Context(), "cleanup")).Recent // five a page: manual runs fill it
		for j, e := range recent {
			if e.Tick != all[j].Tick {
				t.Errorf("after %d: the newest are %s", i, brief(recent))
				break
			}
		}
	}
}
