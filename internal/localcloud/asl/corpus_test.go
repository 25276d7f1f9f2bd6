package asl

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// corpusCase is one recorded execution of real AWS.
type corpusCase struct {
	Name       string
	Kind       string
	Definition json.RawMessage
	Input      json.RawMessage
	Lambda     []corpusMock
	Tasks      []corpusMock
	Expected   struct {
		Status    string
		Output    json.RawMessage
		Error     *string
		Cause     *string
		CauseFrom string
		Events    []string
		Ordered   bool
		States    []string
	}
	Definitions []json.RawMessage
	Rows        []struct {
		Definition int
		Input      json.RawMessage
		Status     string
		Output     json.RawMessage
		Error      *string
	}
}

type corpusMock struct {
	State      string
	Parameters json.RawMessage
	Submitted  json.RawMessage
	Result     json.RawMessage
	Failed     bool
	Error      string
	Cause      string
	Hang       bool
}

// The floors: how many of the recorded cases agree today. A change may raise them.
var corpusFloors = map[string]int{"cases": 114, "tables": 661, "tasks": 27, "variables": 24, "jsonata": 97}

// Cases that do not agree, each with its reason. There must be no other, and none of these
// may agree unnoticed.
var corpusDiffers = map[string]string{
	"scenarios_lambda_invoke_with_retry_extended_input":         "recorded before AWS put Execution.RedriveCount into the context object",
	"scenarios_lambda_service_invoke_with_retry_extended_input": "the same",
	// AWS writes a TaskStateAborted beside the TaskFailed, here only; status and output agree.
	"callback_sqs_failure_in_wait_for_task_tok_no_error_field_sqs_parallel_wait_for_task_token": "an event more in the history",
}

func TestExecutionsEndAsRecordedOnAWS(t *testing.T) {
	dir := os.Getenv("ASL_CORPUS")
	if dir == "" {
		t.Skip("ASL_CORPUS is not set: no recorded cases to compare with")
	}
	for folder, floor := range corpusFloors {
		t.Run(folder, func(t *testing.T) {
			files, _ := filepath.Glob(filepath.Join(dir, folder, "*.json"))
			passed, total := 0, 0
			for _, file := range files {
				for name, c := range readCorpus(t, file) {
					total++
					err := c.run(t)
					reason, listed := corpusDiffers[name]
					switch {
					case err == nil && listed:
						t.Errorf("%s agrees with AWS: it need not be listed", name)
					case err == nil:
						passed++
					case listed:
						t.Logf("%s: %s", name, reason)
					default:
						t.Errorf("%s runs otherwise than on AWS: %v", name, err)
					}
				}
			}
			t.Logf("%s: %d of %d agree", folder, passed, total)
			if passed < floor {
				t.Errorf("%s: %d cases agree with AWS, want at least %d", folder, passed, floor)
			}
		})
	}
}

// readCorpus reads a file's cases; each row of a table becomes a case.
func readCorpus(t *testing.T, file string) map[string]corpusCase {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c corpusCase
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(c.Rows) == 0 {
		return map[string]corpusCase{c.Name: c}
	}
	all := map[string]corpusCase{}
	for i, row := range c.Rows {
		one := corpusCase{Definition: c.Definitions[row.Definition], Input: row.Input}
		one.Expected.Status, one.Expected.Output, one.Expected.Error = row.Status, row.Output, row.Error
		all[fmt.Sprintf("%s[%d]", c.Name, i)] = one
	}
	return all
}

func (c corpusCase) run(t *testing.T) (err error) {
	m, err := Parse(c.Definition)
	if err != nil {
		return fmt.Errorf("refused: %w", err)
	}
	synctest.Test(t, func(*testing.T) {
		var mu sync.Mutex
		var events []Event
		var res Result
		res, runErr := m.Run(context.Background(), Execution{
			ARN: "arn:aws:states:us-east-1:111111111111:execution:m:e", Name: "e", RoleARN: "snf_role_arn",
			MachineARN: "arn:aws:states:us-east-1:111111111111:stateMachine:m", MachineName: "m",
			Input: c.Input, Clock: bubbleClock{}, Tasks: &corpusTasks{mocks: append(c.Lambda, c.Tasks...)},
			Observe: func(e Event) { mu.Lock(); events = append(events, e); mu.Unlock() },
			Random:  func() float64 { return 0.5 },
		})
		err = c.compare(res, runErr, events)
	})
	return err
}

func (c corpusCase) compare(res Result, runErr error, events []Event) error {
	if got := statusOf(res, runErr); got != c.Expected.Status {
		return fmt.Errorf("status %s, want %s (%s)", got, c.Expected.Status, fmt.Sprint(res.Err, runErr))
	}
	if res.Err != nil {
		if want := cmp.Or(c.Expected.Error, new(string)); res.Err.Name != *want {
			return fmt.Errorf("error %q, want %q", res.Err.Name, *want)
		}
		if c.Expected.Cause != nil && c.Expected.CauseFrom == "user" && !sameText(res.Err.Cause, *c.Expected.Cause) {
			return fmt.Errorf("cause %q, want %q", res.Err.Cause, *c.Expected.Cause)
		}
	} else if runErr == nil && !sameJSON(res.Output, c.Expected.Output) {
		return fmt.Errorf("output %s, want %s", res.Output, c.Expected.Output)
	}
	return c.compareEvents(events)
}

func (c corpusCase) compareEvents(events []Event) error {
	if len(c.Expected.Events) == 0 {
		return nil
	}
	var types, states []string
	for _, e := range events {
		types = append(types, e.Type)
		if strings.HasSuffix(e.Type, "StateEntered") {
			states = append(states, e.State)
		}
	}
	if err := c.compareList("events", types, c.Expected.Events); err != nil {
		return err
	}
	return c.compareList("states", states, c.Expected.States)
}

// compareList minds the order only where the recording does.
func (c corpusCase) compareList(what string, got, want []string) error {
	if !c.Expected.Ordered {
		slices.Sort(got)
		want = slices.Sorted(slices.Values(want))
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s %v, want %v", what, got, want)
	}
	return nil
}
