package alarmtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// random makes a history of one of the example's jobs in which runs overrun, fail, hang and
// reach their maximum run time, and ticks get lost.
func random(spec schema.Spec, interval time.Duration, ticks int, rng *rand.Rand) History {
	runs := map[time.Time]Run{}
	lost := map[time.Time]bool{}
	bad := rng.Float64() / 2 // of some histories little goes wrong, of some much
	from := rng.IntN(ticks)
	to := from + rng.IntN(ticks)/2 // and in some for long
	worst := rng.IntN(4)
	for i := range ticks {
		at := monday.Add(time.Duration(i) * interval)
		share := 0.05 + 0.5*rng.Float64()
		run := Run{}
		switch p := rng.Float64(); {
		case p < bad*0.4:
			share = 0.6 + 2.5*rng.Float64()
		case p < bad*0.6:
			run.Fails = true
		case p < bad*0.7:
			run.Hangs = true
		}
		if from <= i && i < to {
			switch worst {
			case 0:
				run.Fails = true
			case 1:
				share = 2 + 2*rng.Float64()
			case 2:
				share = 0.7 + 0.2*rng.Float64()
			}
		}
		run.Takes = time.Duration(share * float64(interval)).Truncate(time.Second)
		runs[at] = run
		lost[at] = rng.Float64() < bad*0.3 || worst == 3 && from <= i && i < to
	}
	return History{
		Spec: spec, From: monday, To: monday.Add(time.Duration(ticks) * interval),
		Run: func(tick time.Time) Run { return runs[tick] }, Lost: func(tick time.Time) bool { return lost[tick] },
	}
}

// oracle knows from the ledger what the alarms of a job must be, without points, periods and
// data points: in the words of docs/jobs.md.
type oracle struct {
	h        History
	interval time.Duration
	rows     []guard.Row // planned ticks, in order
}

func newOracle(t *testing.T, h History, interval time.Duration, r *Replayed) *oracle {
	t.Helper()
	o := &oracle{h: h, interval: interval}
	page, err := r.World.Store.Rows(context.Background(), guard.RowQuery{Job: h.Spec.Job, Limit: 10_000})
	if err != nil || page.Next != "" {
		t.Fatalf("ledger: %v", err)
	}
	o.rows = page.Rows
	return o
}

// failed: from a failure on until the next success.
func (o *oracle) failed(now time.Time) bool {
	type ending struct {
		at     time.Time
		failed bool
	}
	var all []ending
	for _, row := range o.rows {
		at := minuteAfter(row.EndedAt.Time())
		switch row.Outcome {
		case guard.Succeeded:
			all = append(all, ending{at, false})
		case guard.Failed, guard.TimedOut, guard.Aborted, guard.LeaseLost:
			all = append(all, ending{at, true})
		default: // no run that failed or succeeded
		}
	}
	slices.SortStableFunc(all, func(a, b ending) int { return a.at.Compare(b.at) })
	is, since := false, time.Time{}
	for _, e := range all {
		if e.at.After(now) {
			break
		}
		// A failure outweighs a success of the same minute.
		is = e.failed || is && e.at.Equal(since)
		since = e.at
	}
	return is
}

// skips: the last three ticks that were decided, of the last five, were skipped.
func (o *oracle) skips(now time.Time) bool {
	inRow := 0
	last := now.Add(-deliveryTakes).Truncate(o.interval)
	if now.Sub(last) < time.Minute { // this minute's is seen at its end
		last = last.Add(-o.interval)
	}
	for i := range 5 {
		row, there := o.row(last.Add(-time.Duration(i) * o.interval))
		if !there {
			continue
		}
		if row.Outcome != guard.Skipped {
			return false
		}
		if inRow++; inRow == 3 {
			return true
		}
	}
	return false
}

func (o *oracle) row(tick time.Time) (guard.Row, bool) {
	i, found := slices.BinarySearchFunc(o.rows, schema.TickID(tick), func(r guard.Row, id string) int { return strings.Compare(r.Tick, id) })
	if !found {
		return guard.Row{}, false
	}
	return o.rows[i], true
}

// overdue: five sweeps in a row found no success where one was due.
func (o *oracle) overdue(now time.Time) bool {
	for i := range 5 {
		sweep := now.Add(-time.Minute + sweepsAt - time.Duration(i)*time.Minute)
		since := o.h.From.Add(sweepsAt) // the job is known since the first sweep, or its first tick
		if _, there := o.row(o.h.From); there {
			since = o.h.From.Add(deliveryTakes)
		}
		if sweep.Before(since) {
			return false
		}
		for _, row := range o.rows {
			if at := row.EndedAt.Time(); row.Outcome == guard.Succeeded && at.After(since) && at.Before(sweep) { // of one instant the sweep was first
				since = at
			}
		}
		tick := since.Truncate(o.interval).Add(o.interval)
		due := tick.Add(o.h.Spec.MaxRun() + min(o.h.Spec.StartDeadline()+5*time.Minute, 2*o.interval))
		if !sweep.After(due) {
			return false
		}
	}
	return true
}

// ratio: some run showed 0.8 of its interval or more within the last three intervals, or within
// as many more, up to five, as there were none in which a run showed at all.
func (o *oracle) ratio(now time.Time, shown []showing) bool {
	period := max(5*time.Minute, o.interval)
	seen := 0
	for i := 0; i < 5 && seen < 3; i++ {
		to := now.Add(-time.Duration(i) * period)
		any, near := false, false
		for _, s := range shown {
			if at := s.at.Truncate(time.Minute); !at.Before(to.Add(-period)) && at.Before(to) {
				any, near = true, near || s.ratio >= 0.8
			}
		}
		if any {
			seen++
		}
		if near {
			return true
		}
	}
	return false
}

// showing is a moment at which a run's ratio is told: a beat, a sweep, its end.
type showing struct {
	at    time.Time
	ratio float64
}

func (o *oracle) showings() []showing {
	var all []showing
	for _, row := range o.rows {
		if row.Run == "" {
			continue
		}
		began, ended := row.ClaimedAt.Time(), row.EndedAt.Time()
		if row.EndedAt == 0 {
			ended = o.h.To.Add(time.Second)
		}
		show := func(at time.Time) {
			all = append(all, showing{at, at.Sub(began).Seconds() / o.interval.Seconds()})
		}
		for sweep := began.Truncate(time.Minute).Add(sweepsAt); !sweep.After(ended); sweep = sweep.Add(time.Minute) {
			if sweep.After(began) {
				show(sweep)
			}
		}
		planned := row.At.Time()
		if o.h.Spec.Beats && !o.h.Run(planned).Hangs {
			for beat := began.Add(o.h.Spec.Renewal()); beat.Before(ended); beat = beat.Add(o.h.Spec.Renewal()) {
				show(beat)
			}
		}
		if row.Outcome == guard.Succeeded || row.Outcome == guard.Failed || row.Outcome == guard.TimedOut {
			show(ended)
		}
	}
	return all
}

func minuteAfter(t time.Time) time.Time { return t.Truncate(time.Minute).Add(time.Minute) }

// Two evaluations of two hundred random histories, one of metric points by CloudWatch's rules,
// one of the ledger by what the alarms promise, agree minute by minute.
func TestAlarmsKeepTheirPromisesOverRandomHistories(t *testing.T) {
	tpl := exampleTemplate(t)
	cleanup, err := tpl.Spec("cleanup")
	if err != nil {
		t.Fatal(err)
	}
	long := syncSpec(t, tpl)
	long.MaxRunSeconds, long.MachineTimeoutSeconds = 3600, 3710
	brief, err := tpl.Spec("sync")
	if err != nil {
		t.Fatal(err)
	}
	brief.MaxRunSeconds, brief.MachineTimeoutSeconds = 3600, 3630 // without beats
	kinds := []struct {
		spec     schema.Spec
		interval time.Duration
		ticks    int
	}{{cleanup, time.Minute, 60}, {long, 15 * time.Minute, 14}, {brief, 15 * time.Minute, 14}, {cleanup, time.Minute, 60}}
	for part := range 4 {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			kind := kinds[part]
			alarms, sentinel := alarmsOf(t, tpl, kind.spec.Job)
			went := map[string]int{}
			for seed := range uint64(50) {
				h := random(kind.spec, kind.interval, kind.ticks, rand.New(rand.NewPCG(seed, uint64(part))))
				h.Sentinel = sentinel
				agree(t, h, kind.interval, alarms, went, fmt.Sprintf("part %d, seed %d", part, seed))
				if t.Failed() {
					return
				}
			}
			for _, name := range []string{"failed", "ratio", "skips", "overdue"} {
				if went[name] < 3 {
					t.Errorf("%s went off in %d histories: they show too little", name, went[name])
				}
			}
		})
	}
}

func agree(t *testing.T, h History, interval time.Duration, alarms []Alarm, went map[string]int, seed string) {
	t.Helper()
	r := Replay(t, h)
	changes := Evaluate(alarms, r.Points, h.From, h.To, Extra)
	o := newOracle(t, h, interval, r)
	shown := o.showings()
	off := map[string]bool{}
	for now := h.From.Add(time.Minute); !now.After(h.To); now = now.Add(time.Minute) {
		got := InAlarmAt(changes, now)
		for name, want := range map[string]bool{
			"failed": o.failed(now), "skips": o.skips(now), "overdue": o.overdue(now), "ratio": o.ratio(now, shown),
		} {
			is := slices.Contains(got, "cronfence/example/"+h.Spec.Job+"/"+name)
			if is != want {
				t.Errorf("%s at %s: %s is on %v, the history says %v", seed, now.Format(time.TimeOnly), name, is, want)
				return
			}
			if is && !off[name] {
				off[name] = true
				went[name]++
			}
		}
	}
}
