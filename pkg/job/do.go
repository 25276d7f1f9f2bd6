package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Work is what a job does. It should return soon after ctx is done, with or without an
// error: an error then counts as stopped, as lost or as timed out, not as the job's failure.
type Work func(ctx context.Context, run Run) error

// Clock is time as a run sees it.
type Clock interface {
	Now() time.Time
	// Sleep waits for d or until ctx is done, and then returns its error.
	Sleep(ctx context.Context, d time.Duration) error
}

// Option changes how a run is watched.
type Option func(*session)

// WithGuard watches the job's guard, so that the context ends on a stop request and on a
// lost lease. The guard is also read once before the work begins: a run that has lost it
// does not start. One whose guard cannot be read for longer than the lease last seen, or for
// a minute if it never could be, is ended: check that its role may. Not for jobs of overlap
// policy Allow, whose runs hold no guard.
// Default: nobody looks at the guard.
func WithGuard(g Guard) Option { return func(s *session) { s.guard = g } }

// WithPoll sets how often the guard is read; 0 and less is an error of Do's. Default: 10 s, 8,640 reads a day.
func WithPoll(d time.Duration) Option { return func(s *session) { s.poll = d } }

// WithTokens answers the run's task token: heartbeats while the work goes on, then success
// or failure, also when the work panics. Default: nobody answers it.
func WithTokens(t Tokens) Option { return func(s *session) { s.tokens = t } }

// WithBeat sets how often a task token's heartbeat is sent; the task's own HeartbeatSeconds
// must be well above; 0 and less is an error of Do's. Default: 30 s.
func WithBeat(d time.Duration) Option { return func(s *session) { s.beat = d } }

// WithClock puts another clock in the place of the machine's.
func WithClock(c Clock) Option { return func(s *session) { s.clock = c } }

const (
	defaultPoll = 10 * time.Second
	defaultBeat = 30 * time.Second
	// readTimeout bounds one reading of the guard: one that hangs must not hide what the next
	// would say.
	readTimeout = 5 * time.Second
)

// Handler returns the handler of a Go Lambda function, for lambda.Start. The error of a run
// that was stopped, lost its guard or had its time carries the name by which the state
// machine knows that: such a run is Replaced, LeaseLost or TimedOut, not Failed. Of an error's
// text 16 KB are kept.
func Handler(work Work, options ...Option) func(context.Context, json.RawMessage) error {
	return func(ctx context.Context, object json.RawMessage) error {
		run, err := Parse(object)
		if err != nil {
			return err
		}
		return named(Do(ctx, run, work, options...))
	}
}

// Do does a run's work under a context that ends, with its cause, at the run's deadline
// (ErrDeadline) and, as the options say, on a stop request (ErrStop) and on a lost lease
// (ErrLeaseLost). It returns when the work has; when the work returns an error after its
// context ended, both can be found in Do's with errors.Is.
func Do(ctx context.Context, run Run, work Work, options ...Option) error {
	s := &session{run: run, poll: defaultPoll, beat: defaultBeat, clock: realClock{}}
	for _, o := range options {
		o(s)
	}
	ctx, s.end = context.WithCancelCause(ctx)
	defer s.end(nil)

	deadline := run.Deadline
	if own, ok := ctx.Deadline(); ok && own.Before(deadline) { // a Lambda function's timeout
		deadline = own
	}
	run.Budget = newBudget(run, deadline, s.clock.Now)
	returned := false
	defer func() {
		if !returned { // unanswered, the task would wait until its heartbeat is missed
			_ = s.answer(ctx, errNoReturn)
		}
	}()
	err := s.begin(ctx)
	if err == nil {
		err = s.work(ctx, run, work)
	}
	returned = true
	return s.answer(ctx, err)
}

// session is one Do.
type session struct {
	run    Run
	guard  Guard
	tokens Tokens
	poll   time.Duration
	beat   time.Duration
	clock  Clock
	end    context.CancelCauseFunc

	trusted time.Time // the lease last seen; only begin and watch touch it
}

// begin refuses options that make no sense, and a run that is over before it began: delivered
// late, or woken up late.
func (s *session) begin(ctx context.Context) error {
	if s.poll <= 0 || s.beat <= 0 {
		return fmt.Errorf("WithPoll %v, WithBeat %v: both must be longer than 0", s.poll, s.beat)
	}
	if !wall(s.clock.Now).Before(s.run.Deadline) {
		return ErrDeadline
	}
	if s.guard == nil {
		return nil
	}
	s.trusted = wall(s.clock.Now).Add(unseen)
	return s.look(ctx)
}

// work does the work with all that watches over it beside it, until the work returns: a run
// that was asked to stop and takes its time still needs its heartbeats.
func (s *session) work(ctx context.Context, run Run, work Work) error {
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { s.keepTime(watching) })
	if s.guard != nil {
		wg.Go(func() { s.watch(watching) })
	}
	if s.tokens != nil && run.Token != "" {
		wg.Go(func() { s.beats(watching) })
	}
	err := func() error {
		defer wg.Wait()
		defer stop() // also when the work does not return
		return work(ctx, run)
	}()
	if cause := context.Cause(ctx); err != nil && errorName(cause) != "" && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// keepTime ends the run's context at the deadline. It looks at the wall clock often: a
// timer alone would be late by as long as the process was paused.
func (s *session) keepTime(ctx context.Context) {
	for {
		left := s.run.Deadline.Sub(wall(s.clock.Now))
		if left <= 0 {
			s.end(ErrDeadline)
			return
		}
		if s.clock.Sleep(ctx, min(left, time.Second)) != nil {
			return
		}
	}
}

// watch reads the guard again and again and ends the run's context when it says so.
func (s *session) watch(ctx context.Context) {
	for s.clock.Sleep(ctx, s.poll) == nil {
		if err := s.look(ctx); err != nil {
			s.end(err)
			return
		}
	}
}

// look reads the guard and returns why the run should end, or nil.
func (s *session) look(ctx context.Context) error {
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	state, err := s.guard(reading, s.run)
	if ctx.Err() != nil {
		return nil // whoever ended it said why
	}
	if err == nil {
		if state.LeaseUntil.After(s.trusted) {
			s.trusted = state.LeaseUntil
		}
		return state.over()
	}
	slog.WarnContext(ctx, "guard could not be read", "job", s.run.Job, "run", s.run.ID, "error", err)
	if !wall(s.clock.Now).Before(s.trusted) {
		return fmt.Errorf("%w: it could not be read since before %s: %w", ErrLeaseLost, s.trusted.UTC().Format(time.RFC3339), err)
	}
	return nil
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
