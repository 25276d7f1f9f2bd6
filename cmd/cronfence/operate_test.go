package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
)

// startDev runs `cronfence dev` in this process until the test ends, and returns its URL.
func startDev(t *testing.T, flags ...string) string {
	t.Helper()
	return startDevFor(t, "--dev, such as: cronfence jobs --dev ", flags...)
}

// startDevFor is startDev that returns what is printed behind a text.
func startDevFor(t *testing.T, text string, flags ...string) string {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan int)
	go func() {
		code := run(ctx, append([]string{"dev", "--listen", "127.0.0.1:0"}, flags...), w, io.Discard)
		_ = w.Close()
		done <- code
	}()
	url, drained := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(drained)
		defer close(url)
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			if _, found, ok := strings.Cut(lines.Text(), text); ok {
				url <- found
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-done; code != 0 {
			t.Errorf("dev ended with code %d", code)
		}
		<-drained
	})
	found, ok := <-url
	if !ok {
		t.Fatal("dev ended before it listened")
	}
	return found
}

// expect runs a command line and compares its exit code and a part of each output.
func expect(t *testing.T, line string, wantCode int, wantOut, wantErr string) (out string) {
	t.Helper()
	code, out, errOut := command(t, strings.Fields(line)...)
	if code != wantCode || !strings.Contains(out, wantOut) || !strings.Contains(errOut, wantErr) {
		t.Errorf("%s: code %d\n%s%s\nwant code %d, %q and %q", line, code, out, errOut, wantCode, wantOut, wantErr)
	}
	if wantCode != 0 && strings.Count(errOut, "\n") != 1 {
		t.Errorf("%s: errors %q: want one line", line, errOut)
	}
	return out
}

// document reads the one JSON document that a command line writes.
func document[T any](t *testing.T, line string, wantCode int) T {
	t.Helper()
	var v T
	d := json.NewDecoder(strings.NewReader(expect(t, line, wantCode, "", "")))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil || d.More() {
		t.Errorf("%s: not one document: %v", line, err)
	}
	return v
}

// The verbs against a local cloud in which the report, which no tick starts now, never ends by itself.
func TestVerbsAgainstDev(t *testing.T) {
	url := startDev(t, "--exec", "report=exec sleep 600", "--exec", "sync=echo synced", "--exec", "cleanup=false")
	at := " --dev " + url

	if out := expect(t, "jobs"+at, 0, "JOB", ""); strings.Count(out, "\n") != 4 {
		t.Errorf("jobs before any tick: got\n%s", out)
	}
	var first ops.Job
	if err := json.NewDecoder(strings.NewReader(expect(t, "jobs --json"+at, 0, "", ""))).Decode(&first); err != nil || first.Job != "cleanup" {
		t.Errorf("jobs --json: %+v, %v", first, err)
	}

	started := document[ran](t, "run report --by alice@laptop --reason test --json"+at, 0)
	if started.Outcome != guard.Running && started.Outcome != guard.Skipped {
		t.Errorf("run: got %+v", started)
	}
	expect(t, "run report"+at, 3, "", "holds the guard since")
	if refused := document[ran](t, "run report --json"+at, 3); !refused.Refused || refused.Holder == nil || refused.Holder.Since.IsZero() {
		t.Errorf("refused run: got %+v", refused)
	}
	expect(t, "status report"+at, 0, "held by", "")
	if s := document[ops.Status](t, "status report --json"+at, 0); s.State != ops.Held || s.Holder == nil {
		t.Errorf("status: got %+v", s)
	}
	expect(t, "history report --outcome skipped --since 1h"+at, 0, "held by report-", "")
	expect(t, "why report "+started.Tick+at, 0, "is running", "")
	if x := document[ops.Explanation](t, "why report "+started.Tick+" --json"+at, 0); x.Known != ops.Recorded || x.Entry == nil {
		t.Errorf("why: got %+v", x)
	}
	expect(t, "why report 2000-01-01T00:00:00Z"+at, 0, "before the record began", "")
	expect(t, "release report --yes --reason hangs"+at, 0, "has ended", "")
	expect(t, "history report --outcome Aborted --json"+at, 0, `"why":"released by `, "")

	expect(t, "report"+at, 0, "report: ", "")
	if r := document[weekly](t, "report --week --json"+at, 0); r.To.Weekday() != time.Monday || r.To.Sub(r.From) != 7*24*time.Hour {
		t.Errorf("report --week: got %+v", r)
	}

	expect(t, "pause sync --reason rebuild --by alice@laptop --for 1h"+at, 0, "sync is paused until", "")
	expect(t, "release sync --yes --reason hangs"+at, 3, "", "nothing to release")
	expect(t, "run sync --wait"+at, 3, "", "job sync is paused by alice@laptop")
	expect(t, "jobs"+at, 0, "paused", "")
	expect(t, "resume sync"+at, 0, "sync is resumed; its next tick is", "")
	expect(t, "resume sync"+at, 3, "", "is not paused")
	expect(t, "run sync --wait"+at, 0, "Succeeded in", "")
	expect(t, "run cleanup --wait"+at, 1, "started", "ended as Failed")
	expect(t, "status nope"+at, 1, "", `job "nope" is unknown to scheduler example: must be one of cleanup, report, sync`)
	expect(t, "jobs --scheduler shop"+at, 1, "", `scheduler "shop" is not in the local cloud`)

	expect(t, "run sync --dry-run"+at, 0, "dry run, nothing is changed: run sync-", "")
	expect(t, "pause cleanup sync --reason rebuild --dry-run"+at, 0, "dry run, nothing is changed: sync is paused", "")
	expect(t, "release sync --reason x --dry-run"+at, 3, "", "nothing to release")
	expect(t, "release sync --reason x"+at, 2, "", "--yes is not set, and there is no terminal to ask on")
	if f := document[failure](t, "release sync --reason x --yes --json"+at, 3); !f.Refused || f.Kind != "refused" || !strings.Contains(f.Message, "nothing to release") {
		t.Errorf("refused release: got %+v", f)
	}
	if f := document[failure](t, "status nope --json"+at, 1); f.Refused || f.Kind != "unknown-job" {
		t.Errorf("status of an unknown job: got %+v", f)
	}
	expect(t, "jobs"+at, 0, "sync     free", "")
	if got := document[actedAll](t, "pause --all --reason rebuild --json"+at, 0); len(got.Jobs) != 3 || !got.Jobs[2].Done || got.Jobs[2].Status.Paused == nil {
		t.Errorf("pause --all: got %+v", got)
	}
	expect(t, "resume cleanup nope report"+at, 1, "report is resumed", `job "nope" is unknown`)
	expect(t, "resume --all"+at, 0, "sync is resumed", "")
	expect(t, "resume cleanup sync"+at, 3, "", "job cleanup is not paused; job sync is not paused")

	now := time.Now().UTC()
	span := " --from " + now.Add(-90*time.Minute).Format(time.RFC3339) + " --to " + now.Add(-30*time.Minute-time.Second).Format(time.RFC3339)
	expect(t, "backfill sync --dry-run"+span+at, 0, "4 ticks of sync, from", "")
	if b := document[backfilled](t, "backfill sync --wait --json"+span+at, 0); b.Ticks != 4 || b.Outcomes[guard.Succeeded] != 4 {
		t.Errorf("backfill: got %+v", b)
	}
	expect(t, "history sync --kind backfill"+at, 0, "backfill-", "")
	expect(t, "logs report --json"+at, 0, `"source": "cronfence dev"`, "")
	expect(t, "logs sync"+at, 0, "synced", "run sync-")
	expect(t, "report"+at, 0, "sync: ", "")
	expect(t, "logs cleanup"+at, 0, "Failed", "run cleanup-")
	if d := document[ops.Diagnosis](t, "doctor --json"+at, 0); d.Jobs != 3 || len(d.Findings) != 0 || len(d.Unchecked) == 0 {
		t.Errorf("doctor: got %+v", d)
	}
	expect(t, "doctor"+at, 0, "nothing found in 3 jobs", "")

	expect(t, "dev --listen "+strings.TrimPrefix(url, "http://"), 1, "", "the port is taken, perhaps by another `cronfence dev`")
}

func TestVerbsRefuseWrongUsage(t *testing.T) {
	for line, want := range map[string]string{
		"status":                              "JOB is missing; see `cronfence status --help`",
		"status a b":                          `unexpected argument "b"`,
		"status a/b":                          `job name "a/b": must match`,
		"report a":                            `unexpected argument "a"`,
		"report --week 2026-09-07":            `unexpected argument "2026-09-07"`,
		"jobs a":                              `unexpected argument "a"`,
		"jobs --scheduler a_b":                `--scheduler: scheduler name "a_b": must match`,
		"jobs --dev 127.0.0.1:7171":           `--dev: url "127.0.0.1:7171": must be that which`,
		"history a --since yesterday":         `--since "yesterday": must be an instant in RFC 3339`,
		"history a --since -1h":               `--since "-1h"`,
		"history a --outcome Good":            `--outcome "Good": must be one of Succeeded, Failed`,
		"why a":                               "TICK is missing",
		"why a yesterday":                     `tick "yesterday": must be an instant`,
		"run a --overlap twice":               `--overlap "twice": must be one of skip, queue-one, replace, allow`,
		"pause a":                             "--reason is not set",
		"pause a --reason x --for 0s":         "--for 0s: must be positive",
		"release a":                           "--reason is not set",
		"dev --listen here":                   `--listen "here": must be HOST:PORT`,
		"dev --listen 127.0.0.1:99999":        `--listen "127.0.0.1:99999"`,
		"resume a --reason because":           "unknown flag: --reason",
		"pause a --reason x --dev http://x/y": `--dev: url "http://x/y"`,
	} {
		expect(t, line, 2, "", want)
	}
}

func TestAServerThatIsNotThereIsAFailure(t *testing.T) {
	expect(t, "jobs --dev http://127.0.0.1:1", 1, "", "no `cronfence dev` answers")
}

func TestColumnsStayAlignedBeyondTheSample(t *testing.T) {
	var b bytes.Buffer
	c := newColumns(&b, column{name: "A"}, column{name: "B"}, column{name: "C"})
	for range sampled + 5 {
		if err := c.add("one", "", "three"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != sampled+6 || lines[0] != "A    B  C" {
		t.Errorf("%d lines, the first %q", len(lines), lines[0])
	}
	for _, line := range lines[1:] {
		if line != "one  -  three" {
			t.Fatalf("got %q", line)
		}
	}
}

// The example's sync says in a note how far its budget took it.
func TestWhyShowsNotesFromDev(t *testing.T) {
	at := " --dev " + startDev(t, "--speed", "60")
	ended := document[ran](t, "run sync --wait --json"+at, 0)
	expect(t, "why sync "+ended.Tick+at, 0, "\nIts note \"pages\", written at ", "")
	if x := document[ops.Explanation](t, "why sync "+ended.Tick+" --json"+at, 0); len(x.Notes) != 1 || x.Notes[0].Run != ended.Run || !strings.Contains(x.Notes[0].Text, " of 8, ") {
		t.Errorf("notes: %+v", x.Notes)
	}
}
