package bench

import (
	"fmt"
	"slices"
	"time"
)

// operations are in the order in which a tick meets them: claimed, renewed, delivered again, the
// next tick skipped, settled.
var operations = []string{"claim", "beat", "duplicate", "skip", "settle"}

// Run is one measurement of all contenders, in run.json.
type Run struct {
	Setting
	Emulator   string      `json:"emulator"`
	WarmUp     int         `json:"warmUp"`  // of each operation, not counted
	Samples    int         `json:"samples"` // of each operation
	Contenders []Contender `json:"contenders"`
}

// Contender is what one of them took.
type Contender struct {
	Name        string              `json:"name"`
	Version     string              `json:"version"`
	Does        []string            `json:"does"`
	LargestItem int                 `json:"largestItemBytes"`
	Operations  map[string]Measured `json:"operations"`
}

// Measured is one operation: milliseconds, and what it sent.
type Measured struct {
	Median float64 `json:"medianMs"`
	P95    float64 `json:"p95Ms"`
	Requests
}

func (m *Measured) add(sent Requests) {
	m.Requests.Requests += sent.Requests
	m.WriteUnits += sent.WriteUnits
	m.ReadUnits += sent.ReadUnits
	if m.Kinds == nil {
		m.Kinds = map[string]float64{}
	}
	for kind, n := range sent.Kinds {
		m.Kinds[kind] += n
	}
}

// finish makes sums those of one operation.
func (c *Contender) finish(took map[string][]time.Duration) {
	for operation, m := range c.Operations {
		all := took[operation]
		slices.Sort(all)
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		m.Median, m.P95 = ms(all[len(all)/2]), ms(all[len(all)*95/100])
		n := float64(len(all))
		m.Requests.Requests, m.WriteUnits, m.ReadUnits = m.Requests.Requests/n, m.WriteUnits/n, m.ReadUnits/n
		for kind := range m.Kinds {
			m.Kinds[kind] /= n
		}
		c.Operations[operation] = m
	}
}

// both is a claim and a settling: the lock and unlock of others. Its time is the sum of two medians;
// 95th percentiles have no such sum.
func (c Contender) both() Measured {
	claim, settle := c.Operations["claim"], c.Operations["settle"]
	claim.Median += settle.Median
	claim.P95 = 0
	claim.Requests.Requests += settle.Requests.Requests
	claim.WriteUnits += settle.WriteUnits
	claim.ReadUnits += settle.ReadUnits
	return claim
}

func (c Contender) of(column string) (Measured, bool) {
	if column == "claim and settle" {
		return c.both(), true
	}
	m, does := c.Operations[column]
	return m, does
}

var columns = []string{"claim", "settle", "claim and settle", "duplicate", "skip", "beat"}

// table is the run as docs/performance.md has it.
func (r *Run) table() string {
	times, sent := [][]string{}, [][]string{}
	for _, c := range r.Contenders {
		times = append(times, c.row(func(column string, m Measured) string {
			floor, _ := r.Contenders[0].of(column)
			return fmt.Sprintf("%.1f, x %.2f", m.Median, m.Median/floor.Median)
		}))
		sent = append(sent, c.row(func(_ string, m Measured) string {
			return fmt.Sprintf("%.3g / %.3g / %.3g", m.Requests.Requests, m.WriteUnits, m.ReadUnits)
		}))
	}
	return fmt.Sprintf("%s. Of %s; %d of each operation, after %d that do not count.\n\n", r.Setting, r.Emulator, r.Samples, r.WarmUp) +
		tabulate(slices.Concat([]string{"median ms, and as a multiple of the least"}, columns), times) + "\n" +
		tabulate(slices.Concat([]string{"requests / write units / read units"}, columns), sent)
}

func (c Contender) row(cell func(column string, m Measured) string) []string {
	cells := []string{c.Name + ", " + c.Version}
	for _, column := range columns {
		text := ""
		if m, does := c.of(column); does {
			text = cell(column, m)
		}
		cells = append(cells, text)
	}
	return cells
}

// broken is of requests: times beside peers are shown, not bounded.
func (r *Run) broken() []string {
	var b bounds
	c := cronfenceOf(r)
	both, skip := c.both(), c.Operations["skip"]
	b.atMost("requests of claim and settle", both.Requests.Requests, 2)
	b.atMost("requests of a skip", skip.Requests.Requests, 2)
	if both.Requests.Requests == 0 || skip.Requests.Requests == 0 {
		b = append(b, "requests were not counted")
	}
	return b
}

func cronfenceOf(r *Run) Contender {
	for _, c := range r.Contenders {
		if c.Name == "Cronfence" {
			return c
		}
	}
	return Contender{}
}
