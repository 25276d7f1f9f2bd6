package cronfence

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// defaultsTables reads the tables between the marks in docs/jobs.md: cells by their first,
// one map a table.
func defaultsTables(t *testing.T) []map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(infratest.Root(), "docs", "jobs.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "<!-- defaults -->")
	text, _, _ = strings.Cut(text, "<!-- /defaults -->")
	var tables []map[string]string
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch {
		case len(cells) < 2 || strings.HasPrefix(line, "| ---"):
		case strings.HasPrefix(line, "| of ") || strings.HasPrefix(line, "| fixed "):
			tables = append(tables, map[string]string{})
		default:
			tables[len(tables)-1][strings.Trim(cells[0], " `")] = strings.TrimSpace(cells[1])
		}
	}
	return tables
}

// human writes a duration as the docs do.
func human(d time.Duration) string {
	switch {
	case d >= day && d%day == 0 && d > day:
		return fmt.Sprintf("%d days", d/day)
	case d == day:
		return "1 day"
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d > time.Minute && d%time.Minute != 0:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d >= time.Minute:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

// fields are the names of a struct's exported fields; those of Alarms stand for themselves.
func fields(v any) []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
		if f.Type == reflect.TypeFor[JobAlarms]() {
			for _, name := range fields(JobAlarms{}) {
				names = append(names, f.Name+"."+name)
			}
			continue
		}
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

func TestDocumentedDefaultsAreTheCodes(t *testing.T) {
	tables := defaultsTables(t)
	if len(tables) != 3 {
		t.Fatalf("%d tables: want those of jobs, schedulers and what is fixed", len(tables))
	}
	for i, props := range []any{JobProps{}, SchedulerProps{}} {
		if got, want := slices.Sorted(maps.Keys(tables[i])), fields(props); !slices.Equal(got, want) {
			t.Errorf("docs/jobs.md lists\n     %v\nwant %v", got, want)
		}
	}
	var bad problems
	job := (&JobProps{Overlap: policy.Replace}).times(targetFacts{}, &bad)
	retention, _ := logRetention(0)
	for i, want := range []map[string]string{
		{
			"Overlap": policy.Overlap(0).String(), "CatchUp": policy.CatchUp(0).String(), "Spread": human(0),
			"Grace": human(schema.DefaultGrace), "MaxRun": human(job.maxRun), "Lease": human(job.lease), "Renewal": human(job.renewal),
			"StartDeadline": human(job.startDeadline), "Retries": "0", "CatchUpMax": fmt.Sprint(schema.DefaultCatchUpMax),
			"CatchUpWindow": human(schema.DefaultCatchUpWindow), "Alarms.OverdueBy": human(0),
			"Alarms.Failures": fmt.Sprint(defaultFailures), "Alarms.Ratio": fmt.Sprint(defaultRatio), "Alarms.Skips": fmt.Sprint(defaultSkips),
		},
		{
			"RemovalPolicy": string((&SchedulerProps{}).removalPolicy()), "Architecture": ARM64, "LogLevel": LogInfo,
			"Retention": human(schema.Retention), "LogRetention": human(schema.Retention),
		},
		{
			"skew margin": human(schema.SkewMargin), "delivery grace": human(schema.DeliveryGrace), "sweep": human(schema.Sweep),
			"start allowance": human(schema.StartAllowance), "settle allowance": human(schema.SettleAllowance),
		},
	} {
		for name, value := range want {
			if got := tables[i][name]; got != value {
				t.Errorf("docs/jobs.md: default of %s %q: want %q", name, got, value)
			}
		}
	}
	if retentions[int(schema.Retention/day)] != retention || len(bad) > 0 {
		t.Errorf("log retention %v, problems %v", retention, bad)
	}
	for name, f := range map[string]string{
		"Lease":    "at least " + human(schema.MinLease(0)) + " + the renewal",
		"Retries":  fmt.Sprintf("up to %d", schema.MaxRetries),
		"CatchUps": fmt.Sprintf("up to %d, with CatchUpAll", schema.MaxCatchUp),
		"Owner":    fmt.Sprintf("up to %d bytes", maxOwner),
		"Runbook":  fmt.Sprintf("up to %d bytes", maxRunbook),
	} {
		b, _ := os.ReadFile(filepath.Join(infratest.Root(), "docs", "jobs.md"))
		if !strings.Contains(string(b), "| "+f+" |") {
			t.Errorf("docs/jobs.md: %s: want %q", name, f)
		}
	}
}
