package guard

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

func jsonSize(t *testing.T, v any) int {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return len(b)
}

func TestGuardStaysSmallWhateverHappens(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	b.started(0)
	forever := func(g *Guard) { g.LeaseUntil, g.MaxRunUntil = t0.Add(1e6*time.Hour), t0.Add(1e6*time.Hour) }
	b.change(forever)
	deliver := func(from, to int) {
		for i := from; i < to; i++ {
			b.now = minute(i)
			d := b.delivery(i)
			b.do(Deliver(d, ptr(b.guard()), nil, b.now))
			b.m.Delete(b.spec.Job, schema.TickSK(d.Tick)) // the guard alone is measured
		}
	}
	deliver(1, 100_000)
	b.spec.Overlap = policy.Replace
	deliver(100_000, 110_000)
	b.change(func(g *Guard) {
		who, why := strings.Repeat("w", 64), strings.Repeat("y", 160) // as long as people may be
		g.Mark = &Mark{Why: MarkRelease, By: who + ": " + why, At: t0}
		g.Paused = &Pause{By: who, Why: why, At: t0, Until: t0}
		g.BacklogEnd = &BacklogEnd{Kind: Backfill, Next: t0, To: t0, Left: 1000, By: who, Why: strings.Repeat("y", maxWhy), At: t0}
		g.Backlog = &Backlog{Kind: Backfill, Next: t0, To: t0, Left: 1000, Until: t0}
	})
	if size := jsonSize(t, b.guard()); size >= 2048 {
		t.Errorf("the guard has %d bytes after 100,000 skips and 10,000 ticks that waited, want less than 2 KB", size)
	}
}
