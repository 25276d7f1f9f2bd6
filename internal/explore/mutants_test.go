package explore

import (
	"slices"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// guardWrite finds the guard's write of a commit.
func guardWrite(e *effect) *guard.Write {
	if e.op != opCommit {
		return nil
	}
	for i := range e.commit.Writes {
		if e.commit.Writes[i].SK == schema.GuardSK {
			return &e.commit.Writes[i]
		}
	}
	return nil
}

func dropConds(w *guard.Write, fields ...string) {
	w.If = slices.DeleteFunc(slices.Clone(w.If), func(c guard.Cond) bool { return slices.Contains(fields, c.Field) })
}

// mutants break what our processes ask of the store or of Step Functions. Each says which
// invariants it may be found by.
var mutants = []struct {
	name   string
	cfg    Config
	breaks func(e *effect)
	found  []string
}{
	{"release without owner check", Config{Overlap: policy.Skip, Beats: true, Ticks: 2, Faults: 1}, func(e *effect) {
		if w := guardWrite(e); w != nil && slices.Contains(w.Patch.Remove, "run") {
			dropConds(w, "run.id", "fence", "version")
		}
	}, []string{"I1", "I2", "I9", "I10"}},
	{"renew as acquire", Config{Overlap: policy.Skip, Beats: true, Aligned: true, Ticks: 2, Faults: 1}, func(e *effect) {
		if w := guardWrite(e); w != nil && w.Patch.Add != nil && w.Patch.Set.Get("leaseUntil") != nil {
			dropConds(w, "run.id", "fence", "mark")
		}
	}, []string{"I3"}},
	{"claim over a claim", Config{Overlap: policy.Skip, Beats: false, Ticks: 2, Faults: 2, Only: []Fault{TickLate, TickTwice}}, func(e *effect) {
		if e.op != opCommit {
			return
		}
		for i := range e.commit.Writes {
			if w := &e.commit.Writes[i]; w.SK != schema.GuardSK && w.Absent {
				w.Absent, w.OrAbsent = false, true
			}
		}
	}, []string{"I4", "I9"}},
	{"no drain after a crash", Config{Overlap: policy.Skip, Beats: false, Ticks: 2, Faults: 1}, func(e *effect) {
		if w := guardWrite(e); w != nil {
			w.Patch.Set = w.Patch.Set.Without("drainUntil")
		}
	}, []string{"I9"}},
	{"missing guard created free", Config{Overlap: policy.Skip, Beats: true, Ticks: 2, Faults: 1}, func(e *effect) {
		if w := guardWrite(e); w != nil && w.Absent {
			w.Patch.Set = w.Patch.Set.With("ready", true)
		}
	}, []string{"I1", "I9", "I10"}},
	{"fence restarts", Config{Overlap: policy.Skip, Beats: false, Ticks: 2}, func(e *effect) {
		if w := guardWrite(e); w != nil && w.Patch.Set.Get("fence") != nil {
			w.Patch.Set = w.Patch.Set.With("fence", int64(1))
		}
	}, []string{"I2"}},
	{"waiting tick dropped without a word", Config{Overlap: policy.QueueOne, Beats: false, Ticks: 2}, func(e *effect) {
		if e.op != opCommit {
			return
		}
		e.commit.Writes = slices.DeleteFunc(slices.Clone(e.commit.Writes), func(w guard.Write) bool {
			return w.Patch.Set.Get("outcome") == guard.Running && w.OrAbsent
		})
	}, []string{"I4", "I9"}},
	{"an end counts twice", Config{Overlap: policy.Skip, Beats: false, Ticks: 2, Faults: 1}, func(e *effect) {
		if e.op != opCommit {
			return
		}
		for i := range e.commit.Writes {
			if w := &e.commit.Writes[i]; w.SK != schema.GuardSK {
				dropConds(w, "outcome")
			}
			if w := guardWrite(e); w != nil && slices.Contains(w.Patch.Remove, "run") {
				dropConds(w, "version", "run.id")
			}
		}
	}, []string{"I4", "I1", "I9"}},
}

// TestBrokenProtocolIsFound shows that the check can fail, and says how in few words.
func TestBrokenProtocolIsFound(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			m.cfg.hook.breaks = m.breaks
			res, err := Explore(m.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if res.Violation == nil {
				t.Fatalf("not found in %v", res)
			}
			invariant, _, _ := strings.Cut(res.Violation.What, ":")
			if !slices.Contains(m.found, invariant) || len(res.Violation.Steps) > 40 {
				t.Errorf("want a short path to one of %v: %v", m.found, res.Violation)
			}
			t.Logf("after %d states: %v", res.States, res.Violation)
		})
	}
}
