package web

import (
	"sync"
	"time"
)

// maxCached bounds how many answers are kept.
const maxCached = 512

// cache keeps answers for as long as they are fresh enough, so that many who look at a
// deployed scheduler cost no more than one. Its time is real time, also over a local cloud.
type cache[V any] struct {
	age     time.Duration
	mu      sync.Mutex
	answers map[string]*answer[V]
}

type answer[V any] struct {
	mu    sync.Mutex // held while somebody asks: others wait for the same answer
	value V
	at    time.Time
}

// get returns the answer for a key, and asks for it when there is none that is fresh enough.
// An error is nobody's answer but the asker's.
func (c *cache[V]) get(key string, anew bool, ask func() (V, error)) (V, error) {
	a := c.answer(key)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !anew && !a.at.IsZero() && time.Since(a.at) < c.age {
		return a.value, nil
	}
	v, err := ask()
	if err == nil {
		a.value, a.at = v, time.Now()
	}
	return v, err
}

func (c *cache[V]) answer(key string) *answer[V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.answers[key]; a != nil {
		return a
	}
	if c.answers == nil || len(c.answers) >= maxCached {
		c.answers = map[string]*answer[V]{}
	}
	a := &answer[V]{}
	c.answers[key] = a
	return a
}
