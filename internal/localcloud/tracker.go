package localcloud

import (
	"context"
	"sync"
)

// tracker counts work in flight. Unlike a WaitGroup it may be added to while somebody
// waits: a run that ends starts the settler, a late function starts a run.
type tracker struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n falls to 0; nil when nobody waits
}

func (t *tracker) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n += n
	if t.n == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}

// Go runs f and counts it.
func (t *tracker) Go(f func()) {
	t.add(1)
	go func() {
		defer t.add(-1)
		f()
	}()
}

// wait returns when nothing is in flight, or with the context's error.
func (t *tracker) wait(ctx context.Context) error {
	for {
		t.mu.Lock()
		if t.n == 0 {
			t.mu.Unlock()
			return nil
		}
		if t.idle == nil {
			t.idle = make(chan struct{})
		}
		idle := t.idle
		t.mu.Unlock()
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
