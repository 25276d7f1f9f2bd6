package boot

import (
	"testing"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestRetentionMovesRowsOnly(t *testing.T) {
	const stamp = int64(2_000_000_000)
	for days, want := range map[string]int64{"": stamp, "90": stamp, "91": stamp + 86_400, "1": stamp - 89*86_400} {
		store, err := withRetention(guard.NewMemory(), days)
		if err != nil {
			t.Fatal(err)
		}
		set := guard.Fields{{Name: "ttl", Value: stamp}}
		err = store.Commit(t.Context(), guard.Commit{Job: "job", Token: "t", Writes: []guard.Write{
			{SK: schema.GuardSK, Absent: true, Patch: guard.Patch{Set: set}},
			{SK: schema.TickSK("2026-09-07T02:00:00Z"), Absent: true, Patch: guard.Patch{Set: set}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		g, _ := store.Guard(t.Context(), "job")
		row, _ := store.Row(t.Context(), "job", "2026-09-07T02:00:00Z")
		if g.TTL != stamp || row.TTL != want || set.Get("ttl") != stamp {
			t.Errorf("%q days: guard %d, row %d, caller's %v: want %d, %d, untouched", days, g.TTL, row.TTL, set.Get("ttl"), stamp, want)
		}
	}
	for _, days := range []string{"0", "-1", "1.5", "ninety"} {
		if _, err := withRetention(nil, days); err == nil {
			t.Errorf("%q days: want an error", days)
		}
	}
}
