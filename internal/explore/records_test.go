package explore

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// TestRecordsDoWhatTheMemoryStoreDoes repeats every commit of an exploration on guard.Memory:
// the explorer keeps records as values, and must judge and change them as the stores do.
func TestRecordsDoWhatTheMemoryStoreDoes(t *testing.T) {
	commits := 0
	var x *explorer
	cfg := Config{Overlap: policy.Replace, Beats: true, Ticks: 2, Faults: 1, Only: []Fault{Crash, Aborted, TickDropped, GuardDeleted, RowDeleted}}
	cfg.hook.visited = func(of *explorer, _ *state) { x = of }
	cfg.hook.committed = func(before *records, c *guard.Commit, got committed) {
		if commits++; t.Failed() {
			return
		}
		m := memoryOf(t, before)
		err := m.Commit(context.Background(), *c)
		want, refused := before, new(guard.Refused)
		if err == nil {
			want = recordsOf(x, m, len(got.after.gaps))
		} else if !errors.As(err, &refused) {
			t.Fatal(err)
		}
		gotRefused := new(guard.Refused)
		errors.As(got.answer.err, &gotRefused)
		if want != got.after || string(encode(refused)) != string(encode(gotRefused)) {
			t.Errorf("commit %s: %+v, refused %+v; the memory store: %+v, refused %+v", describeCommit(c), got.after, gotRefused, want, refused)
		}
	}
	if _, err := Explore(cfg); err != nil || commits < 1000 {
		t.Fatalf("%d commits, %v: want many", commits, err)
	}
}

// memoryOf returns a memory store with these records.
func memoryOf(t *testing.T, r *records) *guard.Memory {
	t.Helper()
	c := guard.Commit{Job: job}
	if r.guard != nil {
		c.Writes = append(c.Writes, guard.Write{SK: schema.GuardSK, Absent: true, Patch: patchOf(r.guard.Guard)})
	}
	for _, row := range r.rows {
		c.Writes = append(c.Writes, guard.Write{SK: schema.TickSK(row.Tick), Absent: true, Patch: patchOf(row.Row)})
	}
	for _, gap := range r.gaps {
		c.Writes = append(c.Writes, guard.Write{SK: schema.GapSK(schema.TickID(gap.From.Time())), Absent: true, Patch: patchOf(gap)})
	}
	m := guard.NewMemory()
	if err := m.Commit(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	return m
}

// patchOf sets every field of a record that is not zero.
func patchOf(record any) guard.Patch {
	var p guard.Patch
	v := reflect.ValueOf(record)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name != "-" && !v.Field(i).IsZero() {
			p.Set = append(p.Set, guard.Field{Name: name, Value: v.Field(i).Interface()})
		}
	}
	return p
}

// recordsOf interns what a memory store holds.
func recordsOf(x *explorer, m *guard.Memory, gaps int) *records {
	ctx := context.Background()
	g, _ := m.Guard(ctx, job)
	page, _ := m.Rows(ctx, guard.RowQuery{Job: job})
	var rows []*row
	for _, r := range page.Rows {
		r.Token = ""
		rows = append(rows, x.internRow(r))
	}
	found, _ := m.Gaps(ctx, job, "", "~", 0)
	if len(found) != gaps {
		return nil
	}
	return x.internRecords(x.internGuard(g), rows, found)
}

// TestWhatIsLeftOutChangesNothing explores with every field, token and version as it is, and
// with what no transition reads left out: the same may happen.
func TestWhatIsLeftOutChangesNothing(t *testing.T) {
	for _, cfg := range []Config{
		{Overlap: policy.Replace, Beats: true, Ticks: 2},
		{Overlap: policy.QueueOne, Ticks: 2, Faults: 1, Only: []Fault{RunCrashes, Repeated, GuardDeleted}},
	} {
		reduced, whole := signatures(t, cfg, false), signatures(t, cfg, true)
		for s := range whole {
			if !reduced[s] {
				t.Fatalf("%v: only with every field there is %s", cfg, s)
			}
		}
		if len(reduced) != len(whole) || len(whole) < 100 {
			t.Errorf("%v: %d kinds of states, with every field %d", cfg, len(reduced), len(whole))
		}
	}
}

// signatures is what all states of a model look like to somebody who knows neither versions
// nor notes.
func signatures(t *testing.T, cfg Config, full bool) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	cfg.full = full
	cfg.hook.visited = func(_ *explorer, s *state) { seen[signature(s)] = true }
	if res, err := Explore(cfg); err != nil || res.Violation != nil {
		t.Fatal(err, res.Violation)
	}
	return seen
}

func signature(s *state) string {
	var b strings.Builder
	write := func(v ...any) { b.Write(encode(v)) }
	write(s.clock, s.faults, s.past.finals, len(s.calls.all), len(s.todo.all))
	for _, r := range s.runs.all {
		write(r.run, r.phase, r.status)
	}
	for _, r := range s.recs.rows {
		write(r.Tick, r.Outcome, r.Run)
	}
	if g := s.recs.guard; g != nil {
		write(g.Ready, g.ReadyAt, g.Run, g.LeaseUntil, g.Mark != nil, g.Stop != nil, g.Waiting != nil, g.LastTick)
	}
	return b.String()
}
