package alarmtest

import (
	"strings"
	"testing"
)

// The two tables of AWS's page on missing data, the newest point at the right: X breaches, 0
// does not. "keep" retains the state.
func TestRulesAreAsAWSDocumentsThem(t *testing.T) {
	const keep = State("keep")
	for _, c := range []struct {
		points                                   string
		m                                        int
		missing, ignore, breaching, notBreaching State
	}{
		{"0 - X - X", 3, OK, OK, OK, OK},
		{"0 - - - -", 3, OK, OK, OK, OK},
		{"- - - - -", 3, InsufficientData, keep, InAlarm, OK},
		{"0 X X - X", 3, InAlarm, InAlarm, InAlarm, InAlarm},
		{"- - X - -", 3, InAlarm, keep, InAlarm, OK},
		{"0 - X - X", 2, InAlarm, InAlarm, InAlarm, InAlarm},
		{"0 0 X 0 X", 2, InAlarm, InAlarm, InAlarm, InAlarm},
		{"0 - X - -", 2, OK, OK, InAlarm, OK},
		{"- - - - 0", 2, OK, OK, InAlarm, OK},
		{"- - - X -", 2, InAlarm, keep, InAlarm, OK},
		// And from the text beneath them: not yet.
		{"- - - - X", 3, OK, keep, InAlarm, OK},
		{"- - X - 0", 3, OK, OK, OK, OK},
	} {
		var slots []slot
		for _, p := range strings.Fields(c.points) {
			slots = append([]slot{{missing: p == "-", breaching: p == "X"}}, slots...)
		}
		for treatment, want := range map[string]State{"missing": c.missing, "ignore": c.ignore, "breaching": c.breaching, "notBreaching": c.notBreaching} {
			for _, before := range []State{OK, InAlarm, InsufficientData} {
				want := want
				if want == keep {
					want = before
				}
				if got := judge(slots, 3, c.m, treatment, before); got != want {
					t.Errorf("%s, %d of 3, missing data %s, before %s: %s, want %s", c.points, c.m, treatment, before, got, want)
				}
			}
		}
	}
}

// An alarm on other dimensions than the points have looks at a metric that does not exist.
func TestAlarmSeesPointsOfExactlyItsDimensions(t *testing.T) {
	m := Metric{Namespace: "Cronfence", Name: "Failed", Dimensions: map[string]string{"Scheduler": "shop"}}
	query := Metric{Namespace: "Cronfence", Name: "Failed", Dimensions: map[string]string{"Scheduler": "shop", "Job": ""}}
	for _, c := range []struct {
		of        map[string]string
		m, sought bool
	}{
		{map[string]string{"Scheduler": "shop"}, true, false},
		{map[string]string{"Scheduler": "shop", "Job": "cleanup"}, false, true},
		{map[string]string{"Scheduler": "other", "Job": "cleanup"}, false, false},
		{map[string]string{"Scheduler": "shop", "Region": "x"}, false, false},
	} {
		p := Point{Namespace: "Cronfence", Metric: "Failed", Dimensions: c.of}
		if m.matches(p) != c.m || query.matches(p) != c.sought {
			t.Errorf("%v: alarm %v, query %v: want %v, %v", c.of, m.matches(p), query.matches(p), c.m, c.sought)
		}
	}
}
