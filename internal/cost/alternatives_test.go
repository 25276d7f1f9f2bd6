package cost_test

import (
	"math"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/cost"
)

// A month is runs and skips on every side, and a little more of skips is a little more or less money.
func TestAlternativesCountTheSameTicksAndNothingJumps(t *testing.T) {
	month := func(share float64) (all []float64) {
		e := cost.Of(cost.Job{TicksPerMonth: 43_830, RunTime: 170 * time.Second, MaxRunTime: time.Hour, SkipShare: share})
		for _, a := range e.Alternatives {
			want := (a.USDPerMillionRuns*e.RunsPerMonth + a.USDPerMillionSkips*e.SkipsPerMonth) / 1e6
			if math.Abs(a.USDPerMonth-want) > 1e-9 {
				t.Errorf("%s: %v a month, want %v", a.Name, a.USDPerMonth, want)
			}
			all = append(all, a.USDPerMonth)
		}
		return append(all, e.USDPerMonth-e.USDPerMonthWatching)
	}
	const step = 1.0 / 64
	before := month(0)
	for share := step; share <= 1; share += step {
		now := month(share)
		for i := range now {
			if most := (now[i]+before[i])/10 + 1; math.Abs(now[i]-before[i]) > most {
				t.Errorf("at a skip share of %v: %v a month, after %v", share, now[i], before[i])
			}
		}
		before = now
	}
}

// What a chain's own states cost is the same on every side, but for Temporal, which has actions.
func TestChainsOwnStatesArePaidOnEverySide(t *testing.T) {
	of := func(states int) cost.Estimate {
		return cost.Of(cost.Job{TicksPerMonth: 1, RunTime: time.Second, MaxRunTime: time.Second, Target: cost.Chain, ChainStates: states})
	}
	less, more := of(2), of(5)
	if got := more.USDPerMillionRuns - less.USDPerMillionRuns; math.Abs(got-3*25) > 1e-6 {
		t.Errorf("three states are %v more here", got)
	}
	for i, want := range []float64{3 * 55, 3 * 25, 3 * 25} {
		a := more.Alternatives[i]
		if got := a.USDPerMillionRuns - less.Alternatives[i].USDPerMillionRuns; math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: three states are %v more, want %v", a.Name, got, want)
		}
	}
}

// docs/cost.md says from when on.
func TestLongRunsAreDearerHereThanTemporalsActions(t *testing.T) {
	for run := time.Minute; run <= 15*time.Minute; run += time.Second {
		e := cost.Of(cost.Job{TicksPerMonth: 1, RunTime: run, MaxRunTime: time.Hour})
		if dearer := e.USDPerMillionRuns > e.Alternatives[0].USDPerMillionRuns; dearer != (run >= 90*time.Second) {
			t.Errorf("runs of %v: %v here, %v there", run, e.USDPerMillionRuns, e.Alternatives[0].USDPerMillionRuns)
		}
	}
}

func TestAlternativesAreAsTheirPagesCount(t *testing.T) {
	for _, c := range []struct {
		run                           time.Duration
		temporal, semaphore, waitings float64 // USD a million
	}{
		// Four actions at 50 USD a million and a tenth; five transitions, two writes, a tick.
		{20 * time.Second, 220, 125 + 1.25 + 1, 6*25 + 5*0.625 + 1}, // waits 10 s: retries after 1, 2, 4 and 8 s
		// Two heartbeats more, one a minute; waits 85 s: six retries, a look, a choice, a wait, five attempts.
		{170 * time.Second, 330, 125 + 1.25 + 1, (2+6+4+5)*25 + (1+6+1+5)*0.625 + 0.5*0.125 + 1},
	} {
		e := cost.Of(cost.Job{TicksPerMonth: 1, RunTime: c.run, MaxRunTime: time.Hour})
		temporal, semaphore := e.Alternatives[0], e.Alternatives[1]
		if math.Abs(temporal.USDPerMillionRuns-c.temporal) > 1e-6 || temporal.USDPerMillionSkips != 0 {
			t.Errorf("runs of %v: %+v, want %v", c.run, temporal, c.temporal)
		}
		if math.Abs(semaphore.USDPerMillionRuns-c.semaphore) > 1e-6 || math.Abs(semaphore.USDPerMillionSkips-c.waitings) > 1e-6 {
			t.Errorf("runs of %v: %+v, want %v and %v", c.run, semaphore, c.semaphore, c.waitings)
		}
	}
}

// A death is to be found as soon on both sides: the heartbeat timeout is the lease.
func TestTemporalsHeartbeatsAreAsItsSDKsSendThem(t *testing.T) {
	for name, c := range map[string]struct {
		job  cost.Job
		want float64 // heartbeats
	}{
		"none where there is none here":             {cost.Job{RunTime: 20 * time.Second, MaxRunTime: 45 * time.Second}, 0},
		"one a minute, of a lease of two":           {cost.Job{RunTime: time.Hour, MaxRunTime: 2 * time.Hour}, 60},
		"one a minute too, of a longer lease":       {cost.Job{RunTime: time.Hour, MaxRunTime: 2 * time.Hour, Lease: 10 * time.Minute}, 60},
		"a renewal of another length is not theirs": {cost.Job{RunTime: time.Hour, MaxRunTime: 2 * time.Hour, Renewal: 10 * time.Second}, 60},
	} {
		c.job.Target, c.job.TicksPerMonth = cost.ECS, 1
		got := cost.Of(c.job).Alternatives[0].USDPerMillionRuns/55 - 4
		if math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %v heartbeats, want %v", name, got, c.want)
		}
	}
}
