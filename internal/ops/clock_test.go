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

func between(least, most time.Duration) ops.Clock {
	return func() (ops.Ahead, bool) { return ops.Ahead{Least: least, Most: most}, true }
}

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
		for off, want := range map[ops.Ahead]string{
			{Least: 4*time.Minute - 12*time.Second, Most: 4 * time.Minute}:    "this machine's clock is at least 3m48s ahead of that of DynamoDB, and may be off by 5s at the most",
			{Least: -7 * time.Second, Most: -5_690 * time.Millisecond}:        "this machine's clock is at least 5.6s behind that of DynamoDB",
			{Least: 5_001 * time.Millisecond, Most: 6_001 * time.Millisecond}: "this machine's clock is at least 5s ahead of",
			{Least: -time.Minute, Most: -5*time.Second - 1*time.Millisecond}:  "this machine's clock is at least 5s behind",
		} {
			d := busy(t)
			d.Store.Reset()
			d.op.Clock = between(off.Least, off.Most)
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

func TestAClockThatMayBeRightActs(t *testing.T) {
	const limit = guard.Margin / 2
	for name, c := range map[string]struct {
		clock ops.Clock
		reads int // of the guard before the act: one more where the first leaves it open
	}{
		"exact":                        {between(-time.Second, 0), 1},
		"the most that is let through": {between(limit-time.Second, limit), 1},
		"as far behind":                {between(-limit, -limit+time.Second), 1},
		"perhaps too far ahead":        {between(limit, limit+time.Second), 2},
		"perhaps too far behind":       {between(-limit-time.Second, -limit), 2},
		"slow answers, right or not":   {between(-12*time.Second, 11*time.Second), 2},
		"no Date":                      {func() (ops.Ahead, bool) { return ops.Ahead{Least: time.Hour, Most: time.Hour}, false }, 1},
		"that of the records":          {nil, 1},
	} {
		base := busy(t)
		base.Store.Reset()
		if err := base.act(ops.Act{Job: "cleanup", Resume: true}); err != nil {
			t.Fatal(err)
		}
		d := busy(t)
		d.Store.Reset()
		d.op.Clock = c.clock
		if err := d.act(ops.Act{Job: "cleanup", Resume: true}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := d.Store.Reads - base.Store.Reads + 1; got != c.reads {
			t.Errorf("%s: %d reads of the guard, want %d", name, got, c.reads)
		}
	}
}

// The connection took 11 s, and the answer over it a moment: the second read knows better.
func TestASlowConnectionIsReadOverOnceMore(t *testing.T) {
	slow := ops.Ahead{Least: -12 * time.Second, Most: 11 * time.Second}
	for name, c := range map[string]struct {
		second  ops.Ahead
		refused bool
	}{
		"right":  {ops.Ahead{Least: -time.Second, Most: 10 * time.Millisecond}, false},
		"ahead":  {ops.Ahead{Least: 8 * time.Second, Most: 9 * time.Second}, true},
		"behind": {ops.Ahead{Least: -9 * time.Second, Most: -8 * time.Second}, true},
	} {
		d := busy(t)
		d.Store.Reset()
		d.op.Clock = func() (ops.Ahead, bool) {
			if d.Store.Reads < 2 {
				return slow, true
			}
			return c.second, true
		}
		err := d.act(ops.Act{Job: "cleanup", Resume: true})
		var refused *guard.Refusal
		if errors.As(err, &refused) != c.refused || !c.refused && err != nil {
			t.Errorf("%s: %v, want it refused: %v", name, err, c.refused)
		}
	}
}

func TestDoctorFindsAWrongClockAndReadsGoOn(t *testing.T) {
	d := busy(t)
	d.op.Around = &around{deployed: map[string]bool{"cleanup": true}}
	for _, c := range []struct {
		clock     ops.Clock
		found     int
		unchecked string
	}{
		{between(time.Minute, time.Minute+time.Second), 1, ""},
		{between(0, time.Second), 0, ""},
		{between(-12*time.Second, 11*time.Second), 0, "DynamoDB's last answer tells only that it is between -12s and 11s ahead"},
		{func() (ops.Ahead, bool) { return ops.Ahead{}, false }, 0, "no answer of DynamoDB has a date"},
		{nil, 0, ""},
	} {
		d.op.Clock = c.clock
		x := d.doctor()
		why := ""
		for _, u := range x.Unchecked {
			why += u.Why
		}
		if n := strings.Count(kinds(x), ops.FoundClock); n != c.found || why != c.unchecked {
			t.Errorf("%s, unchecked %+v: want %d and %q", kinds(x), x.Unchecked, c.found, c.unchecked)
		}
		must(d.op.Status(t.Context(), "cleanup"))
	}
}
