package parity

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/asl"
)

// functions stand behind the tasks of either engine.
type functions struct {
	answers map[string]answer
	mu      sync.Mutex
	calls   map[string]int
	begun   chan struct{} // closed at the first call
	once    sync.Once
}

func newFunctions(answers map[string]answer) *functions {
	return &functions{answers: answers, calls: map[string]int{}, begun: make(chan struct{})}
}

// work does what the state's function does and returns the name of its error.
func (f *functions) work(ctx context.Context, state string) string {
	f.once.Do(func() { close(f.begun) })
	f.mu.Lock()
	f.calls[state]++
	n := f.calls[state]
	f.mu.Unlock()
	a := f.answers[state]
	if (bubble{}).Sleep(ctx, a.takes) != nil {
		return "Cancelled"
	}
	if a.err != "" && (a.times == 0 || n <= a.times) {
		return a.err
	}
	return ""
}

// RunTask implements asl.Tasks as Step Functions' Lambda integration does.
func (f *functions) RunTask(ctx context.Context, task asl.Task) (any, error) {
	if failed := f.work(ctx, task.State); failed != "" {
		return nil, &asl.Error{Name: failed, Cause: causeOf(failed)}
	}
	return map[string]any{"ExecutedVersion": "$LATEST", "Payload": map[string]any{"did": task.State}, "StatusCode": json.Number("200")}, nil
}

// bubble is the time package's own time.
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

// eachState calls f with every state of a decoded definition, inner ones too.
func eachState(definition any, f func(name string, state map[string]any)) {
	switch v := definition.(type) {
	case map[string]any:
		states, _ := v["States"].(map[string]any)
		for name, s := range states {
			if state, ok := s.(map[string]any); ok {
				f(name, state)
			}
		}
		for _, inner := range v {
			eachState(inner, f)
		}
	case []any:
		for _, inner := range v {
			eachState(inner, f)
		}
	}
}

func decoded(t *testing.T, definition string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(definition), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tasksOf are the names of the definition's tasks.
func tasksOf(t *testing.T, definition string) map[string]bool {
	found := map[string]bool{}
	eachState(decoded(t, definition), func(name string, s map[string]any) {
		if s["Type"] == "Task" {
			found[name] = true
		}
	})
	return found
}

// renamed gives every task a function of its own. Moto has no canned results for tasks of
// other services: those become functions too, which get the same parameters but for the
// task token, which a function that is waited for does not have.
func renamed(t *testing.T, definition, prefix string) string {
	d := decoded(t, definition)
	eachState(d, func(name string, s map[string]any) {
		if s["Type"] != "Task" {
			return
		}
		payload := s["Parameters"]
		if params, _ := payload.(map[string]any); params["Payload"] != nil {
			payload = params["Payload"]
		}
		s["Resource"] = "arn:aws:states:::lambda:invoke"
		s["Parameters"] = map[string]any{"FunctionName": prefix + plainName(name), "Payload": payload}
	})
	return strings.ReplaceAll(encoded(t, d), "$$.Task.Token", "$$.Execution.Id")
}

func plainName(state string) string { return strings.ReplaceAll(state, " ", "_") }
