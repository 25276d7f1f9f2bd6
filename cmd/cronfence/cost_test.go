package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
)

func costOf(args ...string) (string, error) { return outputOf(newCostCommand(), args...) }

func TestCostWritesOneDocumentWhoseLinesAddUp(t *testing.T) {
	out, err := costOf("--schedule", "rate(1 minute)", "--run-time", "3m", "--json")
	if err != nil {
		t.Fatal(err)
	}
	got := keysOf(t, out)
	// Six beats; two ticks out of three find the run at work.
	for key, want := range map[string]float64{
		"transitionsPerRun": 17, "requestsPerRun": 8, "requestsPerSkip": 2, "beatsPerRun": 6, "runsPerMonth": 14_610, "skipsPerMonth": 29_220,
	} {
		if n := number(t, got, key); math.Abs(n-want) > 2e-4*want {
			t.Errorf("%s is %v, want %v", key, n, want)
		}
	}
	million, month := number(t, got, "usdPerMillionRuns"), number(t, got, "usdPerMonth")
	for _, line := range got["lines"].([]any) {
		million -= number(t, line.(map[string]any), "usdPerMillionRuns")
		month -= number(t, line.(map[string]any), "usdPerMonth")
	}
	if math.Abs(million) > 1e-6 || math.Abs(month) > 1e-6 {
		t.Errorf("the lines miss %v a million runs and %v a month", million, month)
	}
}

// keysOf keeps the case of keys, which a struct would not.
func keysOf(t *testing.T, text string) (got map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func number(t *testing.T, in map[string]any, key string) float64 {
	t.Helper()
	n, is := in[key].(float64)
	if !is {
		t.Fatalf("%s is %v, want a number", key, in[key])
	}
	return n
}

// The page's columns are what its commands write.
func TestCommandsOfThePageWriteItsColumns(t *testing.T) {
	page, err := os.ReadFile("../../docs/cost.md")
	if err != nil {
		t.Fatal(err)
	}
	row := func(name string) []string {
		_, rest, _ := strings.Cut(string(page), "| "+name+" | ")
		line, _, found := strings.Cut(rest, " |\n")
		if !found {
			t.Fatalf("no row %q", name)
		}
		return strings.Split(line, " | ")
	}
	sums, all := row("**in all, a month**"), row("**Cronfence in all, one job**")
	lines := regexp.MustCompile(`(?m)^cronfence cost (.*)$`).FindAllStringSubmatch(string(page), -1)
	if len(lines) != len(sums) || len(lines) == 0 {
		t.Fatalf("%d commands for %d columns", len(lines), len(sums))
	}
	for i, line := range lines {
		args := regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line[1], -1)
		for n := range args {
			args[n] = strings.Trim(args[n], "'")
		}
		out, err := costOf(append(args, "--json")...)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		got := keysOf(t, out)
		month := number(t, got, "usdPerMonth")
		with := month + number(t, got["scheduler"].(map[string]any), "usdPerMonth")
		if a, b := fmt.Sprintf("%.2f", month), fmt.Sprintf("%.2f", with); a != sums[i] || b != all[i] {
			t.Errorf("%v writes %s and %s, the page has %s and %s", args, a, b, sums[i], all[i])
		}
	}
}

func TestCostForPeopleNamesEveryItemAndTheSum(t *testing.T) {
	out, err := costOf("--schedule", "rate(15 minutes)", "--run-time", "40s", "--max-run-time", "45s")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Step Functions transitions         2", "50.00", "in all", "2 state transitions and 2 requests to DynamoDB.", "A skip makes 2 requests", "2922 runs and 0 skips",
		"the scheduler itself: 3.58 USD a month",
		"Temporal Cloud", "beyond the free tiers", "Cronfence in all, one job", "0.000000625",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("misses %q:\n%s", want, out)
		}
	}
	if exponent := regexp.MustCompile(`\de[+-]\d`).FindString(out); exponent != "" {
		t.Errorf("has %q:\n%s", exponent, out)
	}
}

func TestCostRefusesWhatNoJobCanBe(t *testing.T) {
	schedule := []string{"--schedule", "rate(1 minute)"}
	for want, args := range map[string][]string{
		"--schedule is not set":                                        {"--run-time", "1m"},
		"--run-time 0s: must be":                                       schedule,
		"--max-run-time 30s: must":                                     append(schedule, "--run-time", "1m", "--max-run-time", "30s"),
		"--skip-share NaN: must be":                                    append(schedule, "--run-time", "1m", "--skip-share", "NaN"),
		"--run-time 8761h0m0s: must":                                   append(schedule, "--run-time", "8761h"),
		"--skip-share 1.5: must be":                                    append(schedule, "--run-time", "1m", "--skip-share", "1.5"),
		"--skip-share -1: must be":                                     append(schedule, "--run-time", "1m", "--skip-share", "-1"),
		`--overlap "forbid": must be skip or allow`:                    append(schedule, "--run-time", "1m", "--overlap", "forbid"),
		`--overlap "queue-one": must be skip or allow`:                 append(schedule, "--run-time", "1m", "--overlap", "queue-one"),
		"--skip-share 0.5: must be left out":                           append(schedule, "--run-time", "1m", "--overlap", "allow", "--skip-share", "0.5"),
		"--skip-share -0.5: must be":                                   append(schedule, "--run-time", "1m", "--skip-share", "-0.5"),
		"--target \"fargate\": must be one of lambda, task-token, ecs": append(schedule, "--run-time", "1m", "--target", "fargate"),
		"--chain-states 3: must be":                                    append(schedule, "--run-time", "1m", "--chain-states", "3"),
		"must be at most 15m0s":                                        append(schedule, "--run-time", "1h", "--target", "lambda"),
		"--max-run-time 1m0.5s: must be whole seconds":                 append(schedule, "--run-time", "1m", "--max-run-time", "60500ms"),
		"renewal 30s: a run of up to 30h0m0s could write 25249":        append(schedule, "--run-time", "30h"),
		"lease 1m0s: must be at least 1m55s":                           append(schedule, "--run-time", "1h", "--lease", "1m"),
		"rate(1 minutes)":                                              {"--schedule", "rate(1 minutes)", "--run-time", "1m"},
	} {
		if _, err := costOf(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

func TestCostSaysWhatItsFiguresAreOf(t *testing.T) {
	for want, args := range map[string][]string{
		"A run is the work beside a clock, without a heartbeat (target ecs, maximum run time 45s): 5 state transitions": {
			"--schedule", "rate(1 hour)", "--run-time", "20s", "--max-run-time", "45s", "--target", "ecs",
		},
		"(target ecs, maximum run time 2h): 485 state transitions and 242 requests to DynamoDB; its 240 beats are 480 and 240 of these": {
			"--schedule", "rate(1 day)", "--run-time", "2h",
		},
		"11 state transitions, 6 of them your chain's own, and 2 requests": {
			"--schedule", "rate(1 hour)", "--run-time", "20s", "--target", "chain", "--chain-states", "6",
		},
		"note: With --max-run-time 45s a run has no heartbeat: 2 transitions, 59.12 USD for a million runs": {
			"--schedule", "rate(1 hour)", "--run-time", "40s",
		},
		"note: Some seconds decide on the skips: 0 % of the ticks at a run time of 1m0s, but 50 % at 1m5s": {
			"--schedule", "rate(1 minute)", "--run-time", "60s",
		},
		"A run is the work alone, without a heartbeat (target lambda, maximum run time 15m): 2 state transitions": {
			"--schedule", "rate(1 minute)", "--run-time", "10m", "--overlap", "allow",
		},
		"A month has 43830 runs and 0 skips":            {"--schedule", "rate(1 minute)", "--run-time", "10m", "--skip-share", "0"},
		"note: No tick is to come":                      {"--schedule", "at(2020-01-01T00:00:00)", "--run-time", "20s"},
		"note: One tick is to come, at 2190-01-01":      {"--schedule", "at(2190-01-01T00:00:00)", "--run-time", "20s"},
		"note: A tick comes every 12 months on average": {"--schedule", "cron(0 2 1 1 ? *)", "--run-time", "20s"},
	} {
		if out, err := costOf(args...); err != nil || !strings.Contains(out, want) {
			t.Errorf("%v: %v, misses %q:\n%s", args, err, want, out)
		}
	}
}

func TestCostOfALongerRenewalIsOfFewerBeats(t *testing.T) {
	out, err := costOf("--schedule", "rate(2 days)", "--run-time", "30h", "--renewal", "40s")
	if err != nil || !strings.Contains(out, "its 2700 beats") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCostHasNoNotesWhereNothingIsToBeSaid(t *testing.T) {
	for _, args := range [][]string{
		{"--schedule", "rate(15 minutes)", "--run-time", "40s", "--max-run-time", "45s"},
		{"--schedule", "rate(1 minute)", "--run-time", "60s", "--max-run-time", "10m", "--skip-share", "0.1"},
		{"--schedule", "rate(1 hour)", "--run-time", "20s", "--target", "ecs"}, // a clock takes as many transitions
	} {
		if out, err := costOf(args...); err != nil || strings.Contains(out, "note:") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}
