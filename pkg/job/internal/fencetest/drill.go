package fencetest

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/jobtest"
)

// witness is a test whose failures are noted and cause none.
type witness struct {
	testing.TB
	said []string
}

func (w *witness) Errorf(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}

func (w *witness) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	runtime.Goexit()
}

func (w *witness) Fatal(args ...any) { w.Fatalf("%s", fmt.Sprint(args...)) }

// Drill returns what a drill says: nothing when it passes.
func Drill(t testing.TB, j jobtest.Job) string {
	t.Helper()
	w := &witness{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		jobtest.Drill(w, j)
	}()
	<-done
	return strings.Join(w.said, "\n")
}

// DrillSees fails the test unless the drill passes a job whose writes are fenced, and finds
// the plain write that is planted behind them.
func DrillSees(t *testing.T, j jobtest.Job, plain job.Work) {
	t.Helper()
	if said := Drill(t, j); said != "" {
		t.Errorf("all fenced: the drill says %q", said)
	}
	fenced := j.Work
	j.Work = func(ctx context.Context, run job.Run) error {
		if err := fenced(ctx, run); err != nil {
			return err
		}
		return plain(ctx, run)
	}
	if said := Drill(t, j); !strings.Contains(said, "a late write landed") {
		t.Errorf("a plain write planted: the drill says %q", said)
	}
}
