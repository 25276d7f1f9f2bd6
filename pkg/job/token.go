package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Tokens answers task tokens; package sfntoken has one for Step Functions. Each returns
// ErrTokenGone, wrapped or not, when the task no longer waits for the token.
type Tokens interface {
	Heartbeat(ctx context.Context, token string) error
	Success(ctx context.Context, token string, output json.RawMessage) error
	Failure(ctx context.Context, token, name, cause string) error
}

// ErrTokenGone says that a task no longer waits for its token: it timed out, or its
// execution was stopped.
var ErrTokenGone = errors.New("the task no longer waits for its token")

// ErrorFailed is the error name of a worker's run that failed by itself.
const ErrorFailed = "JobFailed"

// errNoReturn is answered for work that panicked or left its goroutine.
var errNoReturn = errors.New("the work did not return: it panicked, or left its goroutine (runtime.Goexit)")

// answerTimeout bounds the last answer, which is sent after the run's context may have ended.
const answerTimeout = 30 * time.Second

// beats sends heartbeats until ctx is done. One that fails is followed by the next; one that
// meets a token that is gone ends the run: this is how a worker learns that it was stopped
// even where it may not read the guard.
func (s *session) beats(ctx context.Context) {
	for {
		err := s.tokens.Heartbeat(ctx, s.run.Token)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrTokenGone):
			s.end(fmt.Errorf("%w: %w", ErrLeaseLost, err))
			return
		case err != nil:
			slog.WarnContext(ctx, "task heartbeat could not be sent", "job", s.run.Job, "run", s.run.ID, "error", err)
		}
		if s.clock.Sleep(ctx, s.beat) != nil {
			return
		}
	}
}

// answer answers the task token, if there is one, and returns the run's error. A success
// that comes too late is the run's error: nobody counts it.
func (s *session) answer(ctx context.Context, err error) error {
	if s.tokens == nil || s.run.Token == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	if err == nil {
		err = s.tokens.Success(ctx, s.run.Token, json.RawMessage("{}"))
		if errors.Is(err, ErrTokenGone) {
			return fmt.Errorf("%w: %w", ErrLeaseLost, err)
		}
		return err
	}
	name := errorName(err)
	if name == "" {
		name = ErrorFailed
	}
	if sent := s.tokens.Failure(ctx, s.run.Token, name, cut(err.Error(), maxCause)); sent != nil && !errors.Is(sent, ErrTokenGone) {
		return errors.Join(err, fmt.Errorf("answer task token: %w", sent))
	}
	return err
}

// maxCause is how much of a cause a ledger row keeps, in bytes; Step Functions takes 32 KB.
const maxCause = 1024

func cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return strings.ToValidUTF8(text[:size], "")
}
