package main

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// simulateVerb runs the verb with those flags.
func simulateVerb(args ...string) (string, error) { return outputOf(newSimulateCommand(), args...) }

func TestSimulateWritesOneDocument(t *testing.T) {
	out, err := simulateVerb("--schedule", "rate(1 minute)", "--run-time", "3m", "--for", "6h", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]float64
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("ticks started succeeded failed skipped coalesced replaced missed expired abandoned leaseLost maxConcurrent maxRatio trustedOverlaps")
	slices.Sort(want)
	if keys := slices.Sorted(maps.Keys(got)); !slices.Equal(keys, want) {
		t.Errorf("keys %v, want %v", keys, want)
	}
	if share := got["started"] / got["ticks"]; share < 0.30 || share > 0.34 || got["trustedOverlaps"] != 0 {
		t.Errorf("%s: want about a third of the ticks started", out)
	}
}

func TestSimulateSaysWhatHappenedInWords(t *testing.T) {
	out, err := simulateVerb("--schedule", "cron(* * * * ? *)", "--run-time", "90s", "--for", "1h", "--overlap", "queue-one", "--start", "2026-09-07T00:00:00Z")
	if err != nil || !strings.HasPrefix(out, "60 ticks\n") || !strings.Contains(out, "coalesced") || !strings.Contains(out, "at most 1 at a time; a run took up to 1.50 of its interval") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestSimulateTakesRunTimesFromAHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.csv")
	if err := os.WriteFile(file, []byte("tick,seconds\n2026-09-07T00:00:00Z,20\n2026-09-07T00:30:00Z,100\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := simulateVerb("--schedule", "rate(1 minute)", "--history", file, "--for", "1h", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Ticks, Started, Skipped int }
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Ticks != 60 || got.Started != 45 || got.Skipped != 15 {
		t.Errorf("%+v: want every tick started up to half past, and every other from then on", got)
	}
}

func TestSimulateRefusesWhatItCannotDo(t *testing.T) {
	for _, args := range [][]string{
		{"--run-time", "3m", "--for", "6h"},
		{"--schedule", "rate(1 minute)", "--for", "6h"},
		{"--schedule", "rate(1 minute)", "--run-time", "3m"},
		{"--schedule", "rate(1 minute)", "--run-time", "3m", "--history", "x.csv", "--for", "6h"},
		{"--schedule", "rate(1 minute)", "--history", "no such file", "--for", "6h"},
		{"--schedule", "rate(1 minute)", "--run-time", "3m", "--for", "6h", "--overlap", "forbid"},
		{"--schedule", "rate(1 minute)", "--run-time", "3m", "--for", "6h", "--start", "noon"},
		{"--schedule", "rate(60 seconds)", "--run-time", "3m", "--for", "6h"},
		{"--schedule", "rate(1 minute)", "--run-time", "3m", "--for", "60000h"},
		{"--schedule", "rate(1 minute)", "--run-time", "3m", "--for", "6h", "now"},
	} {
		out, err := simulateVerb(args...)
		var usage usageError
		if !errors.As(err, &usage) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, %s: want one line of a usage error", args, err, out)
		}
	}
}

func TestSimulateSaysOfWhichFlagItIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.csv")
	if err := os.WriteFile(file, []byte("2026-09-07T00:00:00Z,20\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ flags, want string }{
		{"--for 6h", "--run-time is not set"},
		{"--for 6h --run-time 0s", "--run-time 0s: must be more than 0"},
		{"--for 6h --run-time -1m", "--run-time -1m0s: must be more than 0"},
		{"--for 6h --run-time 3m --history " + file, "exactly one of them"},
		{"--run-time 3m", "--for is not set"},
		{"--run-time 3m --for 0s", "--for 0s: must be more than 0"},
		{"--history " + file + " --for -1h", "--for -1h0m0s: must be more than 0"},
		{"--history " + file + " --start 2026-09-08T00:00:00Z", "--start 2026-09-08T00:00:00Z: is behind the last tick of the history, 2026-09-07T00:00:00Z"},
	} {
		_, err := simulateVerb(append([]string{"--schedule", "rate(1 minute)"}, strings.Fields(c.flags)...)...)
		if usage := (usageError{}); !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v: want a usage error with %q", c.flags, err, c.want)
		}
	}
}

func TestSimulateTakesAHistoryOfOneTick(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.csv")
	if err := os.WriteFile(file, []byte("2026-09-07T00:00:00Z,20\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := simulateVerb("--schedule", "rate(1 minute)", "--history", file, "--json")
	if err != nil || !strings.Contains(out, `"succeeded": 1,`) {
		t.Errorf("%v: %s: want its one tick to succeed", err, out)
	}
}
