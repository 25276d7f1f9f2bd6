package ops

import (
	"context"
	"fmt"
	"time"
)

// Wait polls a tick until its outcome is final, sleeping between two looks.
func Wait(ctx context.Context, op Operator, job, tick string, sleep func(context.Context, time.Duration) error) (Entry, error) {
	for {
		e, err := op.Tick(ctx, job, tick)
		switch {
		case err != nil:
			return Entry{}, err
		case e == nil:
			return Entry{}, fmt.Errorf("tick %s of %s is no longer in the ledger", tick, job)
		case e.Final:
			return *e, nil
		}
		if err := sleep(ctx, waitInterval); err != nil {
			return *e, fmt.Errorf("wait for tick %s of %s, which is %s and goes on without this command: %w", tick, job, e.Outcome, err)
		}
	}
}

// waitInterval is how often a waiting command looks: often enough for a person, rarely enough
// for the bill.
const waitInterval = time.Second
