package cronfence

import (
	"slices"
	"testing"
)

func TestChainIsReadFromItsOwnText(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		names     []string
		events    int64
		unbounded bool
	}{
		"one task":       {`{"StartAt":"A","States":{"A":{"Type":"Task","End":true}}}`, []string{"A"}, 6, false},
		"retried task":   {`{"StartAt":"A","States":{"A":{"Type":"Task","Retry":[{"MaxAttempts":6},{}],"End":true}}}`, []string{"A"}, 6 + 9*4, false},
		"never retried":  {`{"StartAt":"A","States":{"A":{"Type":"Task","Retry":[{"MaxAttempts":0}],"End":true}}}`, []string{"A"}, 6, false},
		"both choices":   {`{"StartAt":"A","States":{"A":{"Type":"Choice","Choices":[{"Next":"B"}],"Default":"C"},"B":{"Type":"Wait","Next":"C"},"C":{"Type":"Succeed"}}}`, []string{"A", "B", "C"}, 12, false},
		"poll":           {`{"StartAt":"A","States":{"A":{"Type":"Wait","Next":"B"},"B":{"Type":"Choice","Choices":[{"Next":"A"}],"Default":"C"},"C":{"Type":"Succeed"}}}`, []string{"A", "B", "C"}, 12, true},
		"caught by self": {`{"StartAt":"A","States":{"A":{"Type":"Task","Catch":[{"Next":"A"}],"End":true}}}`, []string{"A"}, 6, true},
		"parallel": {
			`{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Retry":[{"MaxAttempts":1}],"Branches":[{"StartAt":"A","States":{"A":{"Type":"Task","End":true}}},{"StartAt":"B","States":{"B":{"Type":"Task","End":true}}}]}}}`,
			[]string{"P", "A", "B"},
			4 + 2*12 + 4, false,
		},
		"inline map": {
			`{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ItemProcessor":{"ProcessorConfig":{"Mode":"INLINE"},"StartAt":"A","States":{"A":{"Type":"Task","End":true}}}}}}`,
			[]string{"M", "A"},
			10, true,
		},
		"distributed map": {
			`{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED"},"StartAt":"A","States":{"A":{"Type":"Task","End":true}}}}}}`,
			[]string{"M", "A"},
			4, false,
		},
		"old map": {
			`{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"Iterator":{"StartAt":"A","States":{"A":{"Type":"Task","End":true}}}}}}`,
			[]string{"M", "A"},
			10, true,
		},
	} {
		got, err := readChain(c.text)
		slices.Sort(got.names)
		slices.Sort(c.names)
		if err != nil || !slices.Equal(got.names, c.names) || got.events != c.events || got.unbounded != c.unbounded {
			t.Errorf("%s: %+v, %v: want %q, %d events, unbounded %v", name, got, err, c.names, c.events, c.unbounded)
		}
	}
}
