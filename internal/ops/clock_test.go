package ops_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
)

// act does what a preview tells of.
func (d *desk) act(a ops.Act) (err error) {
	ctx := d.t.Context()
	switch {
	case a.Run != nil:
		a.Run.Job = a.Job
		_, err = d.op.Run(ctx, *a.Run)
	case a.Pause != nil:
		a.Pause.Job = a.Job
		_, err = d.op.Pause(ctx, *a.Pause)
	case a.Resume:
		_, err = d.op.Resume(ctx, a.Job)
	case a.Release != nil:
		a.Release.Job = a.Job
		_, err = d.op.Release(ctx, *a.Release)
	case a.Backfill != nil:
		a.Backfill.Job = a.Job
		_, err = d.op.Backfill(ctx, *a.Backfill)
	case a.EndBacklog != nil:
		a.EndBacklog.Job = a.Job
		_, err = d.op.EndBacklog(ctx, *a.EndBacklog)
	}
	return err
}

func ahead(by time.Duration) ops.Clock { return func() (time.Duration, bool) { return by, true } }

// A job that is held, paused and has a backfill: every act has something to do.
func busy(t *testing.T) *desk {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:00")
	d.Tick(spec, "02:00")
	must(d.op.Backfill(t.Context(), ops.BackfillRequest{Job: "cleanup", From: testworld.Midnight, To: testworld.Midnight}))
	must(d.op.Pause(t.Context(), ops.PauseRequest{Job: "cleanup", By: "alice", Reason: "x"}))
	return d
}

func TestAWrongClockDecidesNoAct(t *testing.T) {
	for name, c := range map[string]struct {
		act    ops.Act
		passes bool
	}{
		"run":                  {ops.Act{Run: &ops.RunRequest{By: "alice"}}, false},
		"resume":               {ops.Act{Resume: true}, false},
		"release":              {ops.Act{Release: &ops.ReleaseRequest{By: "alice", Reason: "x"}}, false},
		"backfill":             {ops.Act{Backfill: &ops.BackfillRequest{From: testworld.Midnight, To: testworld.Midnight}}, false},
		"pause with an end":    {ops.Act{Pause: &ops.PauseRequest{By: "alice", Reason: "x", For: time.Hour}}, false},
		"pause without an end": {ops.Act{Pause: &ops.PauseRequest{By: "alice", Reason: "x"}}, true},
		"the backfill's end":   {ops.Act{EndBacklog: &ops.EndBacklogRequest{By: "alice", Reason: "x"}}, true},
	} {
		c.act.Job = "cleanup"
		for off, want := range map[time.Duration]string{
			4 * time.Minute:           "this machine's clock is 4m0s ahead of that of DynamoDB, and may be off by 5s at the most",
			-5_600 * time.Millisecond: "this machine's clock is 6s behind that of DynamoDB",
		} {
			d := busy(t)
			d.Store.Reset()
			d.op.Clock = ahead(off)
			_, preview := d.op.Preview(t.Context(), c.act)
			err := d.act(c.act)
			var refused *guard.Refusal
			if c.passes {
				if err != nil || preview != nil {
					t.Errorf("%s, %v: %v, previewed %v: want it done by any clock", name, off, err, preview)
				}
				continue
			}
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "let NTP set it") || d.Store.Commits != 0 {
				t.Errorf("%s, %v: %v with %d writes, want %q", name, off, err, d.Store.Commits, want)
			}
			if preview == nil || preview.Error() != err.Error() {
				t.Errorf("%s: previewed %v", name, preview)
			}
		}
	}
}

func TestAClockWithinHalfTheMarginOrUnknownActs(t *testing.T) {
	for name, clock := range map[string]ops.Clock{
		"the most that is let through": ahead(guard.Margin / 2), "as far behind": ahead(-guard.Margin / 2),
		"nothing known": func() (time.Duration, bool) { return time.Hour, false },
	} {
		d := busy(t)
		d.op.Clock = clock
		if err := d.act(ops.Act{Job: "cleanup", Resume: true}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDoctorFindsAWrongClockAndReadsGoOn(t *testing.T) {
	d := busy(t)
	d.op.Around = &around{deployed: map[string]bool{"cleanup": true}}
	for _, c := range []struct {
		clock            ops.Clock
		found, unchecked int
	}{{ahead(time.Minute), 1, 0}, {ahead(time.Second), 0, 0}, {func() (time.Duration, bool) { return 0, false }, 0, 1}, {nil, 0, 0}} {
		d.op.Clock = c.clock
		x := d.doctor()
		if n := strings.Count(kinds(x), ops.FoundClock); n != c.found || len(x.Unchecked) != c.unchecked {
			t.Errorf("%s, unchecked %+v: want %d and %d", kinds(x), x.Unchecked, c.found, c.unchecked)
		}
		must(d.op.Status(t.Context(), "cleanup"))
	}
}
