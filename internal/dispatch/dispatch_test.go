package dispatch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

func TestTickThatFindsItsJobRunningIsSkippedWithTheHolderNamed(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:01")
	first := w.Tick(spec, "02:00")
	w.At("02:01:01")
	skip := w.Tick(spec, "02:01")
	if first.Result != "Running" || !first.Started || skip.Result != "Skipped" {
		t.Fatalf("first %+v, second %+v: want Running and Skipped", first, skip)
	}
	h := skip.Holder
	if h == nil || h.Run != first.Run || h.Tick != first.Tick || h.HeldFor != 60_000 || h.Until == 0 {
		t.Errorf("holder %+v: want %s, held for a minute, with its lease", h, first.Run)
	}
	if w.Runs.Running() != 1 {
		t.Errorf("%d executions run, want 1", w.Runs.Running())
	}
	if n := w.Lines(`"Skipped":1`); n != 1 || w.Lines(`"Failed":1`) != 0 {
		t.Errorf("%d skip points: want one, and no failure", n)
	}
}

func TestRequestsWhenNothingIsInTheWay(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.Established(spec, "01:59")
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	for _, step := range []struct {
		what string
		do   func()
		want int
	}{
		{"start", func() {}, 1},
		{"duplicate of a running tick", func() { w.Tick(spec, "02:00") }, 1},
		{"beat", func() {
			w.At("02:00:30")
			if err := w.Beat(run); err != nil {
				t.Fatal(err)
			}
		}, 1},
		{"skip", func() { w.At("02:01:00"); w.Tick(spec, "02:01") }, 2},
		{"duplicate of a skipped tick", func() { w.Tick(spec, "02:01") }, 1},
		{"settle", func() {
			if _, err := w.Succeed(run); err != nil {
				t.Fatal(err)
			}
		}, 1},
		{"duplicate of a finished tick", func() { w.Tick(spec, "02:00") }, 1},
		{"second word of an end", func() {
			if _, err := w.Succeed(run); err != nil {
				t.Fatal(err)
			}
		}, 1},
	} {
		step.do()
		if got := w.Store.Reset(); got != step.want {
			t.Errorf("%s: %d requests, want %d", step.what, got, step.want)
		}
	}
}

func TestBadEventIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	spec := testworld.Minutely("cleanup")
	event := func(change func(*schema.TickEvent)) schema.TickEvent {
		ev := schema.TickEvent{Job: "cleanup", Tick: "2026-09-07T02:00:00Z", Spec: spec}
		change(&ev)
		return ev
	}
	for name, c := range map[string]struct {
		event any
		want  string
	}{
		"attribute nobody filled in": {event(func(e *schema.TickEvent) { e.Tick = schema.AttrScheduledTime }), `"<aws.scheduler.scheduled-time>": EventBridge Scheduler did not fill`},
		"no tick":                    {event(func(e *schema.TickEvent) { e.Tick = "" }), `tick "": must be an instant`},
		"tick that is no instant":    {event(func(e *schema.TickEvent) { e.Tick = "yesterday" }), `tick "yesterday": must be an instant`},
		"zero time":                  {event(func(e *schema.TickEvent) { e.Tick = "0001-01-01T00:00:00Z" }), `must be an instant`},
		"tick of another year":       {event(func(e *schema.TickEvent) { e.Tick = "2099-09-07T02:00:00Z" }), `ahead: a tick is delivered when it is due`},
		"tick of the next hour":      {event(func(e *schema.TickEvent) { e.Tick = "2026-09-07T03:00:00Z" }), `is planned 1h0m0s ahead`},
		"version with an x":          {event(func(e *schema.TickEvent) { e.Spec.Version = "1.x" }), `spec version "1.x": must be MAJOR.MINOR`},
		"ARN of nothing":             {event(func(e *schema.TickEvent) { e.Spec.Machine = "rubbish:stateMachine:test_cleanup" }), `must be the ARN of a state machine`},
		"unknown job":                {event(func(e *schema.TickEvent) { e.Spec = schema.Spec{} }), `job "cleanup" is unknown`},
		"no job":                     {event(func(e *schema.TickEvent) { e.Job = "" }), `job name "": must match`},
		"name no job can have":       {event(func(e *schema.TickEvent) { e.Job = "a/b" }), `job name "a/b": must match`},
		"newer major version":        {event(func(e *schema.TickEvent) { e.Spec.Version = "2.0" }), `spec version "2.0": this dispatcher understands`},
		"version that is none":       {event(func(e *schema.TickEvent) { e.Spec.Version = "one" }), `spec version "one": must be MAJOR.MINOR`},
		"another job's spec":         {event(func(e *schema.TickEvent) { e.Job = "report" }), `the spec is of job "cleanup"`},
		"another scheduler's spec": {event(func(e *schema.TickEvent) {
			e.Spec.Scheduler, e.Spec.Machine = "prod", "arn:aws:states:us-east-1:000000000000:stateMachine:prod_cleanup"
		}), `of scheduler "prod"; this is the dispatcher of scheduler "test"`},
		"schedule that is none":   {event(func(e *schema.TickEvent) { e.Spec.Schedule = "*/5 * * * *" }), `*/5 * * * *`},
		"unknown zone":            {event(func(e *schema.TickEvent) { e.Spec.Timezone = "Europe/Berlim" }), `Europe/Berlim`},
		"lease that is too short": {event(func(e *schema.TickEvent) { e.Spec.LeaseSeconds = 60 }), `leaseSeconds 60: must be at least`},
		"unknown policy":          {`{"job":"cleanup","tick":"2026-09-07T02:00:00Z","spec":{"overlap":"forbid"}}`, `overlap "forbid": must be one of`},
		"not JSON":                {`tick`, `read tick event`},
		"not an object":           {`[]`, `read tick event`},
	} {
		w := testworld.New(t, nil)
		w.At("02:00:00")
		_, err := w.Event(c.event)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.want)
		}
		if w.Store.Commits != 0 || w.Runs.Starts != 0 {
			t.Errorf("%s: %d commits and %d starts of a bad event", name, w.Store.Commits, w.Runs.Starts)
		}
	}
}

func TestTickWithoutASpecUsesTheOneLastSeen(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	w.Tick(spec, "02:00")
	w.At("02:01:00")
	r, err := w.Event(schema.TickEvent{Job: "cleanup", Tick: "2026-09-07T02:01:00Z"})
	if err != nil || r.Result != "Skipped" {
		t.Errorf("%+v, %v: want the tick judged as any other", r, err)
	}
}

func TestRedeliveryResumesTheStartThatAnotherDeliveryClaimed(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:01")
	w.Runs.FailStart = errors.New("throttled") // the first delivery dies before its start
	if _, err := w.Deliver(spec, "2026-09-07T02:00:00Z"); err == nil {
		t.Fatal("a start that failed must go back to the caller")
	}
	w.Runs.FailStart = nil
	w.At("02:00:30")
	second := w.Tick(spec, "02:00")
	w.At("02:05:00")
	third := w.Tick(spec, "02:00")
	if !second.Started || third.Result != "Duplicate" {
		t.Errorf("second %+v, third %+v: want the claim resumed, then a duplicate", second, third)
	}
	if w.Runs.Started != 1 || w.Lines(`"Skipped":1`) != 0 {
		t.Errorf("%d executions and skips %d, want 1 and 0", w.Runs.Started, w.Lines(`"Skipped":1`))
	}
}

func TestStartWhoseAnswerWasLostIsTheSameRun(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:01")
	w.Runs.LoseStart = errors.New("connection reset")
	if _, err := w.Deliver(spec, "2026-09-07T02:00:00Z"); err == nil {
		t.Fatal("a lost answer must go back to the caller")
	}
	w.Runs.LoseStart = nil
	w.At("02:00:40")
	w.Tick(spec, "02:00")
	if w.Runs.Started != 1 || w.Runs.Starts != 2 {
		t.Errorf("%d executions of %d starts, want 1 of 2: the input must be the same to the byte", w.Runs.Started, w.Runs.Starts)
	}
}

func TestStartOfARunThatFinishedMeanwhileIsSettledByItsStatus(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:01")
	w.Runs.LoseStart = errors.New("connection reset")
	_, _ = w.Deliver(spec, "2026-09-07T02:00:00Z")
	w.Runs.LoseStart = nil
	w.At("02:00:10")
	w.Runs.End(schema.RunID("cleanup", "2026-09-07T02:00:00Z", 1), machine.Succeeded, "")
	w.Tick(spec, "02:00")
	if row := w.Row("cleanup", "02:00"); row.Outcome != guard.Succeeded {
		t.Errorf("row %+v: want Succeeded", row)
	}
}

func TestNameThatAnEarlierGuardUsedIsNotSwallowed(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:01")
	run := schema.RunID("cleanup", "2026-09-07T02:00:00Z", 1)
	if err := w.Runs.Start(t.Context(), spec.Machine, run, `{"fence":7}`); err != nil {
		t.Fatal(err)
	}
	w.Runs.End(run, machine.Succeeded, "")
	w.Tick(spec, "02:00")
	row := w.Row("cleanup", "02:00")
	if row.Outcome != guard.Failed || row.Error != "Cronfence.NameUsed" {
		t.Errorf("row %+v: want Failed with Cronfence.NameUsed", row)
	}
	if g := w.Guard("cleanup"); g.Run != nil {
		t.Errorf("guard %+v: want it free", g)
	}
}

func TestStartThatIsRefusedForGoodSettlesTheRunAsFailed(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:01")
	w.Runs.FailStart = machine.ErrPermanent
	w.Tick(spec, "02:00")
	if row := w.Row("cleanup", "02:00"); row.Outcome != guard.Failed || row.RunTime != 0 {
		t.Errorf("row %+v: want Failed without a run time", row)
	}
	w.Runs.FailStart = nil
	w.At("02:01:01")
	if r := w.Tick(spec, "02:01"); !r.Started {
		t.Errorf("next tick %+v: want it started", r)
	}
}

func TestClaimThatNobodyStartedIsAbandonedByTheNextTick(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Spec("hourly", "cron(0 * * * ? *)")
	w.At("02:00:00")
	w.Runs.FailStart = errors.New("the process dies here")
	_, _ = w.Deliver(spec, "2026-09-07T02:00:00Z")
	w.Runs.FailStart = nil
	w.At("03:00:00")
	r := w.Tick(spec, "03:00")
	if row := w.Row("hourly", "02:00"); row.Outcome != guard.Abandoned {
		t.Errorf("row of 02:00 %+v: want Abandoned", row)
	}
	if !r.Started || w.Lines(`"Missed":1`) != 1 {
		t.Errorf("03:00 %+v, missed points %d: want it started and one miss", r, w.Lines(`"Missed":1`))
	}
}

func TestLateTickNeverStarts(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:16:00")
	r := w.Tick(spec, "02:00")
	if r.Result != "Expired" || w.Runs.Starts != 0 {
		t.Errorf("%+v after %d starts: want Expired and none", r, w.Runs.Starts)
	}
}

func TestAllowRunsBesideItselfAndCountsWhatLives(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("probe")
	spec.Overlap, spec.Beats = policy.Allow, false
	w.At("02:00:00")
	a := w.Tick(spec, "02:00")
	w.At("02:01:00")
	b := w.Tick(spec, "02:01")
	if !a.Started || !b.Started || w.Guard("probe").Live != 2 {
		t.Fatalf("%+v, %+v, live %d: want both running", a, b, w.Guard("probe").Live)
	}
	for range 2 { // reported twice, counted once
		if _, err := w.Succeed(a); err != nil {
			t.Fatal(err)
		}
	}
	if g := w.Guard("probe"); g.Live != 1 {
		t.Errorf("live %d, want 1", g.Live)
	}
	spec.Overlap = policy.Skip
	w.At("02:02:00")
	if r := w.Tick(spec, "02:02"); r.Result != "Skipped" {
		t.Errorf("%+v: want a run of policy allow to count as held after the change", r)
	}
}

func TestBusyStoreIsAnErrorAndNeverADuplicate(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	w.Store.Fail = func(guard.Commit) error { return guard.ErrBusy }
	if r, err := w.Deliver(spec, "2026-09-07T02:00:00Z"); !errors.Is(err, guard.ErrBusy) {
		t.Fatalf("%+v, %v: want the throttling back", r, err)
	}
	w.Store.Fail = nil
	if r := w.Tick(spec, "02:00"); !r.Started {
		t.Errorf("%+v: want the retry to start", r)
	}
}

func TestCommitWhoseAnswerWasLostIsRecognisedAsOnesOwn(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.Established(spec, "01:59")
	w.At("02:00:00")
	w.Store.Fail = func(c guard.Commit) error { // the store repeats what took effect already
		_ = w.Store.Store.Commit(t.Context(), c)
		return nil
	}
	if r := w.Tick(spec, "02:00"); r.Result != "Running" || !r.Started {
		t.Errorf("%+v: want the tick started, not taken for a duplicate of itself", r)
	}
}

func TestPanicIsAnErrorThatLambdaRetries(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.At("02:00:00")
	w.Store.Fail = func(guard.Commit) error { panic("boom") }
	if _, err := w.Deliver(spec, "2026-09-07T02:00:00Z"); err == nil || !strings.Contains(err.Error(), "panic: boom") {
		t.Errorf("error %v: want the panic", err)
	}
}

func TestTickThatWaitsIsLoggedWithWhatIsInItsWay(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	spec.Overlap = policy.QueueOne
	w.At("02:00:01")
	first := w.Tick(spec, "02:00")
	w.Out.Reset()
	w.At("02:01:01")
	if q := w.Tick(spec, "02:01"); q.Result != "Queued" {
		t.Fatalf("%+v: want it to wait", q)
	}
	for _, part := range []string{`"msg":"queued"`, `"outcome":"Queued"`, `"tick":"2026-09-07T02:01:00Z"`, `"why":"held"`, `"run":"` + first.Run + `"`, `"Skipped":0`} {
		if w.Lines(part) != 1 {
			t.Errorf("log %s: want %s in it once", w.Out.String(), part)
		}
	}
	w.Out.Reset()
	w.At("02:01:30")
	if _, err := w.Succeed(first); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"msg":"given the guard"`, `"outcome":"Running"`, `"why":"waited for the guard"`} {
		if w.Lines(part) != 1 {
			t.Errorf("log %s: want %s in it once", w.Out.String(), part)
		}
	}
}
