package web_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/internal/web"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/policy"
)

// many is an operator of many jobs, with histories without end.
type many struct {
	ops.Operator
	jobs  []ops.Job
	now   time.Time
	reads atomic.Int64 // histories that were read
	lines atomic.Int64 // entries that were taken
}

func (m *many) Jobs(context.Context) iter.Seq2[ops.Job, error] {
	return func(yield func(ops.Job, error) bool) {
		for _, j := range m.jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
}

func (m *many) History(_ context.Context, q ops.HistoryQuery) iter.Seq2[ops.Entry, error] {
	m.reads.Add(1)
	return func(yield func(ops.Entry, error) bool) {
		for i := 0; ; i++ {
			at := m.now.Add(-time.Duration(i) * time.Second)
			m.lines.Add(1)
			e := ops.Entry{Job: q.Job, Tick: at.Format(time.RFC3339), At: at, Kind: guard.Scheduled, Outcome: guard.Skipped, Final: true, Count: 1, ClaimedAt: at}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (m *many) Status(_ context.Context, job string) (ops.Status, error) {
	for _, j := range m.jobs {
		if j.Job == job {
			return ops.Status{Job: j}, nil
		}
	}
	return ops.Status{}, &ops.UnknownJobError{Scheduler: "test", Job: job, Known: []string{"first"}}
}

// crowd puts a page over many jobs.
func crowd(t *testing.T, n int) (*desk, *many) {
	t.Helper()
	d := newDesk(t)
	m := &many{now: testworld.Midnight}
	for i := range n {
		m.jobs = append(m.jobs, ops.Job{
			Scheduler: "test", Job: fmt.Sprintf("job-%03d", i), State: ops.Free, Schedule: "rate(1 minute)", Timezone: "UTC", Overlap: "skip",
		})
	}
	d.close()
	d.page.Operators = map[string]ops.Operator{"test": m}
	d.serve("127.0.0.1:0")
	return d, m
}

var rowsIn = regexp.MustCompile(`<li id="job-`)

func TestOfHundredsOfJobsAPageIsShownAndTheRestIsFound(t *testing.T) {
	d, m := crowd(t, 301)
	m.jobs[200].Paused = &ops.Pause{By: "alice", Why: "rebuild"}
	for _, tt := range []struct {
		path string
		rows int
		text string
	}{
		{"/", 25, "301 of 301 jobs, from number 1"},
		{"/?page=2", 25, "job-025"},
		{"/?page=13", 1, "job-300"},
		{"/?page=99", 1, "job-300"},
		{"/?page=x", 25, "job-000"},
		{"/?q=JOB-01", 10, "job-013"},
		{"/?q=nothing", 0, "No job matches."},
		{"/?state=paused", 1, "job-200"},
		{"/?state=running", 0, "No job matches."},
	} {
		m.reads.Store(0)
		html := d.shows(tt.path, tt.text)
		if got := len(rowsIn.FindAllString(html, -1)); got != tt.rows || int(m.reads.Load()) != tt.rows {
			t.Errorf("%s: %d rows, %d histories read; want %d", tt.path, got, m.reads.Load(), tt.rows)
		}
	}
}

func TestAHistoryWithoutEndIsReadAndDrawnInPart(t *testing.T) {
	d, m := crowd(t, 1)
	html := d.shows("/jobs/test/job-000?window=30d", "Only the newest ticks of this window are shown")
	if lines := m.lines.Load(); lines > 401 {
		t.Errorf("%d entries were read", lines)
	}
	if marks := strings.Count(html, `class="mark calm`); marks != 400 {
		t.Errorf("%d ticks are drawn, want 400", marks)
	}
}

func TestWhoeverLooksWhileAnAnswerIsFreshGetsTheSame(t *testing.T) {
	d, m := crowd(t, 3)
	d.close()
	d.page.Fresh = time.Hour
	d.serve("127.0.0.1:0")
	for range 3 {
		d.shows("/", "job-002")
		d.shows("/jobs/test/job-000?window=1h", "job-000")
	}
	if got := m.reads.Load(); got != 3 {
		t.Errorf("%d histories were read, want one a job", got)
	}
	d.get("/jobs/test/job-000?window=1h", "Cache-Control", "no-cache")
	if got := m.reads.Load(); got != 4 {
		t.Errorf("%d histories were read after somebody acted, want one more", got)
	}
}

// What comes from outside - names, reasons, causes - is text and nothing else.
func TestWhatComesFromOutsideIsText(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:05")
	run := d.Tick(spec, "02:00")
	d.At("02:00:20")
	must(d.Fail(run, `<script>bad()</script>`, `"><img src=x onerror=bad()>`))
	op := d.page.Operators[testworld.Scheduler]
	must(op.Pause(t.Context(), ops.PauseRequest{Job: "cleanup", By: `x" autofocus onfocus="bad()`, Reason: `</dd><script>bad()</script>`}))
	m := &many{now: testworld.Midnight, jobs: []ops.Job{{
		Scheduler: `</h2><script>bad()</script>`, Job: `a" onclick="bad()`, State: `<b>`, Schedule: `<i>`, Timezone: `'"<u>`, Overlap: `javascript:bad()`,
	}}}
	d.close()
	d.page.Operators[`</h2><script>bad()</script>`] = m
	d.serve("127.0.0.1:0")
	for _, path := range []string{
		"/", "/?q=%22%3E%3Cscript%3Ebad()%3C/script%3E", "/?state=%22%3E%3Cscript%3Ebad()", "/jobs/test/cleanup?why=2026-09-07T02:00:00Z",
		"/jobs/test/cleanup?why=%3Cscript%3Ebad()%3C/script%3E", "/jobs/test/%3Cscript%3Ebad()%3C%2Fscript%3E", "/jobs/%3Cscript%3Ebad()/x",
	} {
		_, html := d.get(path)
		for _, bad := range []string{"<script>bad", "<img src=x", `onfocus="bad`, `onclick="bad`, "<b><", "<i>", "<u>"} {
			if strings.Contains(html, bad) {
				t.Errorf("%s: %s in\n%s", path, bad, html)
			}
		}
	}
}

// The policy that the page is served with forbids all of this, so it would not work.
func TestThePageTakesNothingFromElsewhereAndHasNoScriptOrStyleInIt(t *testing.T) {
	d := newDesk(t)
	d.Established(testworld.Minutely("cleanup"), "01:59")
	for _, path := range []string{"/", "/jobs/test/cleanup", "/jobs/test/none"} {
		_, html := d.get(path)
		for _, what := range []string{` style="`, "<style", "<script>", ` on\w+="`, `(href|src)="(https?:)?//`, "javascript:"} {
			if found := regexp.MustCompile(what).FindString(html); found != "" {
				t.Errorf("%s: %s", path, found)
			}
		}
		for _, m := range regexp.MustCompile(`(?:src|href)="(/assets/[^"]*)"`).FindAllStringSubmatch(html, -1) {
			if status, _ := d.get(m[1]); status != http.StatusOK {
				t.Errorf("%s: status %d", m[1], status)
			}
		}
	}
	for _, path := range []string{"/assets/page.html", "/assets/", "/assets/none.css"} {
		if status, _ := d.get(path); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
}

func TestWhatIsNotThereIsSaidToBe(t *testing.T) {
	d := newDesk(t)
	d.shows("/", "No job is known yet")
	d.Established(testworld.Minutely("cleanup"), "01:59")
	for path, want := range map[string]string{
		"/jobs/test/nope":    "must be one of cleanup",
		"/jobs/shop/cleanup": "no such scheduler is shown here",
	} {
		if status, html := d.get(path); status != http.StatusNotFound || !strings.Contains(html, want) {
			t.Errorf("%s: %d\n%s", path, status, html)
		}
	}
	d.shows("/jobs/test/cleanup?why=yesterday", "tick &#34;yesterday&#34;: must be an instant")
	d.shows("/jobs/test/cleanup?why=2026-09-07T02:00:30Z", "plans no tick at 2026-09-07T02:00:30Z")
	d.shows("/", "1 of 1 jobs")
}

// The script asks for the main part alone: it is the same as in the whole page.
func TestThePartThatIsAskedForAgainIsThatOfThePage(t *testing.T) {
	d := newDesk(t)
	d.Established(testworld.Minutely("cleanup"), "01:59")
	whole := d.shows("/jobs/test/cleanup")
	_, part := d.get("/jobs/test/cleanup", "X-Cronfence-Part", "main")
	if !strings.HasPrefix(part, "<main ") || !strings.Contains(whole, part) {
		t.Errorf("got\n%s", part)
	}
}

// A run that began before the window and went on in it is drawn, whether ticks name it or not.
func TestARunThatBeganBeforeTheWindowIsDrawn(t *testing.T) {
	d := newDesk(t)
	minutely, hourly := testworld.Minutely("cleanup"), testworld.Spec("sync", "cron(0 * * * ? *)")
	hourly.Beats, hourly.LeaseSeconds = false, 7200
	d.Established(minutely, "00:59")
	d.Established(hourly, "01:00")
	d.At("01:01:00")
	long := d.Tick(minutely, "01:01")
	d.At("02:00:00")
	d.Tick(hourly, "02:00")
	for m := 2; m <= 45; m++ {
		d.At(fmt.Sprintf("01:%02d:00", m))
		must(0, d.Beat(long))
		d.Tick(minutely, fmt.Sprintf("01:%02d", m))
	}
	d.At("02:20:00")
	d.shows("/jobs/test/cleanup?window=1h", `id="t-2026-09-07T01:01:00Z"`)
	d.shows("/jobs/test/sync?window=15m", `id="t-2026-09-07T02:00:00Z"`)
}

// A waiting run, a stop request and a take-over's mark are said and drawn.
func TestWhatStandsInAJobsWayIsShown(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	spec.Overlap, spec.GraceSeconds = policy.Replace, 30
	d.Established(spec, "01:59")
	d.At("02:00:00")
	d.Tick(spec, "02:00")
	d.At("02:01:00")
	d.Tick(spec, "02:01")
	d.At("02:01:10")
	d.shows("/jobs/test/cleanup", "held, one waits", "Asked to end by", "02:01:30", "waits for 10s", `class="waiting"`, "lease until 02:02:00")
	d.shows("/", "held, one waits", `class="waiting"`, `class="lease"`)
	d.shows("/?state=waiting", "1 of 1 jobs")
	d.At("02:03:00")
	d.shows("/jobs/test/cleanup", "lease over", "lease ran out 02:02:00")
	d.shows("/?state=stuck", "1 of 1 jobs")
}

// BenchmarkPage says how long the server takes for a page of 25 jobs with 400 ticks each, and for
// one job.
func BenchmarkPage(b *testing.B) {
	m := &many{now: testworld.Midnight}
	for i := range 50 {
		m.jobs = append(m.jobs, ops.Job{Scheduler: "test", Job: fmt.Sprintf("job-%03d", i), Schedule: "rate(1 minute)", Timezone: "UTC", State: ops.Free})
	}
	page := &web.Page{Operators: map[string]ops.Operator{"test": m}, Now: func() time.Time { return testworld.Midnight }}
	handler := page.Handler()
	for name, path := range map[string]string{"jobs": "/", "job": "/jobs/test/job-007?window=1h"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				answer := httptest.NewRecorder()
				handler.ServeHTTP(answer, httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, nil))
				b.ReportMetric(float64(answer.Body.Len()), "bytes")
			}
		})
	}
}
