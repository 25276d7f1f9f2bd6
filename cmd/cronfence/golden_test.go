package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/internal/sim"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update takes it over):\n%s", file, diff)
	}
}

// transcript runs command lines and writes what each wrote, as a terminal would show it.
func (w *town) transcript(width int, lines ...string) string {
	w.t.Helper()
	if width > 0 {
		w.t.Setenv("COLUMNS", fmt.Sprint(width))
	}
	var b strings.Builder
	for _, line := range lines {
		args := words(line)
		if args[0] != "help" && args[0] != "next" && args[0] != "simulate" && args[0] != "cost" {
			args = append(args, "--dev", w.url)
		}
		code, out, errOut := command(w.t, args...)
		fmt.Fprintf(&b, "$ cronfence %s\n%s%s[%d]\n\n", line, out, errOut, code)
	}
	return strings.ReplaceAll(b.String(), w.url, "http://127.0.0.1:7171") // a free port otherwise
}

// words splits a line at spaces, but for those in single quotes.
func words(line string) []string {
	var all []string
	for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		all = append(all, strings.Trim(word, "'"))
	}
	return all
}

// seeing are the verbs whose output depends on the width.
var seeing = []string{
	"jobs", "status cleanup", "status invoices-of-all-tenants", "history cleanup", "history cleanup --outcome failed",
	"why cleanup 2026-09-07T02:01:00Z", "why cleanup 2026-09-07T01:57:00Z", "logs cleanup", "doctor", "report",
	"release cleanup --reason hangs --dry-run", "run cleanup --dry-run",
	"next --schedule 'cron(0 2 * * ? *)' --timezone Europe/Berlin --after 2026-10-23T00:00:00Z --count 4",
	"simulate --schedule 'rate(1 minute)' --run-time 170s --for 6h --start 2026-09-07T00:00:00Z",
	"cost --schedule 'rate(15 minutes)' --run-time 40s --max-run-time 45s", "cost --schedule 'rate(1 minute)' --run-time 3m --target chain",
	"help backfill", "help",
}

func TestHumanOutput(t *testing.T) {
	for _, width := range []int{80, 120} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			w := newTown(t)
			w.lived()
			got := w.transcript(width, seeing...)
			golden(t, fmt.Sprintf("people.%d.txt", width), got)
			for _, line := range strings.Split(got, "\n") {
				// Command lines stay whole, so that they can be copied; so do links.
				whole := strings.HasPrefix(line, "  cronfence ") || strings.Contains(line, "fix: ") || strings.HasPrefix(line, "$ ") || strings.Contains(line, "https://")
				if !whole && utf8.RuneCountInString(line) > width && !strings.HasPrefix(line, "cronfence: ") {
					t.Errorf("wider than %d: %s", width, line)
				}
			}
		})
	}
}

func TestJSONOutput(t *testing.T) {
	w := newTown(t)
	w.lived()
	got := w.transcript(0,
		"jobs --json", "status cleanup --json", "history cleanup --json", "why cleanup 2026-09-07T02:01:00Z --json", "logs cleanup --json",
		"doctor --json", "report --json",
		"run cleanup --by alice --json", "release cleanup --reason hangs --by alice --dry-run --json", "pause cleanup --reason rebuild --by alice --for 1h --dry-run --json",
		"resume cleanup --json", "status nope --json", "release report --reason hangs --by alice --yes --json",
		"release cleanup --reason hangs --by alice --yes --json",
		"pause cleanup --reason rebuild --by alice --for 1h --json", "resume cleanup report --json",
		"backfill report --from 2026-09-01T00:00:00Z --to 2026-09-04T00:00:00Z --json",
		"backfill report --from 2026-09-01T00:00:00Z --to 2026-09-04T00:00:00Z --json",
		"next --schedule 'cron(0 2 * * ? *)' --after 2026-10-23T00:00:00Z --count 2 --json",
		"simulate --schedule 'rate(1 minute)' --run-time 170s --for 6h --start 2026-09-07T00:00:00Z --json",
	)
	golden(t, "json.txt", got)
}

// What a job's history would have been under another policy, as it is typed.
func TestARealHistoryIsReplayedUnderAnotherPolicy(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	w := newTown(t)
	w.lived()
	replay := func(flags string) (s sim.Summary) {
		t.Helper()
		cmd := exec.Command(bash, "-c", `cronfence() { "$COMMAND" "$@"; }
			cronfence simulate --history <(cronfence history cleanup --json --dev "$URL") --json `+flags)
		cmd.Env = append(os.Environ(), asCommand+"=1", "COMMAND="+must(os.Executable()), "URL="+w.url)
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &s)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return s
	}
	// Ticks from 01:55 to 02:01 are on record; the last run that ended took 40 s.
	if s := replay("--overlap queue-one"); s.Ticks != 7 || s.Succeeded != 7 || s.MaxRatio < 0.6 || s.MaxRatio > 0.7 {
		t.Errorf("as typed: got %+v", s)
	}
	if s := replay("--overlap skip --schedule 'rate(1 minute)' --for 1h"); s.Ticks != 60 {
		t.Errorf("for longer: got %+v", s)
	}
}

// Every key that the verbs write is in the documentation of the command line.
func TestEveryJSONKeyIsDocumented(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join("testdata", "json.txt"))
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, found := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(string(written), -1) {
		key := found[1]
		if !regexp.MustCompile(`\b` + key + `\b`).Match(docs) {
			missing[key] = true
		}
	}
	if len(missing) > 0 {
		t.Errorf("docs/cli.md does not say what these are: %v", missing)
	}
}

func TestTheLocalCloudsTableFitsTheScreen(t *testing.T) {
	r := &localcloud.Report{}
	text := `{"jobs": [{"job": "cleanup", "ticks": 60, "started": 20, "succeeded": 20, "skipped": 40, "maxConcurrent": 1,
		"longestRunSeconds": 170, "maxRatio": 2.84, "nextTick": "2026-09-07T03:00:00Z"}]}`
	if err := json.Unmarshal([]byte(text), r); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, width := range []string{"80", "120", ""} {
		t.Setenv("COLUMNS", width)
		if err := writeTable(&b, r); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "dev.txt", b.String())
}

func TestATerminalShowsNoColoursWhereItsUserWantsNone(t *testing.T) {
	for _, tt := range []struct {
		noColor, term string
		want          bool
	}{{"", "xterm", true}, {"1", "xterm", false}, {"0", "xterm", false}, {"", "dumb", false}} {
		env := map[string]string{"NO_COLOR": tt.noColor, "TERM": tt.term}
		if got := colourful(func(name string) string { return env[name] }); got != tt.want {
			t.Errorf("NO_COLOR=%s TERM=%s: got %v", tt.noColor, tt.term, got)
		}
	}
}

// Colours are for terminals: a screen without them writes none, and one with them paints words and not spaces.
func TestColoursAreForTerminals(t *testing.T) {
	table := func(s screen) string {
		var b bytes.Buffer
		c := newHistoryTable(&b)
		c.screen = s
		if err := c.add("t1", "Failed", "", "", "", "x"); err != nil {
			t.Fatal(err)
		}
		if err := c.flush(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	plain, painted := table(screenOf(new(bytes.Buffer))), table(screen{colour: true})
	if strings.Contains(plain, "\x1b") || !strings.Contains(painted, "\x1b[31mFailed\x1b[0m ") {
		t.Errorf("got %q and %q", plain, painted)
	}
	if got := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(painted, ""); got != plain {
		t.Errorf("the colours move columns: %q, %q", got, plain)
	}
}
