package fencehttp

import (
	"context"
	"sync"

	"github.com/cronfence/cronfence/pkg/job"
)

// Memory remembers fences for as long as the process lives, one number for each name.
type Memory struct {
	mu    sync.Mutex
	names map[string]*gate
}

// gate lets in requests of the newest fence alone.
type gate struct {
	newest int64
	inside map[int64]int // how many requests of each fence
	left   chan struct{} // closed, and made anew, when one leaves
}

var _ Fences = (*Memory)(nil)

// NewMemory returns fences of which none has been seen.
func NewMemory() *Memory { return &Memory{names: map[string]*gate{}} }

// Enter implements Fences. The newest fence counts from the moment it asks, so that older
// requests cannot keep it waiting for ever.
func (m *Memory) Enter(ctx context.Context, name string, fence int64) (leave func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.names[name]
	if g == nil {
		g = &gate{inside: map[int64]int{}, left: make(chan struct{})}
		m.names[name] = g
	}
	for {
		if fence < g.newest {
			return nil, &job.FencedError{Fence: fence, Seen: g.newest}
		}
		g.newest = fence
		if g.only(fence) {
			g.inside[fence]++
			return func() { m.leave(g, fence) }, nil
		}
		if err := m.wait(ctx, g.left); err != nil {
			return nil, err
		}
	}
}

// wait gives the lock away until somebody has left.
func (m *Memory) wait(ctx context.Context, left <-chan struct{}) error {
	m.mu.Unlock()
	defer m.mu.Lock()
	select {
	case <-left:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *Memory) leave(g *gate, fence int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if g.inside[fence]--; g.inside[fence] == 0 {
		delete(g.inside, fence)
	}
	close(g.left)
	g.left = make(chan struct{})
}

// only tells whether nobody of another fence is inside.
func (g *gate) only(fence int64) bool {
	return len(g.inside) == 0 || len(g.inside) == 1 && g.inside[fence] > 0
}
