package engine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// outage is a job of every ten minutes that was well at 02:00 and got no tick until 04:30.
func outage(t *testing.T, c policy.CatchUp, maximum int) (*testworld.World, schema.Spec) {
	w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "cron(0/10 * * * ? *)")
	spec.CatchUp, spec.CatchUpMax = c, maximum
	w.Established(spec, "02:00")
	w.At("04:30:05")
	return w, spec
}

func gapsOf(t *testing.T, w *testworld.World) []guard.Gap {
	t.Helper()
	gaps, err := w.Store.Store.Gaps(t.Context(), "cleanup", "0", "9", 0)
	if err != nil {
		t.Fatal(err)
	}
	return gaps
}

func TestOutageIsOneGapBeforeWhatComesAfterIt(t *testing.T) {
	w, spec := outage(t, policy.CatchUpNone, 0)
	if r := w.Tick(spec, "04:30"); !r.Started {
		t.Fatalf("%+v: want the first tick after the outage started", r)
	}
	gaps := gapsOf(t, w)
	if len(gaps) != 1 || gaps[0].Count != 13 || gaps[0].From.String() != "2026-09-07T02:10:00Z" || gaps[0].To.String() != "2026-09-07T04:10:00Z" {
		t.Errorf("gaps %v: want 02:10 to 04:10 as one; 04:20 may still come", gaps)
	}
	if w.Lines(`"Missed":13`) != 1 {
		t.Error("want the missed ticks counted once")
	}
	if w.Lines(`"Failed":1`) != 0 || w.Lines(`"Succeeded":1`) != 1 {
		t.Error("a missed tick counts as neither failed nor succeeded")
	}
	if r := w.Tick(spec, "03:00"); r.Result != "Duplicate" {
		t.Errorf("%+v: a tick in a gap was decided", r)
	}
	w.Sweep("cleanup")
	if got := gapsOf(t, w); len(got) != 1 {
		t.Errorf("gaps %v: want none twice", got)
	}
}

func TestMissedTicksAreCaughtUpWithOneByOneBehindPlannedOnes(t *testing.T) {
	for name, c := range map[string]struct {
		catchUp policy.CatchUp
		max     int
		want    []string
	}{
		"none":   {policy.CatchUpNone, 0, nil},
		"latest": {policy.CatchUpLatest, 0, []string{"04:10"}},
		"all":    {policy.CatchUpAll, 3, []string{"03:50", "04:00", "04:10"}},
	} {
		w, spec := outage(t, c.catchUp, c.max)
		planned := w.Tick(spec, "04:30")
		w.Sweep("cleanup")
		if w.Runs.Started != 2 {
			t.Fatalf("%s: %d executions: the planned tick goes first", name, w.Runs.Started)
		}
		w.At("04:31:00")
		must(t)(w.Succeed(planned))
		var ran []string
		for range 5 {
			g := w.Guard("cleanup")
			if g.Run == nil {
				break
			}
			row := w.RowOf("cleanup", g.Run.Tick)
			if row.Kind != guard.CatchUp || row.Tick != guard.TickID(guard.CatchUp, row.At) || row.Interval != 600 {
				t.Fatalf("%s: row %+v", name, row)
			}
			ran = append(ran, row.At.Time().Format("15:04"))
			must(t)(w.Succeed(runOf(*row)))
		}
		if diff := cmp.Diff(c.want, ran); diff != "" {
			t.Errorf("%s: caught up with (-want +got):\n%s", name, diff)
		}
		if g := w.Guard("cleanup"); g.Backlog != nil {
			t.Errorf("%s: backlog %+v is left", name, g.Backlog)
		}
	}
}

func TestSweepStartsWhatIsToBeCaughtUpWith(t *testing.T) {
	w, _ := outage(t, policy.CatchUpLatest, 0)
	w.Sweep("cleanup")
	g := w.Guard("cleanup")
	if g.Run == nil || g.Run.Tick != "catchup-2026-09-07T04:00:00Z" && g.Run.Tick != "catchup-2026-09-07T04:10:00Z" || w.Runs.Started != 2 {
		t.Fatalf("guard %+v, %d executions", g, w.Runs.Started)
	}
	for range 3 { // repeated at will
		w.Sweep("cleanup")
	}
	if w.Runs.Started != 2 || len(gapsOf(t, w)) != 1 {
		t.Errorf("%d executions, gaps %v: want no effect twice", w.Runs.Started, gapsOf(t, w))
	}
}

func TestTickThatCameAfterAllIsNotCaughtUpWith(t *testing.T) {
	w, spec := outage(t, policy.CatchUpAll, 3)
	w.At("02:30:00")
	late := w.Tick(spec, "02:30")
	must(t)(w.Succeed(late))
	w.At("03:30:00")
	w.Sweep("cleanup")
	for range 6 {
		if g := w.Guard("cleanup"); g.Run != nil {
			if g.Run.Tick == "catchup-2026-09-07T02:30:00Z" {
				t.Error("a tick on record was run again")
			}
			must(t)(w.Succeed(runOf(*w.RowOf("cleanup", g.Run.Tick))))
		}
	}
}

func TestMonthsOutageCostsAFewRequests(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Minutely("cleanup")
	w.Established(spec, "02:00")
	w.Clock = w.Clock.Add(30 * 24 * time.Hour)
	w.Store.Reset()
	start := time.Now()
	w.Sweep("cleanup")
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if n := w.Store.Reset(); n > 3 {
		t.Errorf("%d requests to account for a month", n)
	}
	if gaps := gapsOf(t, w); len(gaps) != 1 || gaps[0].Count != 30*24*60-21 { // the last 20 minutes may still come
		t.Errorf("gaps %v", gaps)
	}
}

func TestEditedScheduleMakesNothingRetroactive(t *testing.T) {
	w, spec := testworld.New(t, nil), testworld.Spec("cleanup", "cron(0 1 * * ? *)")
	w.Established(spec, "01:00")
	w.At("12:00:00")
	spec.Schedule = "cron(0 5 * * ? *)"
	if err := w.Engine().Introduce(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	for _, clock := range []string{"12:01:00", "23:30:00"} {
		w.At(clock)
		w.Sweep("cleanup")
	}
	if gaps := gapsOf(t, w); len(gaps) != 0 || w.Runs.Started != 1 {
		t.Errorf("gaps %v, %d executions: 05:00 of today was never expected", gaps, w.Runs.Started)
	}
	w.Clock = testworld.Midnight.Add(29 * time.Hour) // tomorrow 05:00
	r := must(t)(w.Deliver(spec, "2026-09-08T05:00:00Z"))
	w.Clock = testworld.Midnight.Add(54 * time.Hour)
	w.Sweep("cleanup")
	if gaps := gapsOf(t, w); len(gaps) != 1 || gaps[0].Count != 1 || gaps[0].To.String() != "2026-09-09T05:00:00Z" {
		t.Errorf("%+v, gaps %v: want the first tick that did not come", r, gaps)
	}
}
