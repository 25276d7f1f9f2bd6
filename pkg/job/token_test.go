package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/pkg/job"
)

// tokens notes what it is sent; from the beat numbered goneAt on the token is gone.
type tokens struct {
	log    []string
	beats  int
	goneAt int
}

func (s *tokens) Heartbeat(context.Context, string) error {
	s.beats++
	if s.goneAt > 0 && s.beats >= s.goneAt {
		return fmt.Errorf("beat: %w", job.ErrTokenGone)
	}
	if s.beats == 2 {
		return errors.New("throttled")
	}
	return nil
}

func (s *tokens) Success(ctx context.Context, token string, output json.RawMessage) error {
	s.log = append(s.log, token+" success "+string(output))
	if s.goneAt > 0 {
		return job.ErrTokenGone
	}
	return ctx.Err()
}

func (s *tokens) Failure(ctx context.Context, token, name, cause string) error {
	s.log = append(s.log, token+" "+name+" "+cause[:min(len(cause), 40)])
	return ctx.Err()
}

func TestATokenIsBeatenForAndAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		work   job.Work
		goneAt int
		beats  int
		log    []string
		err    error
	}{
		"success": {takes(95 * time.Second), 0, 4, []string{"T success {}"}, nil},
		"failure": {func(context.Context, job.Run) error { return errors.New(strings.Repeat("é", 2000)) }, 0, 1, []string{"T JobFailed " + strings.Repeat("é", 20)}, nil},
		"stopped": {func(context.Context, job.Run) error { return &job.StopError{} }, 0, 1, []string{"T Cronfence.Stop the run is asked to stop: for tick "}, job.ErrStop},
		"gone":    {untilDone, 3, 3, []string{"T Cronfence.LeaseLost the run no longer holds its job's guard"}, job.ErrLeaseLost},
		"late":    {takes(time.Second), 9, 1, []string{"T success {}"}, job.ErrLeaseLost},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &tokens{goneAt: c.goneAt}
				run := newRun()
				run.Token = "T"
				err := job.Do(t.Context(), run, c.work, job.WithTokens(s))
				if c.err != nil && !errors.Is(err, c.err) {
					t.Errorf("%v: want %v", err, c.err)
				}
				if s.beats != c.beats {
					t.Errorf("%d beats, want %d", s.beats, c.beats)
				}
				for i := range s.log {
					s.log[i] = s.log[i][:min(len(s.log[i]), len(c.log[0]))]
				}
				if diff := cmp.Diff(c.log, s.log); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Else the task's heartbeat would run out, and the run count as timed out.
func TestARunThatIsAskedToStopIsBeatenForUntilItHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &tokens{}
		run := newRun()
		run.Token = "T"
		asked := job.WithGuard(guardAfter(25*time.Second, says(job.GuardState{Held: true, Stop: &job.StopError{}})))
		err := job.Do(t.Context(), run, func(ctx context.Context, _ job.Run) error {
			<-ctx.Done()
			time.Sleep(time.Minute) // cleans up
			return ctx.Err()
		}, job.WithTokens(s), asked)
		if !errors.Is(err, job.ErrStop) || s.beats != 4 {
			t.Errorf("%v after %d beats: want it stopped after 4", err, s.beats)
		}
	})
}

func takes(d time.Duration) job.Work {
	return func(ctx context.Context, _ job.Run) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestATokenIsAnsweredAlsoWhenTheWorkDoesNotReturn(t *testing.T) {
	for name, leave := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &tokens{}
				run := newRun()
				run.Token = "T"
				var recovered any
				var wg sync.WaitGroup
				wg.Go(func() {
					defer func() { recovered = recover() }()
					_ = job.Do(t.Context(), run, func(context.Context, job.Run) error { leave(); return nil }, job.WithTokens(s))
				})
				wg.Wait()
				if len(s.log) != 1 || !strings.HasPrefix(s.log[0], "T JobFailed the work did not return") {
					t.Errorf("%q: want one answer", s.log)
				}
				if name == "panic" && recovered != "boom" {
					t.Errorf("%v: want the panic to go on", recovered)
				}
			})
		})
	}
}
