package parity

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/assembly"
	"github.com/cronfence/cronfence/internal/localcloud/example"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// synthesized are the machines that the constructs make: their golden files and the
// example's.
func synthesized(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	files, err := filepath.Glob("../../../infra/cronfence/testdata/*.asl.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden machines: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".asl.json")] = string(text)
	}
	a, err := assembly.Load(example.Assembly)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range a.Machines {
		all["example "+m.Name] = m.Definition
	}
	return all
}

const (
	heartbeatState = "Cronfence Heartbeat"
	ownPrefix      = "Cronfence " // of the names of states that are not the job's work
	maxRun         = 8            // seconds, once quickened
)

// quickened shortens a machine's times to what moto, in real time, can be waited for: a
// longest run of maxRun and a beat every so many seconds.
func quickened(t *testing.T, definition string, beat int) string {
	d := decoded(t, definition)
	d.(map[string]any)["TimeoutSeconds"] = 60
	eachState(d, func(name string, s map[string]any) {
		if s["TimeoutSeconds"] != nil {
			s["TimeoutSeconds"] = maxRun
		}
		delete(s, "HeartbeatSeconds") // of a task token, which is not here: see renamed
		if next, _ := s["Next"].(string); s["Type"] == "Wait" {
			s["Seconds"] = 1
			if next == heartbeatState {
				s["Seconds"] = beat
			} else if strings.HasPrefix(name, ownPrefix) {
				s["Seconds"] = maxRun // it bounds the run
			}
		}
		retries, _ := s["Retry"].([]any)
		for _, r := range retries {
			retry := r.(map[string]any)
			if retry["MaxAttempts"] != 0.0 {
				retry["MaxAttempts"], retry["IntervalSeconds"], retry["BackoffRate"] = 2, 1, 1.0
				delete(retry, "MaxDelaySeconds")
			}
		}
	})
	return encoded(t, d)
}

var runInput = func() string {
	text, err := json.Marshal(schema.RunInput{
		Job: "cleanup", Tick: "2026-09-07T02:00:00Z", Run: "cleanup-20260907T020000Z-1", Fence: 1788746400000,
		Attempt: 1, Deadline: "2026-09-07T02:05:00Z", Interval: 60,
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}()

// Moto stops an execution between two states only, and fails with an error of its own when
// another task begins meanwhile: what is stopped here has work that ends within its time,
// and no beat before that.
func TestSynthesizedMachinesEndAsOnMoto(t *testing.T) {
	for name, golden := range synthesized(t) {
		definition := quickened(t, golden, 1)
		// What has no timeout of its own is bounded by its heartbeat, or else by a Wait.
		beats, timeout, late := false, schema.ErrorMaxRunTime, answer{err: schema.ErrorMaxRunTime}
		eachState(decoded(t, definition), func(name string, s map[string]any) {
			beats = beats || name == heartbeatState
			if !strings.HasPrefix(name, ownPrefix) && s["TimeoutSeconds"] != nil {
				timeout, late = "States.Timeout", answer{}
			}
		})
		for _, c := range []struct {
			name       string
			work, beat answer
			stopped    bool
			want       end
			needsBeats bool
		}{
			{"success", answer{takes: 700 * time.Millisecond}, answer{}, false, end{Status: "SUCCEEDED"}, false},
			{"failure", answer{takes: 500 * time.Millisecond, err: "OutOfStock"}, answer{}, false, end{Status: "FAILED", Error: "OutOfStock"}, false},
			{"timeout", answer{takes: forever}, late, false, end{Status: "FAILED", Error: timeout}, false},
			{"aborted", answer{takes: 4 * time.Second}, answer{}, true, end{Status: "ABORTED"}, false},
			{"lost lease", answer{takes: forever}, answer{err: schema.ErrorLeaseLost}, false, end{Status: "FAILED", Error: schema.ErrorLeaseLost}, true},
			{"stop", answer{takes: forever}, answer{err: schema.ErrorStop}, false, end{Status: "FAILED", Error: schema.ErrorStop}, true},
			{"broken beat", answer{takes: forever}, answer{err: "errorString"}, false, end{Status: "FAILED", Error: schema.ErrorLeaseLost}, true},
		} {
			if c.needsBeats && !beats {
				continue
			}
			t.Run(name+" "+c.name, func(t *testing.T) {
				t.Parallel() // moto waits in real time
				definition := definition
				if c.stopped {
					definition = quickened(t, golden, maxRun)
				}
				f := map[string]answer{heartbeatState: c.beat}
				for state := range tasksOf(t, definition) {
					if !strings.HasPrefix(state, ownPrefix) {
						f[state] = c.work
					}
				}
				endsAlike(t, trial{definition: definition, input: runInput, functions: f, stopped: c.stopped}, c.want)
			})
		}
	}
}
