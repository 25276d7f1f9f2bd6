package devapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/ops/devapi"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server over a world with one job that has ticked.
func serve(t *testing.T) (*devapi.Server, *testworld.World, *ops.Direct) {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	w := testworld.New(t, nil)
	token := 0
	direct := &ops.Direct{Name: testworld.Scheduler, Engine: &engine.Engine{
		Store: w.Store, Machines: w.Runs, Now: w.Now, Timeout: engine.CommandLineTimeout,
		NewToken: func() string { token++; return fmt.Sprintf("ops%d", token) },
	}}
	s, err := devapi.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.LeaveToken(); err != nil {
		t.Fatal(err)
	}
	s.Serve(map[string]ops.Operator{direct.Name: direct}, newFaults(t), http.NotFoundHandler())
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	w.Established(testworld.Minutely("cleanup"), "01:59")
	return s, w, direct
}

func dial(t *testing.T, s *devapi.Server) *devapi.Client {
	t.Helper()
	c, err := devapi.Dial(t.Context(), s.URL(), "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func all[T any](t *testing.T, seq func(func(T, error) bool)) []T {
	t.Helper()
	var got []T
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	return got
}

// Over HTTP an operator answers as the one behind it does.
func TestTheClientAnswersAsTheOperatorBehindTheServer(t *testing.T) {
	s, w, direct := serve(t)
	c := dial(t, s)
	w.At("02:00:00")
	w.Tick(testworld.Minutely("cleanup"), "02:00")
	w.At("02:01:00")
	w.Tick(testworld.Minutely("cleanup"), "02:01")
	ctx, q := t.Context(), ops.HistoryQuery{Job: "cleanup", Last: time.Hour, Outcome: guard.Skipped}
	const tick = "2026-09-07T02:01:00Z"
	for name, get := range map[string]func(op ops.Operator) (any, error){
		"jobs":    func(op ops.Operator) (any, error) { return all(t, op.Jobs(ctx)), nil },
		"status":  func(op ops.Operator) (any, error) { return op.Status(ctx, "cleanup") },
		"history": func(op ops.Operator) (any, error) { return all(t, op.History(ctx, q)), nil },
		"tick":    func(op ops.Operator) (any, error) { return op.Tick(ctx, "cleanup", tick) },
		"no tick": func(op ops.Operator) (any, error) { return op.Tick(ctx, "cleanup", "2026-09-07T09:00:00Z") },
		"why":     func(op ops.Operator) (any, error) { return op.Why(ctx, "cleanup", tick) },
	} {
		want, err := get(direct)
		if err != nil {
			t.Fatal(err)
		}
		got, err := get(c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-direct +client):\n%s", name, diff)
		}
	}
}

func TestTheClientActs(t *testing.T) {
	s, w, _ := serve(t)
	c, ctx := dial(t, s), t.Context()
	w.At("02:00:30")
	if res, err := c.Run(ctx, ops.RunRequest{Job: "cleanup", By: "alice@laptop"}); err != nil || res.Outcome != guard.Running {
		t.Errorf("run: %+v, %v", res, err)
	}
	if p, err := c.Pause(ctx, ops.PauseRequest{Job: "cleanup", By: "alice@laptop", Reason: "rebuild", For: time.Hour}); err != nil || p.Paused == nil || p.Paused.By != "alice@laptop" {
		t.Errorf("pause: %+v, %v", p, err)
	}
	if p, err := c.Resume(ctx, "cleanup"); err != nil || p.Paused != nil {
		t.Errorf("resume: %+v, %v", p, err)
	}
	release := ops.ReleaseRequest{Job: "cleanup", Run: "other-1", By: "alice@laptop", Reason: "hangs"}
	if _, err := c.Release(ctx, release); err == nil || !strings.Contains(err.Error(), "run other-1 does not hold the guard") {
		t.Errorf("release of another run: %v", err)
	}
	p, err := c.Preview(ctx, ops.Act{Job: "cleanup", Release: &ops.ReleaseRequest{By: "alice@laptop", Reason: "hangs"}})
	if release.Run = p.Run; err != nil || p.Run == "" {
		t.Errorf("preview: %+v, %v", p, err)
	}
	if res, err := c.Release(ctx, release); err != nil || !res.Ended {
		t.Errorf("release: %+v, %v", res, err)
	}
}

func TestErrorsKeepTheirKind(t *testing.T) {
	s, _, _ := serve(t)
	c := dial(t, s)
	_, err := c.Resume(t.Context(), "cleanup")
	var refused *guard.Refusal
	if !errors.As(err, &refused) {
		t.Errorf("resume: got %v, want a refusal", err)
	}
	var unknown *ops.UnknownJobError
	if _, err := c.Status(t.Context(), "nope"); !errors.As(err, &unknown) || unknown.Known[0] != "cleanup" {
		t.Errorf("status: got %v, want the known jobs", err)
	}
	for _, err := range c.History(t.Context(), ops.HistoryQuery{Job: "nope"}) {
		if unknown = nil; !errors.As(err, &unknown) {
			t.Errorf("history: got %v, want an unknown job", err)
		}
	}
	var wrong *ops.SchedulerError
	if _, err := devapi.Dial(t.Context(), s.URL(), "shop"); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "must be one of test") {
		t.Errorf("scheduler: got %v", err)
	}
	var bad *devapi.URLError
	if _, err := devapi.Dial(t.Context(), "ftp://here", ""); !errors.As(err, &bad) {
		t.Errorf("url: got %v", err)
	}
}

func TestWhatCannotBeMeantIsTheAskersFault(t *testing.T) {
	s, w, _ := serve(t)
	const jobs = "/api/v1/schedulers/test/jobs/cleanup/"
	for _, bad := range []struct{ method, path, body string }{
		{"POST", "pause", `{"by":"x"}`},
		{"POST", "pause", `{"by":"x","reason":""}`},
		{"POST", "pause", `{"by":"x","reason":"r","for":-1}`},
		{"POST", "pause", `{"by":"x","reason":"r","for":1}`},
		{"POST", "pause", `{"by":"x","reason":"a\u001b[2J"}`},
		{"POST", "pause", `{"by":"x","reason":"r"} {}`},
		{"POST", "release", `{"by":"x"}`},
		{"POST", "run", `{"by":"a\nb"}`},
		{"POST", "preview", `{"pause":{"by":"x"}}`},
		{"GET", "history?outcome=garbage", ""},
		{"GET", "history?kind=garbage", ""},
		{"GET", "ticks/x/why", ""},
		{"GET", "ticks/x", ""},
		{"GET", "logs?tick=%00", ""},
	} {
		r := request(t, s, bad.method, jobs+bad.path, bad.body)
		r.Header.Set("Origin", s.URL())
		r.Header.Set("Authorization", "Bearer "+readToken(t))
		if status, answer, _ := send(t, r); status != http.StatusBadRequest {
			t.Errorf("%s %s: status %d: %s", bad.path, bad.body, status, answer)
		}
	}
	if g := w.Guard("cleanup"); g.Paused != nil || g.Mark != nil {
		t.Errorf("something was done: %+v", g)
	}
	var invalid *ops.InvalidError
	if _, err := dial(t, s).Pause(t.Context(), ops.PauseRequest{Job: "cleanup", By: "x"}); !errors.As(err, &invalid) {
		t.Errorf("got %v", err)
	}
}

// A page of another origin, or a name pointed at this machine, gets nothing done.
func TestRequestsOfOthersAreRefused(t *testing.T) {
	s, w, _ := serve(t)
	w.At("02:00:30")
	token := readToken(t)
	own := strings.TrimPrefix(s.URL(), "http://")
	for _, tt := range []struct {
		name, method, host, origin, token string
		want                              int
	}{
		{"read", "GET", own, "", "", 200},
		{"read as localhost", "GET", "localhost:1", "", "", 200},
		{"read under a name", "GET", "evil.example:7171", "", "", 421},
		{"read under another address", "GET", "192.0.2.1", "", "", 421},
		{"act", "POST", own, "http://" + own, token, 200},
		{"act under a name", "POST", "evil.example", "http://evil.example", token, 421},
		{"act without token", "POST", own, "http://" + own, "", 401},
		{"act with a wrong token", "POST", own, "http://" + own, "x" + token, 401},
		{"act without origin", "POST", own, "", token, 403},
		{"act from elsewhere", "POST", own, "http://evil.example", token, 403},
		{"act from another port", "POST", own, "http://127.0.0.1:1", token, 403},
		{"act from a file", "POST", own, "null", token, 403},
		{"end without token", "DELETE", own, "http://" + own, "", 401},
		{"end from elsewhere", "DELETE", own, "http://evil.example", token, 403},
		{"preflight", "OPTIONS", own, "http://evil.example", "", 403},
	} {
		for path, body := range map[string]string{
			"/api/v1/schedulers/test/jobs/cleanup/pause": `{"by":"alice","reason":"test"}`,
			"/api/v1/faults": `{"kind":"kill","job":"cleanup"}`,
		} {
			if tt.method != "POST" {
				body, path = "", strings.TrimSuffix(path, "/test/jobs/cleanup/pause")
			}
			r := request(t, s, tt.method, path, body)
			r.Host = tt.host
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
			if tt.token != "" {
				r.Header.Set("Authorization", "Bearer "+tt.token)
			}
			status, _, header := send(t, r)
			if status != tt.want || header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s: status %d, want %d", tt.name, path, status, tt.want)
			}
		}
	}
}

// Whatever is asked for, a browser is told to load nothing from elsewhere, to run no script that
// stands in an answer and to show no answer in a frame.
func TestEveryAnswerForbidsEverythingButItsOwn(t *testing.T) {
	s, _, _ := serve(t)
	for _, path := range []string{"/", "/api/v1/schedulers", "/api/v1/schedulers/test/jobs/none", "/nothing/there"} {
		_, _, header := send(t, request(t, s, "GET", path, ""))
		policy := header.Get("Content-Security-Policy")
		for _, part := range strings.Split(policy, "; ") {
			if name, value, _ := strings.Cut(part, " "); value != "'self'" && value != "'none'" {
				t.Errorf("%s: %s allows %s", path, name, value)
			}
		}
		for _, part := range []string{"default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: policy %q lacks %s", path, policy, part)
			}
		}
		if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", path, header)
		}
	}
}

// The page is behind the same checks, and its address alone carries no token.
func TestThePageStandsBesideTheInterface(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	s, err := devapi.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Serve(nil, nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page at ", r.URL) }))
	defer func() { _ = s.Close(context.Background()) }()
	if status, body, _ := send(t, request(t, s, "GET", "/jobs/a", "")); status != http.StatusOK || body != "page at /jobs/a" {
		t.Errorf("got %d %s", status, body)
	}
	r := request(t, s, "GET", "/", "")
	r.Host = "evil.example"
	if status, _, _ := send(t, r); status != http.StatusMisdirectedRequest {
		t.Errorf("under another name: status %d", status)
	}
	if status, _, _ := send(t, request(t, s, "GET", "/api/v1/faults", "")); status != http.StatusOK {
		t.Errorf("without faults: status %d, want the page's", status)
	}
	address, token, found := strings.Cut(s.PageURL(), "/#token=")
	if !found || address != s.URL() || len(token) < 20 {
		t.Errorf("address %s", s.PageURL())
	}
	if files, _ := os.ReadDir(os.Getenv("XDG_RUNTIME_DIR")); len(files) != 0 {
		t.Errorf("a token is left that nobody asked for: %v", files)
	}
}

func request(t *testing.T, s *devapi.Server, method, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func send(t *testing.T, r *http.Request) (status int, body string, header http.Header) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header
}
