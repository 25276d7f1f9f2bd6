package asl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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
	Result     json.RawMessage
	Failed     bool
	Error      string
	Cause      string
	Hang       bool
}

// The floors: how many of the recorded cases agree today. A change may raise them.
var corpusFloors = map[string]int{"cases": 94, "tables": 503, "tasks": 6}

// Cases that run and do not agree, with the reason. Every other one that does not agree
// must be refused when its definition is read.
var corpusDiffers = map[string]string{
	"scenarios_lambda_invoke_with_retry_extended_input":         "recorded before AWS put Execution.RedriveCount into the context object",
	"scenarios_lambda_service_invoke_with_retry_extended_input": "the same",
}

func TestExecutionsEndAsRecordedOnAWS(t *testing.T) {
	dir := os.Getenv("ASL_CORPUS")
	if dir == "" {
		t.Skip("ASL_CORPUS is not set: no recorded cases to compare with")
	}
	for folder, floor := range corpusFloors {
		t.Run(folder, func(t *testing.T) {
			files, _ := filepath.Glob(filepath.Join(dir, folder, "*.json"))
			passed, total, missed := 0, 0, []string{}
			for _, file := range files {
				for name, c := range readCorpus(t, file) {
					total++
					switch err := c.run(t); {
					case err == nil:
						passed++
						continue
					case !strings.HasPrefix(err.Error(), "refused") && corpusDiffers[name] == "" && folder != "tasks":
						t.Errorf("%s runs otherwise than on AWS: %v", name, err)
						fallthrough
					default:
						missed = append(missed, fmt.Sprintf("%s: %s", name, cmp.Or(corpusDiffers[name], err.Error())))
					}
				}
			}
			slices.Sort(missed)
			t.Logf("%s: %d of %d agree; not:\n%s", folder, passed, total, strings.Join(missed, "\n"))
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
	if strings.Contains(c.Kind, "jsonata") {
		return nil
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
	var got []string
	for _, e := range events {
		got = append(got, e.Type)
	}
	want := slices.Clone(c.Expected.Events)
	if !c.Expected.Ordered {
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("events %v, want %v", got, want)
	}
	return nil
}

func statusOf(res Result, err error) string {
	switch {
	case errors.Is(err, ErrTimedOut):
		return "TIMED_OUT"
	case err != nil:
		return "ABORTED"
	case res.Err != nil:
		return "FAILED"
	}
	return "SUCCEEDED"
}

func sameText(got, want string) bool {
	return got == want || sameJSON([]byte(got), []byte(want))
}

func sameJSON(got, want []byte) bool {
	var g, w any
	if json.Unmarshal(got, &g) != nil || json.Unmarshal(want, &w) != nil {
		return false
	}
	return sameValue(g, w)
}

var wildcard = regexp.MustCompile(`<[^<>]*>`)

// sameValue compares decoded JSON, where a recorded string may hold stand-ins.
func sameValue(got, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for k := range w {
			if _, ok := g[k]; !ok || !sameValue(g[k], w[k]) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(g, w, sameValue)
	case string:
		g, ok := got.(string)
		return ok && sameString(g, w)
	}
	return reflect.DeepEqual(got, want)
}

func sameString(got, want string) bool {
	if got == want || strings.HasSuffix(want, "-time") || slices.Contains([]string{"timestamp", "date", "time"}, want) {
		return true
	}
	if !wildcard.MatchString(want) {
		return false
	}
	pattern := regexp.QuoteMeta(wildcard.ReplaceAllString(want, "\x00"))
	return regexp.MustCompile("^(?s:" + strings.ReplaceAll(pattern, "\x00", ".*") + ")$").MatchString(got)
}

// bubbleClock is the time package's own time, which a synctest bubble makes virtual.
type bubbleClock struct{}

func (bubbleClock) Now() time.Time { return time.Now() }

func (bubbleClock) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (bubbleClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// corpusTasks answers each attempt with the next mock of its state.
type corpusTasks struct {
	mu    sync.Mutex
	mocks []corpusMock
}

func (c *corpusTasks) RunTask(ctx context.Context, task Task) (any, error) {
	mock, ok := c.next(task.State)
	if !ok {
		return nil, fmt.Errorf("no mock left for state %q", task.State)
	}
	got, _ := encodeJSON(task.Input)
	if !sameJSON(got, mock.Parameters) {
		return nil, fmt.Errorf("parameters %s, want %s", got, mock.Parameters)
	}
	switch {
	case mock.Hang:
		<-ctx.Done()
		return nil, ctx.Err()
	case mock.Failed:
		return nil, &Error{mock.Error, mock.Cause}
	}
	return decodeJSON(mock.Result)
}

func (c *corpusTasks) next(state string) (corpusMock, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.mocks, func(m corpusMock) bool { return m.State == state })
	if i < 0 {
		return corpusMock{}, false
	}
	mock := c.mocks[i]
	c.mocks = slices.Delete(c.mocks, i, i+1)
	return mock, true
}
