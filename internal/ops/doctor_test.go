package ops_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// around is surroundings in which all is well, but for what a test changes.
type around struct {
	deployed map[string]bool
	changed  map[string]time.Time
	noList   error
	events   int64
	lines    []ops.LogLine
	asked    ops.Work
}

func (a *around) Deployed(context.Context) (ops.Deployed, error) {
	return ops.Deployed{Ticks: a.deployed, Changed: a.changed, Forget: func(job string) string { return "forget " + job }}, a.noList
}
func (a *around) Examine(context.Context, *ops.Diagnosis) {}
func (a *around) Events(context.Context, string) (int64, error) {
	if a.events < 0 {
		return 0, errors.New("no histories here")
	}
	return a.events, nil
}

func (a *around) Logs(_ context.Context, w ops.Work, l *ops.Logs) error {
	a.asked, l.Lines = w, a.lines
	return nil
}

func (d *desk) doctor() ops.Diagnosis {
	d.t.Helper()
	x, err := d.op.Doctor(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return x
}

func kinds(x ops.Diagnosis) string {
	var all []string
	for _, f := range x.Findings {
		all = append(all, f.Kind)
	}
	return strings.Join(all, " ")
}

// change sets fields of cleanup's guard behind everybody's back.
func (d *desk) change(set ...guard.Field) {
	d.t.Helper()
	const job = "cleanup"
	err := d.Store.Store.Commit(d.t.Context(), guard.Commit{Job: job, Token: "change", Writes: []guard.Write{{
		SK: schema.GuardSK, If: []guard.Cond{{Field: "version", Op: guard.Is, Value: d.Guard(job).Version}}, Patch: guard.Patch{Set: set},
	}}})
	if err != nil {
		d.t.Fatal(err)
	}
}

// What the doctor finds in the records: nothing while there is time for the sentinel to see to
// it, and one thing afterwards, with a fix.
func TestDoctorFindsWhatTheSentinelShouldHaveSeenTo(t *testing.T) {
	held := func(d *desk, spec schema.Spec) {
		d.Established(spec, "01:59")
		d.At("02:00:00")
		d.Tick(spec, "02:00")
	}
	for _, tt := range []struct {
		name, kind, fix string
		prepare         func(d *desk, spec schema.Spec)
		soon, late      string // nothing is found, it is found
	}{
		{"a lease is over", ops.FoundExpiredHolder, "cronfence release cleanup --run cleanup-20260907T020000Z-1 --reason", held, "02:04:00", "02:06:00"},
		{"the execution ended unseen", ops.FoundEndedHolder, "cronfence release", func(d *desk, spec schema.Spec) {
			held(d, spec)
			d.Runs.End("cleanup-20260907T020000Z-1", machine.Failed, "")
			d.change(guard.Field{Name: "leaseUntil", Value: schema.MillisOf(testworld.Midnight.Add(9 * time.Hour))})
		}, "02:03:00", "02:04:00"},
		{"the execution never was", ops.FoundEndedHolder, "cronfence release", func(d *desk, spec schema.Spec) {
			d.Established(spec, "01:59")
			d.At("02:00:00")
			d.Runs.FailStart = errors.New("throttled")
			_, _ = d.Deliver(spec, "2026-09-07T02:00:00Z")
			d.change(guard.Field{Name: "leaseUntil", Value: schema.MillisOf(testworld.Midnight.Add(9 * time.Hour))})
		}, "02:04:00", "02:05:00"},
		{"a stop is not heeded", ops.FoundUnheededStop, "cronfence logs", func(d *desk, spec schema.Spec) {
			held(d, spec)
			d.Runs.Deaf = true
			must(d.op.Release(d.t.Context(), ops.ReleaseRequest{Job: "cleanup", By: "a", Reason: "b"}))
		}, "02:04:00", "02:06:00"},
		{"a guard is not made ready", ops.FoundBlockedGuard, "sentinel", func(d *desk, spec schema.Spec) {
			d.Established(spec, "01:59")
			d.change(guard.Field{Name: "ready", Value: false}, guard.Field{Name: "readyAt", Value: schema.MillisOf(d.At("02:00:00"))})
		}, "02:02:00", "02:04:00"},
		{"a tick waits for nobody", ops.FoundStuckWaiting, "sentinel", func(d *desk, spec schema.Spec) {
			d.Established(spec, "01:59")
			now := schema.MillisOf(d.At("02:00:00"))
			d.change(guard.Field{Name: "waiting", Value: &guard.Waiting{
				Tick: "2026-09-07T02:00:00Z", Planned: now, Kind: guard.Scheduled, Since: now, Deadline: now.Add(time.Hour), Why: "queue",
			}})
		}, "02:02:00", "02:04:00"},
		{"a backlog stands still", ops.FoundStuckBacklog, "sentinel", func(d *desk, spec schema.Spec) {
			d.Established(spec, "01:59")
			now := schema.MillisOf(d.At("02:00:00"))
			d.change(guard.Field{Name: "backlog", Value: &guard.Backlog{Kind: guard.Backfill, Next: now - 3_600_000, To: now, Left: 3, Until: now.Add(time.Hour)}})
		}, "02:01:00", "02:04:00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			d.op.Around = &around{deployed: map[string]bool{"cleanup": true}}
			spec := testworld.Spec("cleanup", "cron(0 0 * * ? *)")
			tt.prepare(d, spec)
			d.At(tt.soon)
			if x := d.doctor(); len(x.Findings) > 0 {
				t.Errorf("at %s: got %+v, want nothing", tt.soon, x.Findings)
			}
			d.At(tt.late)
			x := d.doctor()
			if len(x.Findings) != 1 || x.Findings[0].Kind != tt.kind || x.Findings[0].Job != "cleanup" || !strings.Contains(x.Findings[0].Fix, tt.fix) {
				t.Errorf("at %s: got %+v, want %s", tt.late, x.Findings, tt.kind)
			}
			if !strings.HasPrefix(tt.fix, "cronfence release") {
				return
			}
			must(d.op.Release(t.Context(), ops.ReleaseRequest{Job: "cleanup", By: "alice", Reason: "as doctor says"}))
			if x := d.doctor(); len(x.Findings) > 0 || d.Guard("cleanup").Run != nil {
				t.Errorf("after the fix: got %+v, held by %+v", x.Findings, d.Guard("cleanup").Run)
			}
		})
	}
}

func TestDoctorFindsJobsThatRunLong(t *testing.T) {
	d := newDesk(t)
	a := &around{deployed: map[string]bool{"cleanup": true}}
	d.op.Around = a
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:00")
	d.Tick(spec, "02:00")
	d.At("02:00:40")
	if x := d.doctor(); len(x.Findings) > 0 {
		t.Errorf("after two thirds of the interval: got %+v", x.Findings)
	}
	d.At("02:00:50")
	if x := d.doctor(); kinds(x) != ops.FoundHighRatio || !strings.Contains(x.Findings[0].Fix, "--history <(cronfence history cleanup --json)") {
		t.Errorf("after 50 s of 60: got %+v", x.Findings)
	}
	a.events = 20_000
	if x := d.doctor(); kinds(x) != ops.FoundHistoryLimit+" "+ops.FoundHighRatio {
		t.Errorf("with 20,000 events: got %+v", x.Findings)
	}
	if a.events = -1; len(d.doctor().Unchecked) != 1 {
		t.Errorf("without histories: got %+v", d.doctor().Unchecked)
	}
	long := testworld.Spec("long", "cron(0 0 * * ? *)")
	long.RenewalSeconds, long.MaxRunSeconds, long.MachineTimeoutSeconds = 10, 86_400, 86_500
	d.Established(long, "02:01")
	a.deployed["long"] = true
	if x := d.doctor(); !slices.ContainsFunc(x.Findings, func(f ops.Finding) bool {
		return f.Kind == ops.FoundHistoryLimit && f.Job == "long" && strings.Contains(f.Fix, "Renewal to 1m5s")
	}) {
		t.Errorf("a day of beats every 10 s: got %+v", x.Findings)
	}
}

func TestDoctorComparesGuardsWithSchedules(t *testing.T) {
	d := newDesk(t)
	a := &around{deployed: map[string]bool{"report": true}}
	d.op.Around = a
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	x := d.doctor()
	if kinds(x) != ops.FoundUnknownJob+" "+ops.FoundOrphanedGuard || !strings.Contains(x.Findings[1].Fix, "forget cleanup") || x.Jobs != 1 {
		t.Errorf("got %+v", x)
	}
	a.changed = map[string]time.Time{"report": d.Clock.Add(-time.Minute)}
	if x := d.doctor(); kinds(x) != ops.FoundOrphanedGuard {
		t.Errorf("a minute after the deployment: got %+v", x)
	}
	a.deployed, a.noList = nil, errors.New("AccessDenied")
	if x := d.doctor(); len(x.Findings) > 0 || len(x.Unchecked) != 1 || x.Unchecked[0].Why != "AccessDenied" {
		t.Errorf("without a list nothing is an orphan: got %+v", x)
	}
}

// What previews say is what the acts then do, and they write nothing.
func TestPreviewsWriteNothingAndRefuseWhatTheActsRefuse(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:30")
	ctx := t.Context()
	acts := map[string]ops.Act{
		"run":      {Job: "cleanup", Run: &ops.RunRequest{By: "alice"}},
		"pause":    {Job: "cleanup", Pause: &ops.PauseRequest{By: "alice", Reason: "x", For: time.Hour}},
		"resume":   {Job: "cleanup", Resume: true},
		"release":  {Job: "cleanup", Release: &ops.ReleaseRequest{By: "alice", Reason: "x"}},
		"backfill": {Job: "cleanup", Backfill: &ops.BackfillRequest{From: testworld.Midnight, To: testworld.Midnight.Add(time.Hour)}},
	}
	check := func(state string, want map[string]string) {
		t.Helper()
		before := d.Guard("cleanup")
		for name, act := range acts {
			p, err := d.op.Preview(ctx, act)
			text := strings.Join(p.Would, "; ")
			if err != nil {
				text = "refused: " + err.Error()
			}
			if !strings.Contains(text, want[name]) || want[name] == "" {
				t.Errorf("%s, %s: got %q, want %q", state, name, text, want[name])
			}
		}
		if after := d.Guard("cleanup"); after.Version != before.Version || d.Store.Commits != 0 {
			t.Errorf("%s: version %d became %d, %d writes", state, before.Version, after.Version, d.Store.Commits)
		}
	}
	d.Store.Reset()
	check("free", map[string]string{
		"run": "takes the guard of cleanup and starts", "pause": "cleanup is paused until 2026-09-07T03:00:30Z", "resume": "refused: job cleanup is not paused",
		"release": "refused: no run holds the guard", "backfill": "61 ticks of cleanup, from 2026-09-07T00:00:00Z to 2026-09-07T01:00:00Z",
	})
	d.run("cleanup")
	d.At("02:00:31")
	must(d.op.Pause(ctx, ops.PauseRequest{Job: "cleanup", By: "alice", Reason: "x", For: time.Hour}))
	must(d.op.Backfill(ctx, ops.BackfillRequest{Job: "cleanup", From: testworld.Midnight, To: testworld.Midnight}))
	d.Store.Reset()
	check("held, paused and with a backfill", map[string]string{
		"run": "refused: job cleanup is paused by", "pause": "goes on", "resume": "cleanup is resumed", "release": "is marked, renews no lease and is stopped",
		"backfill": "refused: job cleanup has a backfill under way",
	})
}

func TestLogsAreThoseOfTheTimeOfARun(t *testing.T) {
	d := newDesk(t)
	a := &around{lines: []ops.LogLine{{Text: "hello"}}}
	d.op.Around = a
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:00")
	r := d.Tick(spec, "02:00")
	d.At("02:01:00")
	d.Tick(spec, "02:01") // skipped
	l, err := d.op.Logs(t.Context(), ops.LogQuery{Job: "cleanup"})
	if err != nil || l.Run != r.Run || l.Until != d.Clock || len(l.Lines) != 1 || a.asked.MachineARN != spec.Machine {
		t.Errorf("of the newest run: got %+v, %v", l, err)
	}
	if _, err := d.Succeed(r); err != nil {
		t.Fatal(err)
	}
	d.At("03:00:00")
	l, err = d.op.Logs(t.Context(), ops.LogQuery{Job: "cleanup", Tick: r.Tick})
	if err != nil || l.From.After(testworld.Midnight.Add(2*time.Hour)) || l.Until.After(testworld.Midnight.Add(2*time.Hour+2*time.Minute)) {
		t.Errorf("of a run that ended: got %v to %v, %v", l.From, l.Until, err)
	}
	if _, err := d.op.Logs(t.Context(), ops.LogQuery{Job: "cleanup", Tick: "2026-09-07T02:01:00Z"}); err == nil || !strings.Contains(err.Error(), "is Skipped and had no run") {
		t.Errorf("of a skipped tick: got %v", err)
	}
}
