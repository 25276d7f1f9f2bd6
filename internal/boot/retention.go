package boot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

const day = 24 * time.Hour

// retaining keeps ledger rows longer or shorter than the protocol sets them to be kept. No
// rule of the protocol reads how long that is.
type retaining struct {
	guard.Store
	longer time.Duration
}

// withRetention reads a retention in whole days; empty is the default.
func withRetention(store guard.Store, days string) (guard.Store, error) {
	if days == "" {
		return store, nil
	}
	n, err := strconv.Atoi(days)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("environment variable %s: %q: must be a number of days, at least 1", schema.EnvRetention, days)
	}
	return retaining{store, time.Duration(n)*day - schema.Retention}, nil
}

// Commit implements guard.Store. A guard keeps the time it has.
func (r retaining) Commit(ctx context.Context, c guard.Commit) error {
	c.Writes = slices.Clone(c.Writes)
	for i, w := range c.Writes {
		if ttl, ok := w.Patch.Set.Get("ttl").(int64); ok && w.SK != schema.GuardSK {
			c.Writes[i].Patch.Set = w.Patch.Set.With("ttl", ttl+int64(r.longer/time.Second))
		}
	}
	return r.Store.Commit(ctx, c)
}
