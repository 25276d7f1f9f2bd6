package alarmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/pkg/guard"
)

// logLine is what docs/logs.md says of a decision's line.
type logLine struct {
	Time      time.Time
	Level     string
	Msg       string
	Scheduler string
	Job       string
	Tick      string
	Outcome   guard.Outcome
	Why       string
	Run       string
	Fence     int64
	Holder    *guard.Holder
}

// Every tick that comes to its outcome has one line that says the same as its row.
func TestDecisionIsOneLineWithAllThatTheRecordSays(t *testing.T) {
	tpl := exampleTemplate(t)
	spec := syncSpec(t, tpl)
	outcomes, missed := map[guard.Outcome]int{}, 0
	for seed := range uint64(20) {
		h := random(spec, 15*time.Minute, 20, rand.New(rand.NewPCG(seed, 9)))
		r := Replay(t, h)
		started, ended := map[string]int{}, map[string][]logLine{}
		for _, text := range r.Lines {
			var l logLine
			if err := json.Unmarshal(text, &l); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if l.Time.IsZero() || l.Level == "" || l.Msg == "" || l.Scheduler != spec.Scheduler {
				t.Fatalf("%s: want time, level, msg and scheduler in every line", text)
			}
			switch l.Msg {
			case "started":
				started[l.Tick]++
				if l.Job != spec.Job || l.Outcome != guard.Running || l.Run == "" || l.Fence == 0 {
					t.Errorf("seed %d: line %+v: want job, outcome, run and fence", seed, l)
				}
			case "ticks missed":
				missed++
				if l.Job != spec.Job || l.Tick == "" || l.Outcome != guard.Missed || l.Why == "" {
					t.Errorf("seed %d: line %+v: want job, tick, outcome and why", seed, l)
				}
			case "outcome":
				ended[l.Tick] = append(ended[l.Tick], l)
			}
		}
		for _, row := range newOracle(t, h, 15*time.Minute, r).rows {
			if row.Run != "" && started[row.Tick] != 1 {
				t.Errorf("seed %d: tick %s was started %d times: want one line", seed, row.Tick, started[row.Tick])
			}
			if !row.Outcome.Final() {
				continue
			}
			outcomes[row.Outcome]++
			lines := ended[row.Tick]
			if len(lines) != 1 {
				t.Fatalf("seed %d: %d lines of the outcome of %s: want one", seed, len(lines), row.Tick)
			}
			l := lines[0]
			if l.Job != spec.Job || l.Outcome != row.Outcome || l.Why != row.Why || l.Fence != row.Fence || l.Run != row.Run {
				t.Errorf("seed %d: line %+v, row %+v: want them to say the same", seed, l, row)
			}
			if (row.Holder == nil) != (l.Holder == nil) || row.Holder != nil && *row.Holder != *l.Holder {
				t.Errorf("seed %d: tick %s: holder %+v, in the row %+v", seed, row.Tick, l.Holder, row.Holder)
			}
		}
	}
	for _, o := range []guard.Outcome{guard.Succeeded, guard.Failed, guard.TimedOut, guard.LeaseLost, guard.Skipped} {
		if outcomes[o] == 0 || missed == 0 {
			t.Errorf("no tick came to %s, or none was missed: the histories show too little", o)
		}
	}
}

var everyOutcome = []guard.Outcome{
	guard.Succeeded, guard.Failed, guard.TimedOut, guard.Aborted, guard.Replaced, guard.LeaseLost, guard.Skipped,
	guard.Coalesced, guard.Expired, guard.Missed, guard.Abandoned,
}

// everyLine is one line of each kind: the histories do not come to all of them.
func everyLine() *bytes.Buffer {
	at := monday.Add(2 * time.Hour)
	row := guard.Row{
		Job: "job", Tick: "2026-09-07T02:00:00Z", Kind: guard.Scheduled, Run: "job-20260907T020000Z-1", Fence: 7, Attempt: 1, Interval: 900,
		ClaimedAt: guard.Millis(monday.UnixMilli()), StartedAt: guard.Millis(monday.UnixMilli()), EndedAt: guard.Millis(at.UnixMilli()),
		RunTime: 7_200_000, Ratio: 8, Holder: &guard.Holder{Run: "other"}, Why: "why", Error: "Boom", Cause: "because",
	}
	out := &bytes.Buffer{}
	w := &telemetry.Writer{Scheduler: "shop", Out: out, Now: func() time.Time { return at }}
	for _, row.Outcome = range everyOutcome {
		w.Ended(row)
	}
	row.Outcome = guard.LeaseLost
	w.Lost(row)
	w.Missed(guard.Gap{Job: "job", From: row.StartedAt, To: row.EndedAt, Count: 9})
	w.Given(row)
	w.Going(row)
	w.Warn("job", row.Run, "stop denied", errors.New("AccessDenied"))
	return out
}

func TestEveryKindOfLineIsOneThatCloudWatchReads(t *testing.T) {
	n, metrics := 0, map[string]bool{}
	for text := range bytes.Lines(everyLine().Bytes()) {
		points, err := Points(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		n += len(points)
		for _, p := range points {
			metrics[p.Metric] = true
		}
	}
	// Succeeded and failed runs have two and more, those that were cut short one or none. Overdue
	// comes from the sweeps, which the histories have.
	if n != 21 || len(metrics) != 8 {
		t.Errorf("%d points of %d metrics: want 21 of eight", n, len(metrics))
	}
}

// undocumented there are the metric directive and the metrics, which docs/jobs.md lists.
var undocumented = []string{
	"_aws", telemetry.Succeeded, telemetry.Failed, telemetry.Skipped, telemetry.Missed, telemetry.LeaseLost, telemetry.RunTime,
	telemetry.Ratio, telemetry.Overdue, telemetry.StopDenied,
}

func TestEveryFieldAndMessageIsDocumented(t *testing.T) {
	docs, err := os.ReadFile("../../docs/logs.md")
	if err != nil {
		t.Fatal(err)
	}
	tpl := exampleTemplate(t)
	h := random(syncSpec(t, tpl), 15*time.Minute, 20, rand.New(rand.NewPCG(4, 9)))
	h.StopDenied = func(now time.Time) bool { return now.Before(monday.Add(2 * time.Hour)) }
	seen := map[string]bool{}
	for _, text := range append(Replay(t, h).Lines, bytes.SplitAfter(everyLine().Bytes(), []byte("\n"))...) {
		if len(text) == 0 {
			continue
		}
		line := map[string]any{}
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatal(err)
		}
		for field := range line {
			seen[field] = true
		}
		seen[line["msg"].(string)] = true
	}
	for name := range seen {
		if !slices.Contains(undocumented, name) && !bytes.Contains(docs, []byte("`"+name+"`")) {
			t.Errorf("docs/logs.md has no word of %s", name)
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d fields and messages: the history shows too little", len(seen))
	}
}

var (
	queryBlock = regexp.MustCompile("(?s)```\n(.*?)```")
	noFields   = regexp.MustCompile(`"[^"]*"|/[^/\n]*/|\bas \w+|\bbin\([^)]*\)|\b\d+\b`) // texts, patterns, aliases, spans, numbers
	word       = regexp.MustCompile(`@?[A-Za-z][\w.]*`)
	keywords   = strings.Fields("fields filter sort stats by and or in like asc desc count sum max pct latest ispresent @timestamp @message")
)

// A query for a field that no line has finds nothing, and says so to nobody.
func TestQueriesAskForFieldsThatExist(t *testing.T) {
	docs, err := os.ReadFile("../../docs/logs.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := queryBlock.FindAllSubmatch(docs, -1)
	if len(blocks) < 10 {
		t.Fatalf("%d queries in docs/logs.md: want ten", len(blocks))
	}
	table, _, _ := bytes.Cut(docs, []byte("## Queries"))
	for _, block := range blocks {
		query := noFields.ReplaceAllString(string(block[1]), " ")
		for _, name := range word.FindAllString(query, -1) {
			field := name
			if _, of, nested := strings.Cut(name, "."); nested {
				field = of
			}
			known := slices.Contains(keywords, name) || slices.Contains(undocumented, name) || bytes.Contains(table, []byte("`"+field+"`"))
			if !known {
				t.Errorf("query asks for %s, which no line has:\n%s", name, block[1])
			}
		}
	}
}
