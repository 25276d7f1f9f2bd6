package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/fault"
	"github.com/cronfence/cronfence/internal/ops"
)

var noon = time.Date(2026, 9, 7, 12, 0, 0, 0, time.UTC)

func TestAnAxisHasRoundInstantsAndNotTooMany(t *testing.T) {
	for _, s := range spans {
		for _, now := range []time.Time{noon, noon.Add(time.Second), noon.Add(11*time.Hour + 59*time.Minute + 59*time.Second)} {
			all := windowAt(s, now).labels()
			if len(all) < 3 || len(all) > 10 {
				t.Errorf("%s at %v: %d labels", s.Name, now, len(all))
			}
			for i, l := range all {
				if strings.Contains(l.Text, ":") && !strings.HasSuffix(l.Text, "0") && !strings.HasSuffix(l.Text, "5") && s.Length > 15*time.Minute {
					t.Errorf("%s at %v: label %s", s.Name, now, l.Text)
				}
				if i > 0 && all[i-1].Text == l.Text {
					t.Errorf("%s at %v: label %s twice", s.Name, now, l.Text)
				}
			}
		}
	}
}

func TestAWindowFitsTheJobsInterval(t *testing.T) {
	for interval, want := range map[time.Duration]string{
		0: "15m", 30 * time.Second: "15m", time.Minute: "1h", 15 * time.Minute: "6h", time.Hour: "24h", 24 * time.Hour: "30d", 400 * 24 * time.Hour: "30d",
	} {
		if got := spanNamed("", interval); got.Name != want {
			t.Errorf("every %v: got %s, want %s", interval, got.Name, want)
		}
	}
	if got := spanNamed("7d", time.Minute); got.Name != "7d" {
		t.Errorf("asked for 7d: got %s", got.Name)
	}
}

// Colour alone tells nothing: outcomes of one colour differ in shape, but for the ways to fail.
func TestEveryOutcomeIsShownByColourAndShape(t *testing.T) {
	page, err := assets.ReadFile("assets/page.html")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, o := range ops.Outcomes {
		l, known := looks[o]
		if !known || !strings.Contains(string(page), `id="`+l.Glyph+`"`) || l.Says == "" {
			t.Errorf("%s: look %+v", o, l)
		}
		if other := seen[l.Glyph]; other != "" && other != l.Tone {
			t.Errorf("%s: the shape %s has two colours", o, l.Glyph)
		}
		seen[l.Glyph] = l.Tone
	}
}

func TestRunsThatGoOnAtOnceHaveRowsOfTheirOwn(t *testing.T) {
	var ends []time.Time
	var got []string
	for _, run := range [][2]int{{0, 10}, {5, 15}, {10, 20}, {12, 40}, {13, 41}, {14, 42}, {42, 50}} {
		lane := laneFor(&ends, noon.Add(time.Duration(run[0])*time.Minute), noon.Add(time.Duration(run[1])*time.Minute))
		got = append(got, fmt.Sprint(lane))
	}
	if want := "0 1 0 2 3 3 0"; strings.Join(got, " ") != want {
		t.Errorf("rows %v, want %s", got, want)
	}
}

// Every kind of fault has a button, and what it asks for is what the interface takes.
func TestEveryFaultHasAButton(t *testing.T) {
	v := faultsOf(nil, "cleanup", windowAt(spans[0], noon))
	if len(v.Presets) != len(fault.Catalog) {
		t.Errorf("%d buttons for %d kinds", len(v.Presets), len(fault.Catalog))
	}
	for _, p := range v.Presets {
		var f fault.Fault
		if err := json.Unmarshal([]byte(p.JSON), &f); err != nil || f.Check() != nil || f.At != 0 || f.String() != p.Text || p.Does == "" {
			t.Errorf("%+v: %+v, %v, %v", p, f, err, f.Check())
		}
		if d, _ := fault.Describe(f.Kind); d.Job != fault.None && f.Job != "cleanup" {
			t.Errorf("%s happens to %q", p.Text, f.Job)
		}
	}
}

func TestFaultsOfOtherJobsAreNotShown(t *testing.T) {
	w := windowAt(spans[0], noon)
	struck := fault.Entry{State: fault.Over, Count: 1, Last: "it is killed", LastAt: noon.Add(-time.Minute)}
	mine, other, all := struck, struck, struck
	mine.Fault, other.Fault, all.Fault = fault.Fault{Kind: fault.Kill, Job: "cleanup"}, fault.Fault{Kind: fault.Kill, Job: "sync"}, fault.Fault{Kind: fault.Throttle}
	entries := []fault.Entry{mine, other, all}
	if v := faultsOf(entries, "cleanup", w); len(v.Asked) != 2 || v.Asked[0].Fault.Kind != fault.Throttle || !strings.Contains(v.Asked[1].Says, "11:59:00 it is killed") {
		t.Errorf("got %+v", v.Asked)
	}
	if s := strikesOf(entries, "cleanup", w); len(s) != 2 {
		t.Errorf("got %+v", s)
	}
	if v := faultsOf(slices.Repeat(entries, 9), "cleanup", w); len(v.Asked) != maxFaults {
		t.Errorf("%d are listed", len(v.Asked))
	}
}
