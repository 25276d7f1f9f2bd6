package localcloud

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/asl"
	"github.com/cronfence/cronfence/internal/localcloud/clock"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

const (
	machineARN = "arn:aws:states:local-1:000000000000:stateMachine:s_job"
	runARN     = "arn:aws:states:local-1:000000000000:execution:s_job:run"
)

// statusLog keeps the status events.
type statusLog struct {
	mu     sync.Mutex
	events []schema.StatusDetail
}

func (l *statusLog) add(d schema.StatusDetail) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, d)
}

func (l *statusLog) statuses() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, e := range l.events {
		all = append(all, e.Status)
	}
	slices.Sort(all) // they come in any order, as on AWS
	return strings.Join(all, " ")
}

// inStepFunctions runs test in virtual time with one machine of this definition.
func inStepFunctions(t *testing.T, definition string, test func(*stepFunctions, *statusLog)) {
	t.Helper()
	m, err := asl.Parse([]byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		log := &statusLog{}
		f := &stepFunctions{
			clock: clock.New(time.Now(), 1), machines: map[string]*stateMachine{machineARN: {arn: machineARN, name: "s_job", definition: m}},
			changed: log.add, work: &tracker{}, ctx: t.Context(), executions: map[string]*execution{}, started: map[string]int{},
		}
		test(f, log)
		if err := f.work.wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

const waitAMinute = `{"TimeoutSeconds":%d,"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":60,"End":true}}}`

func look(t *testing.T, f *stepFunctions) machine.Execution {
	t.Helper()
	x, err := f.Describe(t.Context(), runARN)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestARepeatedStartIsTheSameRun(t *testing.T) {
	inStepFunctions(t, fmt.Sprintf(waitAMinute, 600), func(f *stepFunctions, log *statusLog) {
		start := func(input string) error { return f.Start(context.Background(), machineARN, "run", input) }
		for range 2 {
			if err := start(`{"a":1}`); err != nil {
				t.Fatal(err)
			}
		}
		if err := start(`{"a":2}`); !errors.Is(err, machine.ErrExists) {
			t.Errorf("another input while it runs: got %v", err)
		}
		time.Sleep(2 * time.Minute)
		if err := start(`{"a":1}`); !errors.Is(err, machine.ErrExists) {
			t.Errorf("the same input after its end: got %v", err)
		}
		x := look(t, f)
		if x.Status != machine.Succeeded || x.StoppedAt.Sub(x.StartedAt) != time.Minute {
			t.Errorf("got %+v", x)
		}
		if got := log.statuses(); got != "RUNNING SUCCEEDED" || f.startedOf(machineARN) != 1 {
			t.Errorf("events %s, started %d", got, f.startedOf(machineARN))
		}
	})
}

func TestHowExecutionsEnd(t *testing.T) {
	for _, tt := range []struct {
		name, definition  string
		status            machine.Status
		errorName, events string
	}{
		{"failed", `{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"E","Cause":"c"}}}`, machine.Failed, "E", "FAILED RUNNING"},
		{"timed out", fmt.Sprintf(waitAMinute, 5), machine.TimedOut, "", "RUNNING TIMED_OUT"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inStepFunctions(t, tt.definition, func(f *stepFunctions, log *statusLog) {
				if err := f.Start(context.Background(), machineARN, "run", `{}`); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
				if x := look(t, f); x.Status != tt.status || x.Error != tt.errorName {
					t.Errorf("got %+v", x)
				}
				if got := log.statuses(); got != tt.events {
					t.Errorf("events %s, want %s", got, tt.events)
				}
			})
		})
	}
}

func TestStopIsAborted(t *testing.T) {
	inStepFunctions(t, fmt.Sprintf(waitAMinute, 600), func(f *stepFunctions, log *statusLog) {
		if err := f.Stop(context.Background(), runARN, "E", "c"); !errors.Is(err, machine.ErrNotFound) {
			t.Errorf("stop of nothing: got %v", err)
		}
		if err := f.Start(context.Background(), machineARN, "run", `{}`); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		for range 2 { // a second stop changes nothing and is no error
			if err := f.Stop(context.Background(), runARN, "E", "c"); err != nil {
				t.Fatal(err)
			}
		}
		x := look(t, f)
		if x.Status != machine.Aborted || x.Error != "E" || x.StoppedAt.Sub(x.StartedAt) != 10*time.Second {
			t.Errorf("got %+v", x)
		}
		time.Sleep(time.Hour)
		if got := log.statuses(); got != "ABORTED RUNNING" {
			t.Errorf("events %s", got)
		}
	})
}

func TestStartsThatNeverWork(t *testing.T) {
	inStepFunctions(t, fmt.Sprintf(waitAMinute, 600), func(f *stepFunctions, _ *statusLog) {
		for _, tt := range []struct{ machine, name, input string }{
			{machineARN + "x", "run", `{}`},
			{machineARN, "a:b", `{}`},
			{machineARN, strings.Repeat("a", 81), `{}`},
			{machineARN, "run", `{`},
			{machineARN, "run", `"` + strings.Repeat("a", maxInput) + `"`},
		} {
			if err := f.Start(context.Background(), tt.machine, tt.name, tt.input); !errors.Is(err, machine.ErrPermanent) {
				t.Errorf("start %.20s: got %v", tt.name, err)
			}
		}
		if _, err := f.Describe(context.Background(), runARN); !errors.Is(err, machine.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
}
