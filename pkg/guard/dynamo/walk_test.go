package dynamo_test

import (
	"flag"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard/guardtest"
)

var (
	walks    = flag.Int("walks", 100, "how many random walks must leave the same rows in memory and in a table")
	walkSeed = flag.Uint64("walkseed", 0, "seed of the first walk; 0 is a random one")
)

// moto takes fifteen times as long for a walk: it keeps no connection and copies the table for
// each transaction.
func TestRandomWalksLeaveTheSameRowsAsInMemory(t *testing.T) {
	first := *walkSeed
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	t.Run("ministack", func(t *testing.T) { walk(t, rig.Ministack(t), first, *walks) })
	t.Run("moto", func(t *testing.T) { walk(t, rig.Moto(t), first+uint64(*walks), max(4, *walks/50)) })
}

// walk walks several ways at once. A few of them share a table, each with a job of its own.
func walk(t *testing.T, c rig.Cloud, first uint64, count int) {
	t.Logf("%d walks: -walks %d -walkseed %d", count, count, first)
	const together = 4
	aTable := int64(max(1, min(25, count/together)))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range together {
		wg.Go(func() {
			for from := int(next.Add(aTable) - aTable); from < count; from = int(next.Add(aTable) - aTable) {
				s := newStore(t, c)
				for n := from; n < min(from+int(aTable), count) && !t.Failed(); n++ {
					if _, err := guardtest.Walk(s, first+uint64(n)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// A seed replays what the clients choose, not how their requests cross.
func TestHistoriesOfManyClientsAreLinearizable(t *testing.T) {
	first := *walkSeed
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	// Short histories of many clients, more of them in the long runs: to decide one takes time
	// that grows steeply with its length.
	const clients, each = 16, 4
	for name, c := range map[string]struct {
		cloud  func(testing.TB) rig.Cloud
		rounds int
	}{
		"moto":      {rig.Moto, 1},
		"ministack": {rig.Ministack, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Logf("-walkseed %d", first)
			for round := range c.rounds * (1 + *walks/1000) {
				s := newStore(t, c.cloud(t))
				guardtest.Ready(t, s, job)
				if err := guardtest.Linearizable(s, job, first+uint64(round), clients, each); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
