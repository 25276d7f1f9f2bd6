package cost_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/cost"
	"github.com/cronfence/cronfence/pkg/policy"
)

func TestTargetShapeAndRunTimeDecideOnTransitions(t *testing.T) {
	const short = 45 * time.Second
	for name, c := range map[string]struct {
		job         cost.Job
		transitions int
		requests    int
	}{
		"short function":      {cost.Job{Target: cost.Lambda, RunTime: 20 * time.Second, MaxRunTime: short}, 2, 2},
		"short worker":        {cost.Job{Target: cost.TaskToken, RunTime: 20 * time.Second, MaxRunTime: short}, 2, 2},
		"short container":     {cost.Job{Target: cost.ECS, RunTime: 20 * time.Second, MaxRunTime: short}, 5, 2},
		"short Batch job":     {cost.Job{Target: cost.Batch, RunTime: 20 * time.Second, MaxRunTime: short}, 5, 2},
		"short Glue job":      {cost.Job{Target: cost.Glue, RunTime: 20 * time.Second, MaxRunTime: short}, 5, 2},
		"short state machine": {cost.Job{Target: cost.StateMachine, RunTime: 20 * time.Second, MaxRunTime: short}, 5, 2},
		"short chain of four": {cost.Job{Target: cost.Chain, ChainStates: 4, RunTime: 20 * time.Second, MaxRunTime: short}, 9, 2},
		"long, before a beat": {cost.Job{Target: cost.Lambda, RunTime: 20 * time.Second, MaxRunTime: time.Hour}, 5, 2},
		"long, two beats":     {cost.Job{Target: cost.ECS, RunTime: 70 * time.Second, MaxRunTime: time.Hour}, 9, 4},
		"long chain of four":  {cost.Job{Target: cost.Chain, ChainStates: 4, RunTime: 70 * time.Second, MaxRunTime: time.Hour}, 13, 4},
		"a beat a minute":     {cost.Job{RunTime: 150 * time.Second, MaxRunTime: time.Hour, Renewal: time.Minute}, 9, 4},
		"long, beside others": {cost.Job{RunTime: 150 * time.Second, MaxRunTime: time.Hour, Overlap: policy.Allow}, 2, 4},
		"fits a longer lease": {cost.Job{RunTime: 150 * time.Second, MaxRunTime: 4 * time.Minute, Lease: 6 * time.Minute}, 2, 2},
	} {
		e := cost.Of(c.job)
		if e.TransitionsPerRun != c.transitions || e.RequestsPerRun != c.requests || e.RequestsPerSkip != 2 {
			t.Errorf("%s: %d transitions, %d requests, %d a skip; want %d, %d, 2", name,
				e.TransitionsPerRun, e.RequestsPerRun, e.RequestsPerSkip, c.transitions, c.requests)
		}
		if err := c.job.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestJobsThatTheConstructsRefuseAreRefused(t *testing.T) {
	for want, j := range map[string]cost.Job{
		"renewal 30s: a run of up to 30h0m0s could write": {Target: cost.ECS, RunTime: 30 * time.Hour, MaxRunTime: 30 * time.Hour},
		"lease 1m30s: must be at least 1m55s":             {Target: cost.ECS, RunTime: time.Hour, MaxRunTime: time.Hour, Lease: 90 * time.Second},
		"move parts of the chain":                         {Target: cost.Chain, ChainStates: 4000, RunTime: time.Second, MaxRunTime: time.Hour},
		"must be at most 15m0s":                           {Target: cost.Lambda, RunTime: time.Hour, MaxRunTime: time.Hour},
	} {
		if err := j.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", j, err, want)
		}
	}
	fits := cost.Job{Target: cost.ECS, RunTime: 30 * time.Hour, MaxRunTime: 30 * time.Hour, Renewal: 40 * time.Second}
	if err := fits.Check(); err != nil {
		t.Errorf("a beat every 40 s: %v", err)
	}
}

func TestChainsOwnStatesAreSaidToBeLeftOut(t *testing.T) {
	for states, want := range map[int]bool{0: true, 3: false} {
		e := cost.Of(cost.Job{Target: cost.Chain, ChainStates: states, RunTime: time.Minute, MaxRunTime: time.Hour})
		if got := strings.Contains(strings.Join(e.Notes, " "), "own states are not counted"); got != want {
			t.Errorf("%d states: notes %q", states, e.Notes)
		}
	}
}
