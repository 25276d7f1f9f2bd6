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
		math.Abs(got.RunsPerMonth-14_610) > 2 || math.Abs(got.SkipsPerMonth-29_220) > 2 {
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
		"Step Functions transitions         2", "50.00", "in all", "2 state transitions and 2 requests to DynamoDB.", "A skip makes 2 requests", "2922 runs and 0 skips",
		"the scheduler itself: 3.58 USD a month",
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
		"--schedule is not set":                                        {"--run-time", "1m"},
		"--run-time 0s: must be":                                       schedule,
		"--max-run-time 30s: must":                                     append(schedule, "--run-time", "1m", "--max-run-time", "30s"),
		"--skip-share NaN: must be":                                    append(schedule, "--run-time", "1m", "--skip-share", "NaN"),
		"--run-time 8761h0m0s: must":                                   append(schedule, "--run-time", "8761h"),
		"--skip-share 1.5: must be":                                    append(schedule, "--run-time", "1m", "--skip-share", "1.5"),
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
