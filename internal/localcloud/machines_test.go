package localcloud

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/asl"
	"github.com/cronfence/cronfence/internal/localcloud/assembly"
	"github.com/cronfence/cronfence/internal/localcloud/clock"
	"github.com/cronfence/cronfence/internal/localcloud/example"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// guardTasks plays the functions of a synthesized machine: the job takes its time or
// fails, the beats are renewed until one is refused, the settler listens.
type guardTasks struct {
	clock   *clock.Clock
	takes   time.Duration
	fails   *asl.Error
	refuse  int // the beat that is refused, from 1; 0 means none
	beats   atomic.Int64
	settled *schema.SettleEvent
	run     *schema.RunObject
}

func (g *guardTasks) RunTask(ctx context.Context, task asl.Task) (any, error) {
	payload, err := encode(task.Input.(map[string]any)["Payload"])
	if err != nil {
		return nil, err
	}
	switch {
	case task.State == "Run":
		g.run = new(schema.RunObject)
		if err := json.Unmarshal(payload, g.run); err != nil {
			return nil, err
		}
		if err := g.clock.Sleep(ctx, g.takes); err != nil {
			return nil, err
		}
		if g.fails != nil {
			return nil, g.fails
		}
	case strings.Contains(task.State, "Heartbeat"):
		if n := g.beats.Add(1); int(n) == g.refuse {
			return nil, &asl.Error{Name: schema.ErrorLeaseLost, Cause: "taken over"}
		}
	case strings.Contains(task.State, "Settle"):
		g.settled = new(schema.SettleEvent)
		return nil, json.Unmarshal(payload, g.settled)
	}
	return map[string]any{}, nil
}

// runExample runs a machine of the example in virtual time and counts its history.
func runExample(t *testing.T, job string, g *guardTasks) (res asl.Result, events int64, took time.Duration, err error) {
	t.Helper()
	a, err := assembly.Load(example.Assembly)
	if err != nil {
		t.Fatal(err)
	}
	var m *asl.Machine
	for _, candidate := range a.Machines {
		if candidate.Name == schema.MachineName("example", job) {
			if m, err = asl.Parse([]byte(candidate.Definition)); err != nil {
				t.Fatal(err)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		g.clock = clock.New(time.Now(), 1)
		began := time.Now()
		res, err = m.Run(t.Context(), asl.Execution{
			ARN: runARN, Name: "run", MachineARN: machineARN, MachineName: "s_job",
			Input: []byte(`{"job":"` + job + `","tick":"2026-09-07T02:00:00Z","run":"run","fence":1788746400000,"attempt":1,"deadline":"2026-09-07T02:05:00Z","interval":60}`),
			Clock: g.clock, Tasks: g, Observe: func(asl.Event) { n.Add(1) },
		})
		events, took = n.Load(), time.Since(began)
	})
	return res, events, took, err
}

func TestASuccessIsSettledAtOnce(t *testing.T) {
	g := &guardTasks{takes: 170 * time.Second}
	res, events, took, err := runExample(t, "cleanup", g)
	if err != nil || res.Err != nil || took != 170*time.Second {
		t.Errorf("got %v, %v after %v", res.Err, err, took)
	}
	if g.settled == nil || g.settled.Status != schema.RunSucceeded || g.settled.Fence != 1788746400000 || g.settled.StartedAt != "2000-01-01T00:00:00Z" ||
		g.settled.EndedAt != "2000-01-01T00:02:50Z" || g.settled.Machine != machineARN {
		t.Errorf("settled as %+v", g.settled)
	}
	if g.run.Job != "cleanup" || g.run.Table == "" || g.run.Interval != 60 || g.run.Fence != 1788746400000 {
		t.Errorf("the job got %+v", g.run)
	}
	// What synth reckons with: 18 and 7 a beat.
	if beats := g.beats.Load(); beats != 5 || events > 18+7*beats+1 {
		t.Errorf("%d beats and %d events, want 5 and at most %d", beats, events, 18+7*beats+1)
	}
}

func TestHowAGuardedRunFails(t *testing.T) {
	for _, tt := range []struct {
		name, job string
		tasks     *guardTasks
		want      string
		took      time.Duration
	}{
		{"its own error", "cleanup", &guardTasks{takes: time.Minute, fails: &asl.Error{Name: "MyError", Cause: "c"}}, "MyError", time.Minute},
		{"a lost lease", "cleanup", &guardTasks{takes: time.Hour, refuse: 3}, schema.ErrorLeaseLost, 90 * time.Second},
		{"its time is over", "cleanup", &guardTasks{takes: time.Hour}, "States.Timeout", 5 * time.Minute},
		{"its own error, without beats", "sync", &guardTasks{takes: time.Second, fails: &asl.Error{Name: "MyError"}}, "MyError", time.Second},
		{"its time is over, without beats", "sync", &guardTasks{takes: time.Hour}, "States.Timeout", 45 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, _, took, err := runExample(t, tt.job, tt.tasks)
			if err != nil || res.Err == nil || res.Err.Name != tt.want || took != tt.took {
				t.Errorf("got %v, %v after %v; want %s after %v", res.Err, err, took, tt.want, tt.took)
			}
			s := tt.tasks.settled
			if s == nil || s.Status != schema.RunFailed || s.End == nil || s.End.Error != tt.want {
				t.Errorf("settled as %+v", s)
			}
		})
	}
}

func TestThrottlesAreTriedAgainAndNothingElse(t *testing.T) {
	throttled := &asl.Error{Name: "Lambda.TooManyRequestsException"}
	_, _, took, _ := runExample(t, "sync", &guardTasks{fails: throttled})
	if want := (2 + 4 + 8) * time.Second; took != want {
		t.Errorf("throttled starts were given up after %v, want %v", took, want)
	}
	_, _, took, _ = runExample(t, "sync", &guardTasks{fails: &asl.Error{Name: "Lambda.ServiceException"}})
	if took != 0 {
		t.Errorf("a service error was tried again for %v, which could run the job beside itself", took)
	}
}
