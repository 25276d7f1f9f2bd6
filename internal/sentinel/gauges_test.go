package sentinel_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/sentinel"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestOverdueCountsFromTheExpectedSuccess(t *testing.T) {
	midnight := schema.MillisOf(testworld.Midnight) // a Monday
	hour := time.Hour
	at := func(d time.Duration) guard.Millis { return midnight.Add(d) }
	for name, c := range map[string]struct {
		expression string
		change     func(*guard.Guard)
		expected   time.Duration // after midnight
	}{
		// A maximum run time of an hour, a start deadline of 15 minutes and 5 of grace.
		"hourly":                       {"cron(0 * * * ? *)", func(g *guard.Guard) { g.LastSuccessAt = at(40 * time.Minute) }, 2*hour + 20*time.Minute},
		"minutely: two intervals late": {"cron(* * * * ? *)", func(g *guard.Guard) { g.LastSuccessAt = at(40 * time.Second) }, hour + 3*time.Minute},
		"weekly":                       {"cron(0 6 ? * SUN *)", func(g *guard.Guard) { g.LastSuccessAt = at(-17 * hour) }, 6*24*hour + 7*hour + 20*time.Minute},
		"monthly":                      {"cron(0 6 1 * ? *)", func(g *guard.Guard) { g.LastSuccessAt = at(-6*24*hour + 7*hour) }, 24*24*hour + 7*hour + 20*time.Minute},
		"never succeeded":              {"cron(0 * * * ? *)", func(g *guard.Guard) { g.SpecSince = at(10 * time.Minute) }, 2*hour + 20*time.Minute},
		"changed since":                {"cron(0 * * * ? *)", func(g *guard.Guard) { g.LastSuccessAt, g.SpecSince = at(-9*hour), at(10*time.Minute) }, 2*hour + 20*time.Minute},
		"changed since, with a tick before that came to nothing": {"cron(0 6 1 * ? *)", func(g *guard.Guard) {
			g.LastSuccessAt, g.LastTick, g.SpecSince = at(-37*24*hour), at(-6*24*hour+6*hour), at(10*time.Minute)
		}, -6*24*hour + 7*hour + 20*time.Minute},
		"changed since, after a success of the tick before": {"cron(0 6 1 * ? *)", func(g *guard.Guard) {
			g.LastSuccessAt, g.LastTick, g.SpecSince = at(-6*24*hour+7*hour), at(-6*24*hour+6*hour), at(10*time.Minute)
		}, 24*24*hour + 7*hour + 20*time.Minute},
		"away between": {"cron(0 * * * ? *)", func(g *guard.Guard) {
			g.LastSuccessAt, g.LastTick, g.SpecSince = at(-90*hour), at(-80*hour), at(10*time.Minute)
		}, 2*hour + 20*time.Minute},
		"changed since, and paused at the tick before": {"cron(0 6 1 * ? *)", func(g *guard.Guard) {
			g.LastSuccessAt, g.LastTick, g.ResumedAt, g.SpecSince = at(-37*24*hour), at(-6*24*hour+6*hour), at(-2*24*hour), at(10*time.Minute)
		}, 24*24*hour + 7*hour + 20*time.Minute},
		"resumed since": {"cron(0 * * * ? *)", func(g *guard.Guard) { g.LastSuccessAt, g.ResumedAt = at(-90*hour), at(10*time.Minute) }, 2*hour + 20*time.Minute},
		"pause that lapsed": {"cron(0 * * * ? *)", func(g *guard.Guard) {
			g.LastSuccessAt, g.Paused = at(-90*hour), &guard.Pause{Until: at(10 * time.Minute)}
		}, 2*hour + 20*time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			spec := testworld.Spec("job", c.expression)
			g := guard.Guard{Job: "job", Spec: &spec, SpecHash: spec.Hash(), SpecSince: at(-400 * 24 * hour)}
			c.change(&g)
			late, expected, ok := sentinel.Overdue(g, at(c.expected+90*time.Second))
			if !ok || expected != at(c.expected) || late != 90*time.Second {
				t.Errorf("expected by %v, %v late, %v: want %v, 1m30s", expected, late, ok, at(c.expected))
			}
			if late, _, _ := sentinel.Overdue(g, at(c.expected)); late != 0 {
				t.Errorf("%v late when it is due: want 0", late)
			}
		})
	}
}

func TestNothingIsOverdueWhereNothingIsExpected(t *testing.T) {
	now := schema.MillisOf(testworld.Midnight)
	spec := testworld.Minutely("job")
	g := guard.Guard{Job: "job", Spec: &spec, SpecHash: spec.Hash(), SpecSince: 1, LastSuccessAt: 1}
	paused := g
	paused.Paused = &guard.Pause{Until: now + 1}
	if late, expected, ok := sentinel.Overdue(paused, now); late != 0 || expected != 0 || !ok {
		t.Errorf("paused: %v, %v, %v: want a gauge of 0", late, expected, ok)
	}
	over := spec
	over.End = "2026-09-01T00:00:00Z"
	ended := g
	ended.Spec, ended.SpecHash, ended.LastSuccessAt = &over, over.Hash(), now
	if late, _, ok := sentinel.Overdue(ended, now.Add(time.Hour)); late != 0 || !ok {
		t.Errorf("schedule that ended: %v, %v: want a gauge of 0", late, ok)
	}
	gone := g
	gone.SpecHash = ""
	if _, _, ok := sentinel.Overdue(gone, now); ok {
		t.Error("removed job: want no gauge")
	}
}

// overdue reads the gauge's points from the log.
func (r *rig) overdue() map[string][]float64 {
	points := map[string][]float64{}
	for line := range bytes.Lines(r.Out.Bytes()) {
		var l struct {
			Job     string
			Overdue *float64
			AWS     map[string]any `json:"_aws"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			r.t.Fatal(err)
		}
		if l.Overdue != nil && l.AWS != nil {
			points[l.Job] = append(points[l.Job], *l.Overdue)
		}
	}
	return points
}

func TestEverySweepPublishesOnePointAJob(t *testing.T) {
	spec, other := testworld.Minutely("cleanup"), testworld.Spec("hourly", "cron(0 * * * ? *)")
	r := newRig(t, deploy(spec, other))
	r.Established(spec, "02:00")
	for _, clock := range []string{"02:01:00", "02:02:00", "03:05:00"} {
		r.sweep(clock)
	}
	// Expected by 02:01 + 1 h + two intervals.
	if got := r.overdue()["cleanup"]; len(got) != 3 || got[0] != 0 || got[1] != 0 || got[2] != 120 {
		t.Errorf("cleanup: %v: want 0, 0, 120", got)
	}
	if got := r.overdue()["hourly"]; len(got) != 3 {
		t.Errorf("job that never ticked: %v: want a point a sweep", got)
	}
}
