package guardtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
)

func oneClaimWins(t *testing.T, s guard.Store) {
	ready(t, s)
	if won := race(t, s, func(i int) guard.Delivery { return Delivery(job, 0, fmt.Sprintf("racer%d", i)) }); won != 1 {
		t.Errorf("%d of the claims of one tick won, want 1", won)
	}
}

func oneHolderWins(t *testing.T, s guard.Store) {
	g := ready(t, s)
	won := race(t, s, func(i int) guard.Delivery {
		d := Delivery(job, i, fmt.Sprintf("racer%d", i))
		d.Prev = g.LastTick // each may come first
		return d
	})
	if won != 1 {
		t.Errorf("%d ticks acquired the guard, want 1", won)
	}
}

// race commits blind claims at once and returns how many went through.
func race(t *testing.T, s guard.Store, delivery func(i int) guard.Delivery) int {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	won := 0
	for i := range 16 {
		wg.Go(func() {
			dec, _ := guard.BlindClaim(delivery(i), t0.Add(15*time.Minute))
			err := s.Commit(context.Background(), *dec.Commit)
			r := new(guard.Refused)
			if err != nil && !errors.As(err, &r) && !errors.Is(err, guard.ErrBusy) {
				t.Errorf("racer %d: %v", i, err)
			}
			if err == nil {
				mu.Lock()
				won++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return won
}
