package guardtest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func endOf(row guard.Row, after time.Duration, token string) guard.End {
	return guard.End{
		Job: job, Tick: row.Tick, Run: row.Run, Fence: row.Fence, Attempt: row.Attempt, Interval: row.Interval,
		Outcome: guard.Succeeded, StartedAt: t0.Add(time.Second), EndedAt: t0.Add(after), Token: token,
	}
}

func commonPath(t *testing.T, s guard.Store) {
	dec := claimed(t, s)
	beat := guard.Beat{Job: job, Tick: dec.Row.Tick, Run: dec.Row.Run, Fence: dec.Row.Fence, Lease: 2 * time.Minute}
	c := guard.BlindBeat(beat, t0.Add(30*time.Second))
	commit(t, s, &c)
	g := guardOf(t, s)
	if want := t0.Add(150 * time.Second); g.LeaseUntil != want || g.Fence != dec.Row.Fence || g.Version != dec.Guard.Version+1 {
		t.Errorf("after a beat: lease %v, fence %d, version %d; want %v, %d, %d", g.LeaseUntil, g.Fence, g.Version, want, dec.Row.Fence, dec.Guard.Version+1)
	}
	end, _ := guard.BlindSettle(endOf(dec.Row, time.Minute, "settle"), t0.Add(time.Minute))
	commit(t, s, end.Commit)
	g = guardOf(t, s)
	if g.Run != nil || g.LeaseUntil != 0 || g.Fence != dec.Row.Fence || g.LastSuccessAt != t0.Add(time.Minute) {
		t.Errorf("after settling: %+v; want the guard free, its fence kept, the success noted", g)
	}
	row := rowOf(t, s, dec.Row.Tick)
	if row.Outcome != guard.Succeeded || row.RunTime != 59_000 || row.Ratio != 0.9833 || row.ClaimedAt != t0 {
		t.Errorf("row %+v; want Succeeded after 59 s of a minute, its claim kept", row)
	}
	next, _ := guard.BlindClaim(Delivery(job, 1, "next"), t0.Add(61*time.Second))
	commit(t, s, next.Commit)
	if next.Row.Fence <= dec.Row.Fence {
		t.Errorf("fence %d after %d: must rise", next.Row.Fence, dec.Row.Fence)
	}
}

func staleBeat(t *testing.T, s guard.Store) {
	dec := claimed(t, s)
	before := guardOf(t, s)
	for _, b := range []guard.Beat{
		{Job: job, Tick: dec.Row.Tick, Run: dec.Row.Run, Fence: dec.Row.Fence - 1, Lease: 2 * time.Minute},
		{Job: job, Tick: dec.Row.Tick, Run: "another", Fence: dec.Row.Fence, Lease: 2 * time.Minute},
	} {
		c := guard.BlindBeat(b, t0.Add(time.Minute))
		r := refused(t, s, &c)
		if diff := cmp.Diff(before, r.Guard); diff != "" {
			t.Errorf("guard shown (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(before, guardOf(t, s)); diff != "" {
		t.Errorf("a refused beat changed the guard:\n%s", diff)
	}
}

func staleSettle(t *testing.T, s guard.Store) {
	first := claimed(t, s)
	end, _ := guard.BlindSettle(endOf(first.Row, time.Minute, "settle"), t0.Add(time.Minute))
	commit(t, s, end.Commit)
	second, _ := guard.BlindClaim(Delivery(job, 1, "next"), t0.Add(2*time.Minute))
	commit(t, s, second.Commit)
	before := guardOf(t, s)
	late, _ := guard.BlindSettle(endOf(first.Row, 2*time.Minute, "late"), t0.Add(2*time.Minute))
	refused(t, s, late.Commit)
	if diff := cmp.Diff(before, guardOf(t, s)); diff != "" {
		t.Errorf("the late end of an earlier run changed the guard:\n%s", diff)
	}
	if row := rowOf(t, s, first.Row.Tick); row.EndedAt != t0.Add(time.Minute) {
		t.Errorf("the late end changed the row: %+v", row)
	}
}

func putRows(t *testing.T, s guard.Store, n int, outcome func(i int) guard.Outcome) (ticks []string) {
	t.Helper()
	for i := range n {
		tick, at := tickAt(i)
		ticks = append(ticks, tick)
		commit(t, s, &guard.Commit{Job: job, Token: tick, Writes: []guard.Write{{
			SK: schema.TickSK(tick), Absent: true,
			Patch: guard.Patch{Set: guard.Fields{{Name: "tick", Value: tick}, {Name: "at", Value: at}, {Name: "outcome", Value: outcome(i)}, {Name: "kind", Value: guard.Scheduled}}},
		}}})
	}
	return ticks
}

// all reads every page of a query.
func all(t *testing.T, s guard.Store, q guard.RowQuery) (ticks []string) {
	t.Helper()
	for {
		page, err := s.Rows(context.Background(), q)
		if err != nil {
			t.Fatalf("query %+v: %v", q, err)
		}
		if q.Limit > 0 && len(page.Rows) > q.Limit {
			t.Errorf("query %+v: a page of %d rows", q, len(page.Rows))
		}
		for _, row := range page.Rows {
			if row.Job != q.Job {
				t.Errorf("row %s is of job %q, want %q", row.Tick, row.Job, q.Job)
			}
			ticks = append(ticks, row.Tick)
		}
		if q.After = page.Next; q.After == "" {
			return ticks
		}
	}
}

func queries(t *testing.T, s guard.Store) {
	ready(t, s) // the guard's own row is none of the ledger's
	ticks := putRows(t, s, 7, func(int) guard.Outcome { return guard.Skipped })
	reversed := make([]string, len(ticks))
	for i, tick := range ticks {
		reversed[len(ticks)-1-i] = tick
	}
	for name, c := range map[string]struct {
		q    guard.RowQuery
		want []string
	}{
		"all":             {guard.RowQuery{}, ticks},
		"in pages":        {guard.RowQuery{Limit: 3}, ticks},
		"newest first":    {guard.RowQuery{Newest: true, Limit: 2}, reversed},
		"both ends count": {guard.RowQuery{From: ticks[2], To: ticks[4]}, ticks[2:5]},
		"from":            {guard.RowQuery{From: ticks[5]}, ticks[5:]},
		"to":              {guard.RowQuery{To: ticks[1], Limit: 1}, ticks[:2]},
		"nothing there":   {guard.RowQuery{From: "2027"}, nil},
	} {
		c.q.Job = job
		if diff := cmp.Diff(c.want, all(t, s, c.q)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := all(t, s, guard.RowQuery{Job: "another"}); got != nil {
		t.Errorf("rows of another job: %v", got)
	}
}

func openRows(t *testing.T, s guard.Store) {
	ticks := putRows(t, s, 6, func(i int) guard.Outcome {
		if i%3 == 1 {
			return guard.Running
		}
		return guard.Succeeded
	})
	want := []string{ticks[1], ticks[4]}
	if diff := cmp.Diff(want, all(t, s, guard.RowQuery{Job: job, OpenOnly: true, Limit: 2})); diff != "" {
		t.Errorf("open rows (-want +got):\n%s", diff)
	}
}

// gaps are of two ticks each here.
func gaps(t *testing.T, s guard.Store) {
	var ids []string
	for _, minute := range []int{3, 7, 9} {
		tick, at := tickAt(minute)
		ids = append(ids, tick)
		c := guard.Commit{Job: job, Token: tick, Writes: []guard.Write{{
			SK: schema.GapSK(tick), Absent: true,
			Patch: guard.Patch{Set: guard.Fields{{Name: "from", Value: at}, {Name: "to", Value: at.Add(time.Minute)}, {Name: "count", Value: 2}, {Name: "at", Value: at}, {Name: "ttl", Value: int64(5)}}},
		}}}
		commit(t, s, &c)
		c.Token = "again"
		if r := refused(t, s, &c); len(r.Gaps) != 1 || r.GuardRefused || len(r.Rows) != 0 {
			t.Errorf("refusal %+v: want the gap named and nothing else", r)
		}
	}
	second := func(id string) string { return id[:15] + string(id[15]+1) + id[16:] } // of its gap
	for name, c := range map[string]struct {
		from, to string
		limit    int
		want     []string
	}{
		"all": {"2", "3", 0, ids}, "by a tick inside": {second(ids[1]), second(ids[1]), 0, ids[1:2]},
		"between": {"2026-09-07T02:05:00Z", "2026-09-07T02:06:00Z", 0, nil}, "the newest": {"2", ids[1], 1, ids[1:2]},
		"none": {"3", "2", 0, nil}, "from a tick inside": {second(ids[1]), "3", 0, ids[1:]},
	} {
		found, err := s.Gaps(context.Background(), job, c.from, c.to, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, gap := range found {
			got = append(got, schema.TickID(gap.From.Time()))
			if gap.Count != 2 || gap.Job != job || gap.To.Sub(gap.From) != time.Minute {
				t.Errorf("%s: gap %+v: want it as it was written", name, gap)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if ticks := all(t, s, guard.RowQuery{Job: job}); ticks != nil {
		t.Errorf("gaps were read as ticks: %v", ticks)
	}
}

// growingGap writes what an outage that goes on does.
func growingGap(t *testing.T, s guard.Store) {
	first, at := tickAt(3)
	grow := func(token string, from, to guard.Millis) *guard.Commit {
		return &guard.Commit{Job: job, Token: token, Writes: []guard.Write{{
			SK: schema.GapSK(first), OrAbsent: true, If: []guard.Cond{{Field: "to", Op: guard.Is, Value: from}},
			Patch: guard.Patch{Set: guard.Fields{{Name: "from", Value: at}, {Name: "to", Value: to}, {Name: "count", Value: 3}}},
		}}}
	}
	commit(t, s, grow("a", at, at.Add(time.Minute)))
	commit(t, s, grow("b", at.Add(time.Minute), at.Add(2*time.Minute)))
	if r := refused(t, s, grow("c", at.Add(time.Minute), at.Add(3*time.Minute))); len(r.Gaps) != 1 {
		t.Errorf("refusal %+v: want the gap that grew meanwhile", r)
	}
	found, err := s.Gaps(context.Background(), job, first, first, 0)
	if err != nil || len(found) != 1 || found[0].To != at.Add(2*time.Minute) {
		t.Errorf("gaps %+v, %v: want one, up to minute 5", found, err)
	}
}

func guards(t *testing.T, s guard.Store) {
	want := map[string]guard.Guard{}
	var names []string
	for i := range 7 {
		name := "job" + string(rune('a'+i))
		want[name], names = Ready(t, s, name), append(names, name)
	}
	var got []string
	for after := ""; ; {
		page, err := s.Guards(context.Background(), after, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range page.Guards {
			got = append(got, g.Job)
			if diff := cmp.Diff(want[g.Job], g); diff != "" {
				t.Errorf("guard of %s (-want +got):\n%s", g.Job, diff)
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("guards listed (-want +got):\n%s", diff)
	}
}
