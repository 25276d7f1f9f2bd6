package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// operations are in the order in which a tick meets them: claimed, renewed, delivered again, the
// next tick skipped, settled.
var operations = []string{"claim", "beat", "duplicate", "skip", "settle"}

// Run is one measurement of all contenders, in run.json.
type Run struct {
	Date       string      `json:"date"`
	Machine    string      `json:"machine"`
	LoadBefore string      `json:"loadBefore"` // processes that wanted to run, of the last minute
	LoadAfter  string      `json:"loadAfter"`
	Emulator   string      `json:"emulator"`
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

// both is a claim and a settling: the lock and unlock of others.
func (c Contender) both() Measured {
	claim, settle := c.Operations["claim"], c.Operations["settle"]
	claim.Median += settle.Median
	claim.P95 += settle.P95
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
func (r Run) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s, of %s; %d of each operation; load average %s before, %s after.\n\n", r.Date, r.Machine, r.Emulator, r.Samples, r.LoadBefore, r.LoadAfter)
	b.WriteString("| median ms, and as a multiple of the least | " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat(" --- |", len(columns)+1) + "\n")
	for _, c := range r.Contenders {
		b.WriteString(r.row(c, func(column string, m Measured) string {
			floor, _ := r.Contenders[0].of(column)
			return fmt.Sprintf("%.1f, x %.2f", m.Median, m.Median/floor.Median)
		}))
	}
	b.WriteString("\n| requests / write units / read units | " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat(" --- |", len(columns)+1) + "\n")
	for _, c := range r.Contenders {
		b.WriteString(r.row(c, func(_ string, m Measured) string {
			return fmt.Sprintf("%.3g / %.3g / %.3g", m.Requests.Requests, m.WriteUnits, m.ReadUnits)
		}))
	}
	return b.String()
}

func (r Run) row(c Contender, cell func(column string, m Measured) string) string {
	cells := []string{c.Name + ", " + c.Version}
	for _, column := range columns {
		text := ""
		if m, does := c.of(column); does {
			text = cell(column, m)
		}
		cells = append(cells, text)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

const (
	runFile = "peers/run.json"
	page    = "../docs/performance.md"
	opening = "<!-- side by side -->\n"
	closing = "<!-- /side by side -->\n"
)

// write writes the run, and its table into the page.
func (r Run) write(t *testing.T) {
	t.Helper()
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	before, _, after := cut(t)
	for path, content := range map[string]string{runFile: string(text) + "\n", page: before + opening + r.table() + closing + after} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// cut is the page before, between and after the marks of the table.
func cut(t *testing.T) (before, table, after string) {
	t.Helper()
	before, rest, opened := strings.Cut(read(t, page), opening)
	table, after, closed := strings.Cut(rest, closing)
	if !opened || !closed {
		t.Fatalf("%s: no %q and %q", page, opening, closing)
	}
	return before, table, after
}

func TestThePagesTableIsThatOfTheRun(t *testing.T) {
	var run Run
	if err := json.Unmarshal([]byte(read(t, runFile)), &run); err != nil {
		t.Fatalf("read %s: %v", runFile, err)
	}
	if _, table, _ := cut(t); table != run.table() {
		t.Errorf("%s has\n%s\nand %s says\n%s", page, table, runFile, run.table())
	}
}

// The bounds on requests, of the run that the page shows.
func TestAClaimAndItsSettlingAreTwoRequestsAndASkipAtMostTwo(t *testing.T) {
	var run Run
	if err := json.Unmarshal([]byte(read(t, runFile)), &run); err != nil {
		t.Fatalf("read %s: %v", runFile, err)
	}
	for _, c := range run.Contenders {
		if c.Name != "Cronfence" {
			continue
		}
		if both, skip := c.both(), c.Operations["skip"]; both.Requests.Requests != 2 || skip.Requests.Requests > 2 {
			t.Errorf("%v requests for claim and settling, %v for a skip", both.Requests.Requests, skip.Requests.Requests)
		}
	}
}
