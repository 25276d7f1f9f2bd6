package localcloud

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/asl"
	"github.com/cronfence/cronfence/internal/localcloud/lambdaapi"
)

// invoker runs a function and waits for its answer.
type invoker interface {
	Invoke(ctx context.Context, function string, event []byte) ([]byte, error)
}

var _ invoker = (*lambdaapi.Server)(nil)

// async plays Lambda's asynchronous invocation: what fails is tried again, twice unless
// the function is configured otherwise, and then becomes a dead letter.
type async struct {
	lambda  invoker
	clock   asl.Clock
	retries map[string]int // by function name
	journal *journal

	mu          sync.Mutex
	deadLetters int
}

// retryDelays are Lambda's waits before the first and every later retry.
var retryDelays = []time.Duration{time.Minute, 2 * time.Minute}

// invoke returns when the event was handled or given up.
func (a *async) invoke(ctx context.Context, function string, event []byte) {
	for tried := 0; ; tried++ {
		_, err := a.lambda.Invoke(ctx, function, event)
		switch {
		case err == nil || ctx.Err() != nil:
			return
		case tried >= a.retries[function] || errors.Is(err, lambdaapi.ErrNoFunction):
			a.bury(function, err)
			return
		}
		delay := retryDelays[min(tried, len(retryDelays)-1)]
		a.journal.note(fmt.Sprintf("%s failed: %v; again in %v", function, err, delay))
		if a.clock.Sleep(ctx, delay) != nil {
			return
		}
	}
}

func (a *async) bury(function string, err error) {
	a.mu.Lock()
	a.deadLetters++
	a.mu.Unlock()
	a.journal.note(fmt.Sprintf("%s failed for good: %v; its event is a dead letter", function, err))
}

func (a *async) buried() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.deadLetters
}
