package cronfence_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cronfence/cronfence/internal/cost"
	"github.com/cronfence/cronfence/internal/localcloud/asl"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// bubble is the time of a synctest bubble.
type bubble struct{}

func (bubble) Now() time.Time { return time.Now() }

func (bubble) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (bubble) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// answer is what a state's task does at each call: takes a time, then fails or not.
type answer struct {
	takes time.Duration
	err   string
	times int // of failures; 0 fails always
}

// functions stands for the job, the heartbeat and the settler.
type functions struct {
	answers map[string]answer
	mu      sync.Mutex
	calls   map[string]int
	settled *schema.SettleEvent // the last report
	entered []string            // states
}

func (f *functions) observe(e asl.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if strings.HasSuffix(e.Type, "StateEntered") {
		f.entered = append(f.entered, e.State)
	}
}

func (f *functions) RunTask(ctx context.Context, task asl.Task) (any, error) {
	f.mu.Lock()
	f.calls[task.State]++
	n := f.calls[task.State]
	if task.State == "Cronfence Settle" || task.State == "Cronfence Settle Failed" {
		b, _ := json.Marshal(task.Input.(map[string]any)["Payload"])
		f.settled = &schema.SettleEvent{}
		_ = json.Unmarshal(b, f.settled)
	}
	f.mu.Unlock()
	a := f.answers[task.State]
	if err := (bubble{}).Sleep(ctx, a.takes); err != nil {
		return nil, err
	}
	if a.err != "" && (a.times == 0 || n <= a.times) {
		return nil, &asl.Error{Name: a.err, Cause: "in test"}
	}
	return map[string]any{}, nil
}

const forever = 1000 * time.Hour

// The golden machines, run: how each end of the work comes to the settler and to the
// execution's own status. An empty error is a success.
func TestEveryEndIsSettledAsWhatItWas(t *testing.T) {
	const ms170 = 170 * time.Second
	both := []string{"with-beats", "without-beats"}
	beats := both[:1]
	type answers = map[string]answer
	for name, c := range map[string]struct {
		machines []string
		answers  answers
		settled  string // error reported to the settler
		status   string // error of the execution
		by       time.Duration
		calls    map[string]int
	}{
		"success":           {both, answers{"Run": {takes: 40 * time.Second}}, "", "", 41 * time.Second, map[string]int{"Run": 1, "Cronfence Settle": 1}},
		"long success":      {beats, answers{"Run": {takes: ms170}}, "", "", ms170 + time.Second, map[string]int{"Cronfence Heartbeat": 5}},
		"error of its own":  {both, answers{"Run": {err: "OutOfStock"}}, "OutOfStock", "OutOfStock", time.Second, map[string]int{"Run": 1}},
		"service error":     {both, answers{"Run": {err: "Lambda.ServiceException"}}, "Lambda.ServiceException", "Lambda.ServiceException", time.Second, map[string]int{"Run": 1}},
		"finished by name":  {both, answers{"Run": {err: "Cronfence.Finished"}}, "Cronfence.ReservedError", "Cronfence.ReservedError", time.Second, map[string]int{"Cronfence Settle": 0}},
		"stopped by name":   {both, answers{"Run": {err: "Cronfence.Stop"}}, "Cronfence.Stop", "Cronfence.Stop", time.Second, map[string]int{"Run": 1}},
		"lost by name":      {both, answers{"Run": {err: "Cronfence.LeaseLost"}}, "Cronfence.LeaseLost", "Cronfence.LeaseLost", time.Second, map[string]int{"Run": 1}},
		"timed out by name": {both, answers{"Run": {err: "Cronfence.MaxRunTime"}}, "Cronfence.MaxRunTime", "Cronfence.MaxRunTime", time.Second, map[string]int{"Run": 1}},
		"throttled":         {both, answers{"Run": {err: "Lambda.TooManyRequestsException", times: 3}}, "", "", 15 * time.Second, map[string]int{"Run": 4}},
		"hangs":             {both, answers{"Run": {takes: forever}}, "States.Timeout", "States.Timeout", 301 * time.Second, map[string]int{"Run": 1}},
		"refused beat": {
			beats,
			answers{"Run": {takes: forever}, "Cronfence Heartbeat": {err: "Cronfence.Stop"}},
			"Cronfence.Stop", "Cronfence.Stop", 31 * time.Second,
			map[string]int{"Cronfence Heartbeat": 1},
		},
		"broken beat": {
			beats,
			answers{"Run": {takes: forever}, "Cronfence Heartbeat": {takes: time.Second, err: "errorString"}},
			"Cronfence.LeaseLost", "Cronfence.LeaseLost", 110 * time.Second,
			map[string]int{"Cronfence Heartbeat": 5},
		},
		"hanging beat": {
			beats,
			answers{"Run": {takes: forever}, "Cronfence Heartbeat": {takes: forever}},
			"Cronfence.LeaseLost", "Cronfence.LeaseLost", 110 * time.Second,
			map[string]int{"Cronfence Heartbeat": 5},
		},
		"beat mended in time": {
			beats,
			answers{"Run": {takes: ms170}, "Cronfence Heartbeat": {err: "errorString", times: 4}},
			"", "", ms170 + time.Second, nil,
		},
		// Were the machine's own timeout to end these, the status event would tell a lie.
		"success never settled": {
			both,
			answers{"Run": {takes: 44 * time.Second}, "Cronfence Settle": {takes: time.Second, err: "errorString"}},
			"", "", 2 * time.Minute, nil,
		},
		"late success never settled": {
			beats,
			answers{"Run": {takes: 299 * time.Second}, "Cronfence Settle": {takes: time.Second, err: "errorString"}},
			"", "", 6 * time.Minute,
			map[string]int{"Cronfence Settle": 6},
		},
		"failure never settled": {
			both,
			answers{"Run": {err: "OutOfStock"}, "Cronfence Settle Failed": {err: "errorString"}},
			"OutOfStock", "OutOfStock", time.Minute, nil,
		},
	} {
		for _, machine := range c.machines {
			t.Run(name+" "+machine, func(t *testing.T) {
				f := &functions{answers: c.answers, calls: map[string]int{}}
				status, took := execute(t, machine, f)
				settled := ""
				if f.settled.End != nil {
					settled = f.settled.End.Error
				}
				if settled != c.settled || (f.settled.Status == schema.RunSucceeded) != (c.settled == "") || status != c.status {
					t.Errorf("settled as %s %q, execution ends %q: want %q and %q", f.settled.Status, settled, status, c.settled, c.status)
				}
				if took > c.by {
					t.Errorf("took %v: want at most %v", took, c.by)
				}
				for state, want := range c.calls {
					if f.calls[state] != want {
						t.Errorf("%s called %d times: want %d", state, f.calls[state], want)
					}
				}
			})
		}
	}
}

// A user's chain ends as it does by itself, and never passes what it is bounded by.
func TestEveryEndOfAChainIsSettledAsWhatItWas(t *testing.T) {
	both := []string{"chain-with-beats", "chain-without-beats"}
	type answers = map[string]answer
	for name, c := range map[string]struct {
		machines []string
		answers  answers
		settled  string // error reported to the settler, and of the execution
		by       time.Duration
		calls    map[string]int
	}{
		"success":          {both, answers{"Call": {takes: 10 * time.Second}}, "", 31 * time.Second, map[string]int{"Call": 1, "Cronfence Settle": 1}},
		"error of its own": {both, answers{"Call": {err: "OutOfStock"}}, "OutOfStock", time.Second, map[string]int{"Call": 1, "Cronfence Settle": 0}},
		// The CDK's own retries are the author's: they stand as they were written.
		"retried":          {both, answers{"Call": {err: "Lambda.ServiceException", times: 2}}, "", 30 * time.Second, map[string]int{"Call": 3}},
		"finished by name": {both, answers{"Call": {err: "Cronfence.Finished"}}, "Cronfence.ReservedError", time.Second, map[string]int{"Cronfence Settle": 0}},
		"stopped by name":  {both, answers{"Call": {err: "Cronfence.Stop"}}, "Cronfence.Stop", time.Second, nil},
		"hangs, by its clock": {
			both[1:], answers{"Call": {takes: forever}}, "Cronfence.MaxRunTime", 41 * time.Second, map[string]int{"Call": 1},
		},
		"hangs, by its beats": {
			both[:1],
			answers{"Call": {takes: forever}, "Cronfence Heartbeat": {err: "Cronfence.MaxRunTime"}},
			"Cronfence.MaxRunTime", 31 * time.Second,
			map[string]int{"Call": 1},
		},
		"replaced": {
			both[:1],
			answers{"Call": {takes: forever}, "Cronfence Heartbeat": {err: "Cronfence.Stop"}},
			"Cronfence.Stop", 31 * time.Second, nil,
		},
	} {
		for _, machine := range c.machines {
			t.Run(name+" "+machine, func(t *testing.T) {
				f := &functions{answers: c.answers, calls: map[string]int{}}
				status, took := execute(t, machine, f)
				settled := ""
				if f.settled.End != nil {
					settled = f.settled.End.Error
				}
				if settled != c.settled || status != c.settled || !f.settled.Chain {
					t.Errorf("settled as %q of a chain %v, execution ends %q: want %q", settled, f.settled.Chain, status, c.settled)
				}
				if took > c.by {
					t.Errorf("took %v: want at most %v", took, c.by)
				}
				for state, want := range c.calls {
					if f.calls[state] != want {
						t.Errorf("%s called %d times: want %d", state, f.calls[state], want)
					}
				}
			})
		}
	}
}

// Every state entered is a transition that is paid for.
func TestEveryShapeEntersAsFewStatesAsItCan(t *testing.T) {
	const chainsOwn = 4 // its choice, call, pause and end; the pause lasts 20 s
	const short, long = 40 * time.Second, time.Hour
	held := map[string]bool{}
	for _, c := range []struct {
		machine string
		takes   time.Duration // the task
		job     cost.Job
	}{
		{"without-beats", 20 * time.Second, cost.Job{Target: cost.Lambda, MaxRunTime: short}},
		{"token-without-beats", 20 * time.Second, cost.Job{Target: cost.TaskToken, MaxRunTime: short}},
		{"container-without-beats", 20 * time.Second, cost.Job{Target: cost.ECS, MaxRunTime: short}},
		{"chain-without-beats", 5 * time.Second, cost.Job{Target: cost.Chain, ChainStates: chainsOwn, MaxRunTime: short}},
		// Runs of policy.Allow have none, however long: TestShapeFollowsFromLeaseAndPolicy.
		{"without-beats", 20 * time.Second, cost.Job{Target: cost.Lambda, MaxRunTime: long, Overlap: policy.Allow}},
		{"container-without-beats", 20 * time.Second, cost.Job{Target: cost.ECS, MaxRunTime: long, Overlap: policy.Allow}},
		{"with-beats", 20 * time.Second, cost.Job{Target: cost.Lambda, MaxRunTime: long}},
		{"with-beats", 70 * time.Second, cost.Job{Target: cost.Lambda, MaxRunTime: long}},
		{"token", 50 * time.Second, cost.Job{Target: cost.TaskToken, MaxRunTime: long}},
		{"container", 70 * time.Second, cost.Job{Target: cost.ECS, MaxRunTime: long}},
		{"batch", 70 * time.Second, cost.Job{Target: cost.Batch, MaxRunTime: long}},
		{"glue", 70 * time.Second, cost.Job{Target: cost.Glue, MaxRunTime: long}},
		{"nested", 70 * time.Second, cost.Job{Target: cost.StateMachine, MaxRunTime: long}},
		{"chain-with-beats", 5 * time.Second, cost.Job{Target: cost.Chain, ChainStates: chainsOwn, MaxRunTime: long}},
		{"chain-with-beats", 50 * time.Second, cost.Job{Target: cost.Chain, ChainStates: chainsOwn, MaxRunTime: long}},
	} {
		held[c.machine] = true
		f := &functions{answers: map[string]answer{"Run": {takes: c.takes}, "Call": {takes: c.takes}}, calls: map[string]int{}}
		status, took := execute(t, c.machine, f)
		if status != "" {
			t.Errorf("%s ends %s", c.machine, status)
		}
		c.job.RunTime = took
		if got, want := len(f.entered), c.job.TransitionsPerRun(); got != want {
			t.Errorf("%s, a task of %v: %d transitions, want %d: %v", c.machine, c.takes, got, want, f.entered)
		}
		if got, want := f.calls["Cronfence Heartbeat"], c.job.Beats(); got != want {
			t.Errorf("%s, a task of %v: %d beats, want %d", c.machine, c.takes, got, want)
		}
	}
	for _, golden := range must(filepath.Glob(filepath.Join("testdata", "*.asl.json"))) {
		if shape := strings.TrimSuffix(filepath.Base(golden), ".asl.json"); !held[shape] {
			t.Errorf("%s: no transitions are stated for it", shape)
		}
	}
}

// execute runs a golden machine with its longest delays; the error is the execution's.
func execute(t *testing.T, golden string, f *functions) (status string, took time.Duration) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", golden+".asl.json"))
	if err != nil {
		t.Fatal(err)
	}
	machine, err := asl.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(runInput)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		result, err := machine.Run(t.Context(), asl.Execution{
			ARN: "arn:x", Name: runInput.Run, MachineARN: "arn:m", MachineName: "shop_cleanup", Input: input,
			Clock: bubble{}, Tasks: f, Observe: f.observe, Random: func() float64 { return 1 },
		})
		took = time.Since(began)
		if err != nil {
			t.Fatal(err)
		}
		if result.Err != nil {
			status = result.Err.Name
		}
	})
	return status, took
}
