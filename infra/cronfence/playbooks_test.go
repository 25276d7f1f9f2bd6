package cronfence_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/internal/cost"
	"github.com/cronfence/cronfence/internal/telemetry"
)

// alarms of a template by name, without the scheduler's.
func alarmNames(tpl template) (names []string) {
	for _, r := range tpl.all("AWS::CloudWatch::Alarm") {
		names = append(names, strings.TrimPrefix(r.Properties["AlarmName"].(string), "cronfence/"))
	}
	slices.Sort(names)
	return names
}

var playbookLink = regexp.MustCompile(`\nWhat to do: https://github\.com/cronfence/cronfence/blob/main/(docs/playbooks/[a-z-]+\.md)$`)

// Whoever is woken up finds what to do behind the alarm's own text.
func TestEveryAlarmHasItsPlaybook(t *testing.T) {
	linked := map[string]bool{}
	for _, tpl := range []template{synth(t).main, synth(t).more, synthTuned(t).main, synthTuned(t).shared} {
		for id, r := range tpl.all("AWS::CloudWatch::Alarm") {
			link := playbookLink.FindStringSubmatch(r.Properties["AlarmDescription"].(string))
			if link == nil {
				t.Errorf("%s says %q: want a link to its playbook at its end", id, r.Properties["AlarmDescription"])
				continue
			}
			linked[link[1]] = true
		}
	}
	for _, name := range alarmNames(synth(t).main) { // with their own names, the playbooks are called like the alarms
		kind := name[strings.LastIndex(name, "/")+1:]
		file := "docs/playbooks/" + kind + ".md"
		if !linked[file] {
			t.Errorf("alarm %s links to no %s", name, file)
		}
		text, err := os.ReadFile(filepath.Join(infratest.Root(), file))
		if err != nil {
			t.Errorf("alarm %s: %v", name, err)
			continue
		}
		for _, part := range []string{"# " + kind + " (", "\n**It means** ", "\n**Look**", "\n**Do**", "\n**Harmless** "} {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s lacks %q", file, part)
			}
		}
	}
	if files, err := filepath.Glob(filepath.Join(infratest.Root(), "docs/playbooks/*.md")); err != nil || len(files) != len(linked) {
		t.Errorf("%d playbooks, %d linked to: want as many, %v", len(files), len(linked), err)
	}
}

var counted = regexp.MustCompile(`(?m)^\| ([a-zA-Z` + "`" + ` ]+) \| (\d+) \| (\d+) \|$`)

// Every metric and alarm costs money: docs/cost.md says how many there are.
func TestMetricsAndAlarmsAreAsManyAsTheDocsSay(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(infratest.Root(), "docs/cost.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "<!-- counted -->")
	table, _, _ = strings.Cut(table, "<!-- /counted -->")
	says := map[string]string{}
	for _, row := range counted.FindAllStringSubmatch(table, -1) {
		says[row[1]] = row[2] + " " + row[3]
	}
	ofJob, ofScheduler := 0, 0
	for _, name := range alarmNames(synth(t).main) {
		if strings.HasPrefix(name, "shop/sync/") {
			ofJob++
		}
		if strings.Count(name, "/") == 1 {
			ofScheduler++
		}
	}
	sharedOfJob, shared := 0, 0
	for _, name := range alarmNames(synthTuned(t).shared) {
		if strings.Count(name, "/") == 1 {
			shared++
		} else {
			sharedOfJob++
		}
	}
	metrics := []string{
		telemetry.Succeeded, telemetry.Failed, telemetry.Skipped, telemetry.Missed, telemetry.LeaseLost,
		telemetry.RunTime, telemetry.Ratio, telemetry.Overdue,
	}
	for what, want := range map[string]string{
		"custom metrics": fmt.Sprint(len(metrics), 1), "alarms": fmt.Sprint(ofJob, ofScheduler), "alarms with `SharedAlarms`": fmt.Sprint(sharedOfJob, shared),
	} {
		if says[what] != want {
			t.Errorf("docs/cost.md: %s: %q, want %q", what, says[what], want)
		}
	}
	if len(metrics) > 8 || ofJob > 5 {
		t.Errorf("%d metrics and %d alarms a job: at most 8 and 5", len(metrics), ofJob)
	}
	if cost.AlarmsPerJob != ofJob || cost.AlarmsPerScheduler != ofScheduler {
		t.Errorf("package cost counts %d alarms a job, %d a scheduler: want %d and %d",
			cost.AlarmsPerJob, cost.AlarmsPerScheduler, ofJob, ofScheduler)
	}
}
