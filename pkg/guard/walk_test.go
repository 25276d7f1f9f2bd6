package guard_test

import (
	"context"
	"slices"
	"testing"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/guardtest"
)

// What random walks show depends on where they come: to every transition, to every outcome.
func TestRandomWalksComeEverywhere(t *testing.T) {
	all := guardtest.Walked{}
	for seed := range uint64(400) {
		did, err := guardtest.Walk(guard.NewMemory(), seed)
		if err != nil {
			t.Fatal(err)
		}
		for name, n := range did {
			all[name] += n
		}
	}
	for _, name := range []string{
		"make", "unblock", "deliver", "blind claim", "settle", "beat", "account", "backlog", "advance", "take over", "late",
		"pause", "resume", "release", "backfill", "expect", "next", "retry", "refused",
		string(guard.Running), string(guard.Queued), string(guard.Succeeded), string(guard.Failed), string(guard.TimedOut),
		string(guard.Aborted), string(guard.Replaced), string(guard.LeaseLost), string(guard.Skipped), string(guard.Coalesced),
		string(guard.Expired), string(guard.Missed), string(guard.Abandoned),
	} {
		if all[name] < 4 {
			t.Errorf("%s: %d times in 400 walks: they show little of it", name, all[name])
		}
	}
}

// forgetful is a store with a fault: it removes no field.
type forgetful struct{ *guard.Memory }

func (s forgetful) Commit(ctx context.Context, c guard.Commit) error {
	c.Writes = slices.Clone(c.Writes)
	for i := range c.Writes {
		c.Writes[i].Patch.Remove = nil
	}
	return s.Memory.Commit(ctx, c)
}

// lenient is a store with a fault: it does not look at the version.
type lenient struct{ *guard.Memory }

func (s lenient) Commit(ctx context.Context, c guard.Commit) error {
	c.Writes = slices.Clone(c.Writes)
	for i, w := range c.Writes {
		c.Writes[i].If = slices.DeleteFunc(slices.Clone(w.If), func(c guard.Cond) bool { return c.Field == "version" })
	}
	return s.Memory.Commit(ctx, c)
}

func TestRandomWalksFindAStoreThatIsWrong(t *testing.T) {
	for name, faulty := range map[string]func() guard.Store{
		"forgetful": func() guard.Store { return forgetful{guard.NewMemory()} },
		"lenient":   func() guard.Store { return lenient{guard.NewMemory()} },
	} {
		found := 0
		for seed := range uint64(50) {
			if _, err := guardtest.Walk(faulty(), seed); err != nil {
				found++
			}
		}
		if found < 5 {
			t.Errorf("%s: found by %d of 50 walks", name, found)
		}
	}
}
