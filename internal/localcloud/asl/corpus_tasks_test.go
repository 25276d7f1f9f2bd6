package asl

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

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
	if mock.Submitted != nil {
		task.Submitted()
	}
	switch {
	case mock.Hang:
		<-ctx.Done()
		return nil, ctx.Err()
	case mock.Failed:
		return nil, &Error{Name: mock.Error, Cause: mock.Cause, Nameless: mock.Error == ""}
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
