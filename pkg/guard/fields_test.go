package guard

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/pkg/policy"
)

// A patch that repeats what is there would be right, and cost a write.
func TestWhatIsEqualIsNotInAPatch(t *testing.T) {
	guarded := func() *Guard {
		spec := jobOf(policy.Skip)
		return &Guard{
			Version: 7, Ready: true, Run: &RunRef{ID: "r"}, Mark: &Mark{By: "x"}, Spec: &spec, SpecHash: "h",
			Waiting: &Waiting{Tick: "t"}, Paused: &Pause{By: "me"}, LastTick: t0,
		}
	}
	if p := diffGuards(guarded(), guarded()); !p.Empty() {
		t.Errorf("patch %+v between equal guards", p)
	}
	want := guarded()
	want.Ready, want.Run, want.Version, want.SpecHash, want.Paused = false, nil, 8, "i", &Pause{By: "you"}
	got := diffGuards(guarded(), want)
	if diff := cmp.Diff(Fields{{"version", int64(8)}, {"paused", want.Paused}, {"specHash", "i"}}, got.Set); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ready", "run"}, got.Remove); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	a, b := Row{Ratio: 0.5, Holder: &Holder{Run: "r"}}, Row{Ratio: 0.5, Holder: &Holder{Run: "r"}}
	if p := diffRows(&a, &b, 0); !p.Empty() {
		t.Errorf("patch %+v between equal rows", p)
	}
}

func TestUnknownFieldsAndComparisonsAreFoundAtOnce(t *testing.T) {
	for name, c := range map[string]Cond{"field": {"lease", Missing, nil}, "comparison": {"version", Op(99), int64(1)}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			Guard{Version: 1}.Holds([]Cond{c})
		}()
	}
}

func TestListsOfGuardsWithoutALimitAreWhole(t *testing.T) {
	m := NewMemory()
	for _, job := range []string{"b", "a", "c"} {
		c := Commit{Job: job, Writes: []Write{{SK: "guard", Absent: true, Patch: Patch{Set: Fields{{"version", int64(1)}}}}}}
		if err := m.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	page, err := m.Guards(t.Context(), "", 0)
	if err != nil || len(page.Guards) != 3 || page.Next != "" {
		t.Errorf("%+v, %v: want all three", page, err)
	}
	if page, _ = m.Guards(t.Context(), "a", 3); len(page.Guards) != 2 || page.Next != "" {
		t.Errorf("%+v: want those after a", page)
	}
	if page, _ = m.Guards(t.Context(), "", 3); page.Next != "" {
		t.Errorf("next %q: there is none", page.Next)
	}
}
