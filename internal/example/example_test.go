package example_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cronfence/cronfence/internal/example"
)

const runObject = `{"scheduler":"example","table":"t","job":"cleanup","tick":"2026-09-07T02:00:00Z","run":"r","fence":7,"attempt":1,"deadline":"2026-09-07T02:06:20Z","interval":60,"payload":null}`

func TestJobTakesItsTime(t *testing.T) {
	for _, job := range example.Jobs {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			got, err := job.Handle(t.Context(), json.RawMessage(runObject))
			if want := (example.Result{Job: "cleanup", Tick: "2026-09-07T02:00:00Z", Fence: 7}); err != nil || got != want {
				t.Errorf("%s: %v, %v: want %v", job.Name, got, err, want)
			}
			if took := time.Since(began); took != job.Takes {
				t.Errorf("%s took %v: want %v", job.Name, took, job.Takes)
			}
		})
	}
}

func TestJobSleepsAsItIsTold(t *testing.T) {
	job := example.Cleanup
	job.Sleep = func(_ context.Context, d time.Duration) error {
		if d != job.Takes {
			t.Errorf("sleeps %v: want %v", d, job.Takes)
		}
		return context.DeadlineExceeded
	}
	if _, err := job.Handle(t.Context(), json.RawMessage(runObject)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v: want what the sleep returned", err)
	}
}

func TestJobEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := example.Report.Handle(ctx, json.RawMessage(runObject)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: want context.Canceled", err)
	}
}

func TestJobRefusesWhatIsNoRunObject(t *testing.T) {
	if _, err := example.Sync.Handle(t.Context(), json.RawMessage(`"now"`)); err == nil {
		t.Error("want an error")
	}
}
