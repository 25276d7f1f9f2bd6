package cost_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/cost"
)

var update = flag.Bool("update", false, "write the tables of docs/cost.md anew")

const page = "../../docs/cost.md"

// examples are the jobs of the page.
var examples = []struct {
	name, expression string
	target           cost.Target
	run, maxRun      time.Duration
}{
	{"every minute, 20 s", "rate(1 minute)", cost.Lambda, 20 * time.Second, 45 * time.Second},
	{"every minute, 170 s", "rate(1 minute)", cost.Lambda, 170 * time.Second, 15 * time.Minute},
	{"every 15 minutes, 10 min", "rate(15 minutes)", cost.Lambda, 10 * time.Minute, 15 * time.Minute},
	{"nightly, 1 h, a container", "cron(0 2 * * ? *)", cost.ECS, time.Hour, 2 * time.Hour},
}

func estimates(t *testing.T) (all []cost.Estimate) {
	t.Helper()
	for _, e := range examples {
		s := parsed(t, e.expression)
		j := cost.Job{
			TicksPerMonth: cost.PaceOf(s, monday).PerMonth, Target: e.target, RunTime: e.run, MaxRunTime: e.maxRun, SkipShare: cost.SkipShare(s, monday, e.run),
		}
		if err := j.Check(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cost.Of(j))
	}
	return all
}

// jobsTable has a column a job: its counts, its lines, its sums.
func jobsTable(t *testing.T) string {
	all := estimates(t)
	rows := [][]string{{"USD a month"}, {"---"}, {"target"}, {"maximum run time"}, {"runs a month"}, {"skips a month"}, {"transitions a run"}, {"requests to DynamoDB a run"}}
	for i, e := range all {
		rows[0], rows[1] = append(rows[0], examples[i].name), append(rows[1], "---")
		rows[2] = append(rows[2], string(e.Target))
		rows[3] = append(rows[3], short(examples[i].maxRun))
		rows[4] = append(rows[4], fmt.Sprintf("%.0f", e.RunsPerMonth))
		rows[5] = append(rows[5], fmt.Sprintf("%.0f", e.SkipsPerMonth))
		rows[6], rows[7] = append(rows[6], fmt.Sprint(e.TransitionsPerRun)), append(rows[7], fmt.Sprint(e.RequestsPerRun))
	}
	for n, l := range all[0].Lines {
		row := []string{l.Item}
		for _, e := range all {
			row = append(row, fmt.Sprintf("%.3f", e.Lines[n].USDPerMonth))
		}
		rows = append(rows, row)
	}
	sum, million, skips := []string{"**in all, a month**"}, []string{"a million runs alone"}, []string{"a million skips alone"}
	for _, e := range all {
		sum = append(sum, fmt.Sprintf("%.2f", e.USDPerMonth))
		million, skips = append(million, fmt.Sprintf("%.2f", e.USDPerMillionRuns)), append(skips, fmt.Sprintf("%.2f", e.USDPerMillionSkips))
	}
	return lines(append(rows, sum, million, skips))
}

// commands has for each job what writes its column.
func commands(*testing.T) string {
	var b strings.Builder
	b.WriteString("```\n")
	for _, e := range examples {
		fmt.Fprintf(&b, "cronfence cost --schedule '%s' --run-time %s --target %s --max-run-time %s\n", e.expression, short(e.run), e.target, short(e.maxRun))
	}
	return b.String() + "```\n"
}

// short writes a duration without the parts that are zero.
func short(d time.Duration) string {
	text := d.String()
	for _, none := range []string{"0s", "0m"} {
		if rest, cut := strings.CutSuffix(text, none); cut && strings.ContainsAny(rest[len(rest)-1:], "hm") {
			text = rest
		}
	}
	return text
}

func schedulerTable(*testing.T) string {
	c := cost.Scheduler()
	rows := [][]string{{"of a scheduler, a month", "units", "USD"}, {"---", "---", "---"}}
	for _, l := range c.Lines {
		rows = append(rows, []string{l.Item, units(l.PerMonth), fmt.Sprintf("%.3f", l.USDPerMonth)})
	}
	return lines(append(rows, []string{"**in all**", "", fmt.Sprintf("%.2f", c.USDPerMonth)}))
}

// otherWaysTable has for each job a month of its ticks, and in brackets a million of its runs.
func otherWaysTable(t *testing.T) string {
	all := estimates(t)
	rows := [][]string{{"USD a month (a million runs)"}, {"---"}, {"Cronfence"}, {"its metrics, alarms, sentinel's look"}, {"**Cronfence in all, one job**"}}
	for i, e := range all {
		rows[0], rows[1] = append(rows[0], examples[i].name), append(rows[1], "---")
		rows[2] = append(rows[2], fmt.Sprintf("%.2f (%.2f)", e.USDPerMonth-e.USDPerMonthWatching, e.USDPerMillionRuns))
		rows[3] = append(rows[3], fmt.Sprintf("%.2f", e.USDPerMonthWatching))
		rows[4] = append(rows[4], fmt.Sprintf("%.2f", e.USDPerMonth+e.Scheduler.USDPerMonth))
	}
	for n, a := range all[0].Alternatives {
		row := []string{a.Name}
		for _, e := range all {
			row = append(row, fmt.Sprintf("%.2f (%.2f)", e.Alternatives[n].USDPerMonth, e.Alternatives[n].USDPerMillionRuns))
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
	for mark, table := range map[string]func(*testing.T) string{"jobs": jobsTable, "commands": commands, "scheduler": schedulerTable, "other ways": otherWaysTable} {
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
