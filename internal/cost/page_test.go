package cost_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/cost"
	"github.com/cronfence/cronfence/pkg/schedule"
)

var update = flag.Bool("update", false, "write the tables of docs/cost.md anew")

const page = "../../docs/cost.md"

// examples are the three jobs of the page.
var examples = []struct {
	name, expression string
	run, maxRun      time.Duration
}{
	{"every minute, 20 s", "rate(1 minute)", 20 * time.Second, 45 * time.Second},
	{"every 15 minutes, 10 min", "rate(15 minutes)", 10 * time.Minute, time.Hour},
	{"nightly, 1 h", "cron(0 2 * * ? *)", time.Hour, 2 * time.Hour},
}

func estimates(t *testing.T) (all []cost.Estimate) {
	t.Helper()
	from := time.Date(2026, 9, 7, 0, 0, 0, 0, time.UTC)
	for _, e := range examples {
		s, err := schedule.Parse(e.expression)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cost.Of(cost.Job{
			TicksPerMonth: cost.TicksPerMonth(s, from), RunTime: e.run, MaxRunTime: e.maxRun, SkipShare: cost.SkipShare(s, from, e.run),
		}))
	}
	return all
}

// jobsTable has a column a job: its counts, its lines, its sums.
func jobsTable(t *testing.T) string {
	all := estimates(t)
	rows := [][]string{{"USD a month"}, {"---"}, {"runs a month"}, {"transitions a run"}, {"requests to DynamoDB a run"}}
	for i, e := range all {
		rows[0], rows[1] = append(rows[0], examples[i].name), append(rows[1], "---")
		rows[2] = append(rows[2], fmt.Sprintf("%.0f", e.RunsPerMonth))
		rows[3], rows[4] = append(rows[3], fmt.Sprint(e.TransitionsPerRun)), append(rows[4], fmt.Sprint(e.RequestsPerRun))
	}
	for n, l := range all[0].Lines {
		row := []string{l.Item}
		for _, e := range all {
			row = append(row, fmt.Sprintf("%.3f", e.Lines[n].USDPerMonth))
		}
		rows = append(rows, row)
	}
	sum, million := []string{"**in all, a month**"}, []string{"**a million runs**, without what comes a month"}
	for _, e := range all {
		sum, million = append(sum, fmt.Sprintf("%.2f", e.USDPerMonth)), append(million, fmt.Sprintf("%.2f", e.USDPerMillionRuns))
	}
	return lines(append(rows, sum, million))
}

func schedulerTable(*testing.T) string {
	all, sum := cost.Scheduler()
	rows := [][]string{{"of a scheduler, a month", "units", "USD"}, {"---", "---", "---"}}
	for _, l := range all {
		rows = append(rows, []string{l.Item, units(l.PerMonth), fmt.Sprintf("%.3f", l.USDPerMonth)})
	}
	return lines(append(rows, []string{"**in all**", "", fmt.Sprintf("%.2f", sum)}))
}

func otherWaysTable(t *testing.T) string {
	all := estimates(t)
	rows := [][]string{{"USD, a million runs"}, {"---"}, {"Cronfence"}}
	for i, e := range all {
		rows[0], rows[1] = append(rows[0], examples[i].name), append(rows[1], "---")
		rows[2] = append(rows[2], fmt.Sprintf("%.2f", e.USDPerMillionRuns))
	}
	for n, a := range all[0].Alternatives {
		row := []string{a.Name}
		for _, e := range all {
			row = append(row, fmt.Sprintf("%.2f", e.Alternatives[n].USDPerMillionRuns))
		}
		rows = append(rows, row)
	}
	return lines(rows)
}

func units(n float64) string {
	if n >= 100 {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.3g", n)
}

func lines(rows [][]string) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	return b.String()
}

func TestPageHasTheEstimates(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for mark, table := range map[string]func(*testing.T) string{"jobs": jobsTable, "scheduler": schedulerTable, "other ways": otherWaysTable} {
		before, rest, opened := strings.Cut(string(text), "<!-- "+mark+" -->\n")
		has, after, closed := strings.Cut(rest, "<!-- /"+mark+" -->\n")
		if !opened || !closed {
			t.Fatalf("%s: no marks of %q", page, mark)
		}
		want := table(t)
		if *update {
			text = []byte(before + "<!-- " + mark + " -->\n" + want + "<!-- /" + mark + " -->\n" + after)
		} else if has != want {
			t.Errorf("%s, %s:\n%s\nwant (go test ./internal/cost -update)\n%s", page, mark, has, want)
		}
	}
	if *update {
		if err := os.WriteFile(page, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
