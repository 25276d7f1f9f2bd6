package localcloud

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/asl"
	"github.com/cronfence/cronfence/internal/localcloud/lambdaapi"
)

// invoker runs a function and waits for its answer.
type invoker interface {
	Invoke(ctx context.Context, function string, event []byte) ([]byte, error)
	Knows(function string) bool
}

var _ invoker = (*lambdaapi.Server)(nil)

// retryPolicy is what becomes of what fails: tried again so often and until it is so old,
// and then sent to a queue, if there is one.
type retryPolicy struct {
	retries    int
	maxAge     time.Duration // 0 means that no retry is in time
	deadLetter string        // ARN
}

// DeadLetter is an event that was given up.
type DeadLetter struct {
	At     time.Time // local
	From   string    // the function that failed, or the schedule whose hand-over did
	Queue  string    // ARN of where AWS would send it; "" where it would be lost
	Reason string
	Event  []byte
}

// async plays Lambda's asynchronous invocation: what fails is tried again, as the function
// is configured, and then becomes a dead letter.
type async struct {
	lambda   invoker
	clock    asl.Clock
	policies map[string]retryPolicy // by function name
	journal  *journal

	mu          sync.Mutex
	deadLetters []DeadLetter
}

// retryDelays are Lambda's waits before the first and every later retry.
var retryDelays = []time.Duration{time.Minute, 2 * time.Minute}

// invoke returns when the event was handled or given up.
func (a *async) invoke(ctx context.Context, function string, event []byte) {
	policy := a.policies[function]
	began := a.clock.Now()
	for tried := 0; ; tried++ {
		_, err := a.lambda.Invoke(ctx, function, event)
		if err == nil || ctx.Err() != nil {
			return
		}
		delay := retryDelays[min(tried, len(retryDelays)-1)]
		over := a.clock.Now().Add(delay).Sub(began) > policy.maxAge
		if tried >= policy.retries || over || errors.Is(err, lambdaapi.ErrNoFunction) {
			a.bury(function, policy.deadLetter, err, event)
			return
		}
		a.journal.note(fmt.Sprintf("%s failed: %v; again in %v", function, err, delay))
		if a.clock.Sleep(ctx, delay) != nil {
			return
		}
	}
}

func (a *async) bury(from, queue string, err error, event []byte) {
	a.mu.Lock()
	a.deadLetters = append(a.deadLetters, DeadLetter{At: a.clock.Now(), From: from, Queue: queue, Reason: err.Error(), Event: event})
	a.mu.Unlock()
	fate := "its event is lost: it has no dead-letter queue"
	if queue != "" {
		fate = "its event is a dead letter of " + queue
	}
	a.journal.note(fmt.Sprintf("%s failed for good: %v; %s", from, err, fate))
}

func (a *async) buried() []DeadLetter {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.deadLetters)
}
