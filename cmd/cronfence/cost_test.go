package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func costOf(args ...string) (string, error) { return outputOf(newCostCommand(), args...) }

func TestCostWritesOneDocumentWhoseLinesAddUp(t *testing.T) {
	out, err := costOf("--schedule", "rate(1 minute)", "--run-time", "3m", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		RunsPerMonth, SkipsPerMonth, TransitionsPerRun, RequestsPerRun, RequestsPerSkip float64
		UsdPerMillionRuns, UsdPerMonth                                                  float64
		Lines                                                                           []struct{ UsdPerMillionRuns, UsdPerMonth float64 }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	// Six beats; two ticks out of three find the run at work.
	if got.TransitionsPerRun != 17 || got.RequestsPerRun != 8 || got.RequestsPerSkip != 2 ||
		math.Abs(got.RunsPerMonth-14_600) > 2 || math.Abs(got.SkipsPerMonth-29_200) > 2 {
		t.Errorf("got %+v", got)
	}
	for _, l := range got.Lines {
		got.UsdPerMillionRuns -= l.UsdPerMillionRuns
		got.UsdPerMonth -= l.UsdPerMonth
	}
	if math.Abs(got.UsdPerMillionRuns) > 1e-6 || math.Abs(got.UsdPerMonth) > 1e-6 {
		t.Errorf("the lines miss %v a million runs and %v a month", got.UsdPerMillionRuns, got.UsdPerMonth)
	}
}

func TestCostForPeopleNamesEveryItemAndTheSum(t *testing.T) {
	out, err := costOf("--schedule", "rate(15 minutes)", "--run-time", "40s", "--max-run-time", "45s")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Step Functions transitions         2", "50.00", "in all", "2 state transitions and 2 requests to DynamoDB, a skip 2",
		"Temporal Cloud", "beyond the free tiers",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("misses %q:\n%s", want, out)
		}
	}
}

func TestCostRefusesWhatNoJobCanBe(t *testing.T) {
	schedule := []string{"--schedule", "rate(1 minute)"}
	for want, args := range map[string][]string{
		"--schedule is not set":      {"--run-time", "1m"},
		"--run-time 0s: must be":     schedule,
		"--max-run-time 30s: must":   append(schedule, "--run-time", "1m", "--max-run-time", "30s"),
		"--skip-share NaN: must be":  append(schedule, "--run-time", "1m", "--skip-share", "NaN"),
		"--run-time 8761h0m0s: must": append(schedule, "--run-time", "8761h"),
		"--skip-share 1.5: must be":  append(schedule, "--run-time", "1m", "--skip-share", "1.5"),
		"--skip-share -0.5: must be": append(schedule, "--run-time", "1m", "--skip-share", "-0.5"),
		"rate(1 minutes)":            {"--schedule", "rate(1 minutes)", "--run-time", "1m"},
	} {
		if _, err := costOf(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
