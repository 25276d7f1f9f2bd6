package bench

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

var record = flag.Bool("record", false, "measure, and write the record and its table in docs/performance.md (scripts/bench)")

const page = "../docs/performance.md"

// measurement is what is kept in a file beside this one, and shown in the page.
type measurement interface {
	table() string
	// broken are the bounds that it does not keep, in words. They are the project's own promises.
	broken() []string
}

// bounds collects what is broken.
type bounds []string

func (b *bounds) atMost(what string, got, most float64) {
	if !(got <= most) { // also what is no number
		*b = append(*b, fmt.Sprintf("%s is %.4g, must be at most %.4g", what, got, most))
	}
}

// records are the files, by the mark that encloses each one's table in the page.
var records = map[string]struct {
	file string
	make func() measurement
}{
	"side by side": {"peers/run.json", func() measurement { return &Run{} }},
	"decisions":    {"decisions.json", func() measurement { return &Decisions{} }},
	"cold start":   {"coldstart.json", func() measurement { return &ColdStart{} }},
	"scale":        {"scale.json", func() measurement { return &Scale{} }},
}

// Setting is when, where and beside what else something was measured.
type Setting struct {
	Date       string `json:"date"`
	Machine    string `json:"machine"`
	Go         string `json:"go"`
	LoadBefore string `json:"loadBefore"` // processes that wanted to run, of the last minute
	LoadAfter  string `json:"loadAfter"`
}

func begin() Setting {
	return Setting{
		Date: time.Now().UTC().Format(time.DateOnly), Machine: fmt.Sprintf("%d cores, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH),
		Go: runtime.Version(), LoadBefore: load(),
	}
}

func (s Setting) String() string {
	return fmt.Sprintf("%s on %s, %s; load average %s before, %s after", s.Date, s.Machine, s.Go, s.LoadBefore, s.LoadAfter)
}

// load is how many processes wanted to run at once in the last minute; empty where the system does not say.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := bytes.Cut(text, []byte(" "))
	return string(first)
}

// emulator is the ministack that is run, which must be the pinned one: a figure names its version.
func emulator(t testing.TB) string {
	t.Helper()
	found, err := filepath.Glob("../.venv/lib/python3*/site-packages/ministack-*.dist-info")
	if err != nil || len(found) != 1 {
		t.Fatalf("ministack is installed as %v (%v)", found, err)
	}
	_, installed, _ := strings.Cut(strings.TrimSuffix(filepath.Base(found[0]), ".dist-info"), "-")
	if pinned := version(t, read(t, "../scripts/requirements.txt"), `(?m)^ministack==(\S+)$`); installed != pinned {
		t.Fatalf("ministack %s is installed in .venv, scripts/requirements.txt has %s: run scripts/tools", installed, pinned)
	}
	return "ministack " + installed
}

// tabulate is a table in Markdown.
func tabulate(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	b.WriteString("|" + strings.Repeat(" --- |", len(head)) + "\n")
	for _, row := range rows {
		line(row)
	}
	return b.String()
}

// write writes the file of a mark, and its table into the page: nothing of a measurement that breaks
// a bound.
func write(t testing.TB, mark string, m measurement) {
	t.Helper()
	if broken := m.broken(); len(broken) > 0 {
		t.Fatalf("%s, not recorded: %s", mark, strings.Join(broken, "; "))
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	before, _, after := cut(t, mark)
	for path, content := range map[string]string{records[mark].file: string(text) + "\n", page: before + m.table() + after} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// cut is the page up to a mark, what the mark encloses, and the rest.
func cut(t testing.TB, mark string) (before, table, after string) {
	t.Helper()
	opening, closing := "<!-- "+mark+" -->\n", "<!-- /"+mark+" -->\n"
	before, rest, opened := strings.Cut(read(t, page), opening)
	table, after, closed := strings.Cut(rest, closing)
	if !opened || !closed {
		t.Fatalf("%s: no %q and %q", page, opening, closing)
	}
	return before + opening, table, closing + after
}

// of reads the record of a mark.
func of(t testing.TB, mark string) measurement {
	t.Helper()
	m := records[mark].make()
	if err := json.Unmarshal([]byte(read(t, records[mark].file)), m); err != nil {
		t.Fatalf("read %s: %v", records[mark].file, err)
	}
	return m
}

func TestThePagesTablesAreThoseOfTheRecords(t *testing.T) {
	for mark, r := range records {
		if _, table, _ := cut(t, mark); table != of(t, mark).table() {
			t.Errorf("%s has\n%s\nand %s says\n%s", page, table, r.file, of(t, mark).table())
		}
	}
}

func TestRecordsKeepTheirBounds(t *testing.T) {
	for mark, r := range records {
		for _, broken := range of(t, mark).broken() {
			t.Errorf("%s: %s", r.file, broken)
		}
	}
}

// Each bound is broken by the least that is beyond it, and by a measurement that is not there.
func TestBoundsAreNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		mark string
		harm func(m measurement)
		want string
	}{
		"a slow dispatcher": {"cold start", func(m measurement) {
			all := m.(*ColdStart).Functions
			all[2].Millis = 1.31 * all[0].Millis
		}, "dispatcher's cold start"},
		"no dispatcher":     {"cold start", func(m measurement) { m.(*ColdStart).Functions = nil }, "dispatcher's cold start"},
		"a slow decision":   {"decisions", func(m measurement) { m.(*Decisions).Decisions[3].Micros = 20.1 }, "µs of a beat"},
		"no decision":       {"decisions", func(m measurement) { m.(*Decisions).Decisions = nil }, "decisions"},
		"a slow sweep":      {"scale", func(m measurement) { m.(*Scale).Worlds[1].Warm.Seconds = 30.1 }, "seconds of a sweep"},
		"an unfinished one": {"scale", func(m measurement) { m.(*Scale).Worlds[1].Warm.Sweeps = 2 }, "sweeps"},
		"fewer guards":      {"scale", func(m measurement) { m.(*Scale).Worlds[1].Warm.Guards-- }, "guards"},
		"more memory":       {"scale", func(m measurement) { m.(*Scale).Worlds[1].MB = 257 }, "MB"},
		"a schedule read":   {"scale", func(m measurement) { m.(*Scale).Worlds[1].Warm.Requests.GetSchedule = 1 }, "schedules read"},
		"many of them cold": {"scale", func(m measurement) { m.(*Scale).Worlds[1].Cold.Requests.GetSchedule = 501 }, "schedules read cold"},
		"a third request": {"side by side", func(m measurement) {
			cronfenceOf(m.(*Run)).Operations["skip"] = Measured{Requests: Requests{Requests: 3}}
		}, "requests of a skip"},
		"a read before": {"side by side", func(m measurement) {
			cronfenceOf(m.(*Run)).Operations["claim"] = Measured{Requests: Requests{Requests: 2}}
		}, "requests of claim and settle"},
	} {
		m := of(t, c.mark)
		c.harm(m)
		if broken := m.broken(); len(broken) != 1 || !strings.Contains(broken[0], c.want) {
			t.Errorf("%s: %q, want %q alone", name, broken, c.want)
		}
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func version(t testing.TB, text, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no version found by %s", pattern)
	}
	return found[1]
}
