package guard_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/guardtest"
)

func TestMemoryStoreIsLinearizable(t *testing.T) {
	for seed := range uint64(5) {
		s := guard.NewMemory()
		guardtest.Ready(t, s, "cleanup")
		if err := guardtest.Linearizable(s, "cleanup", seed, 16, 30); err != nil {
			t.Error(err)
		}
	}
}

// behind is a store with a fault: a refusal now and then shows the guard that another refusal
// showed before.
type behind struct {
	*guard.Memory
	mu   sync.Mutex
	n    int
	last *guard.Guard
}

func (s *behind) Commit(ctx context.Context, c guard.Commit) error {
	err := s.Memory.Commit(ctx, c)
	if r := new(guard.Refused); errors.As(err, &r) && r.Guard != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.n++; s.n%10 == 0 {
			r.Guard, s.last = s.last, r.Guard
		} else if s.n%10 == 1 {
			s.last = r.Guard
		}
	}
	return err
}

// torn is a store with a fault: it does not write the guard and the rows at once.
type torn struct{ *guard.Memory }

func (s torn) Commit(ctx context.Context, c guard.Commit) error {
	for _, w := range c.Writes {
		if err := s.Memory.Commit(ctx, guard.Commit{Job: c.Job, Token: c.Token, Writes: []guard.Write{w}}); err != nil {
			return err
		}
	}
	return nil
}

func TestHistoryOfAStoreThatIsWrongIsNotLinearizable(t *testing.T) {
	for name, s := range map[string]guard.Store{
		"old rows in refusals": &behind{Memory: guard.NewMemory()},
		"writes not at once":   torn{guard.NewMemory()},
	} {
		guardtest.Ready(t, s, "cleanup")
		if err := guardtest.Linearizable(s, "cleanup", 1, 16, 30); err == nil {
			t.Errorf("%s: the history was found linearizable", name)
		}
	}
}
