package fencehttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencehttp"
	"github.com/cronfence/cronfence/pkg/job/internal/fencetest"
	"github.com/cronfence/cronfence/pkg/job/jobtest"
)

// service notes the fence of each request it handles, by path.
type service struct {
	mu     sync.Mutex
	landed map[string][]int64
}

func (s *service) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	var fence int64
	if _, err := fmt.Sscan(req.Header.Get(fencehttp.HeaderFence), &fence); err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.landed[req.URL.Path] = append(s.landed[req.URL.Path], fence)
}

// place sends requests to a service, with or without the middleware before it.
func place(t *testing.T, wrap func(http.Handler) http.Handler) fencetest.Place {
	t.Helper()
	s := &service{landed: map[string][]int64{}}
	server := httptest.NewServer(wrap(s))
	t.Cleanup(server.Close)
	base := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(base.CloseIdleConnections)
	return fencetest.Place{
		Write: func(ctx context.Context, run job.Run, n int) error {
			return post(ctx, &fencehttp.Transport{Run: run, Base: base}, fmt.Sprintf("%s/%d", server.URL, n))
		},
		Landed: func(_ context.Context, n int) ([]int64, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return slices.Clone(s.landed[fmt.Sprintf("/%d", n)]), nil
		},
	}
}

func post(ctx context.Context, transport http.RoundTripper, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", resp.Status)
	}
	return nil
}

func TestNoLateRequestIsHandled(t *testing.T) {
	fencetest.Holds(t, fencetest.Many(t), place(t, func(h http.Handler) http.Handler { return fencehttp.Require(fencehttp.NewMemory(), h) }))
	fencetest.LetsThrough(t, 100, place(t, func(h http.Handler) http.Handler { return h }))
}

func TestRequireAnswers(t *testing.T) {
	handler := fencehttp.Require(fencehttp.NewMemory(), http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		f, ok := fencehttp.FromContext(req.Context())
		fmt.Fprint(w, f.Name, f.Fence, ok)
	}))
	for _, c := range []struct {
		name, fence string
		status      int
		says        string
	}{
		{"", "", 428, "must be set"},
		{"a/b", "seven", 400, "seven"},
		{"a/b", "0", 400, "fence 0: must be from 1 to 9007199254740991"},
		{"a/b", "4611686018427387904", 400, "must be from 1 to 9007199254740991"},
		{strings.Repeat("a", 101), "8", 400, "101 bytes"},
		{"a/b", "8", 200, "a/b8 true"},
		{"a/b", "8", 200, "a/b8 true"},
		{"a/b", "7", 412, "fence 8 has been seen"},
		{"a/c", "7", 200, "a/c7 true"},
	} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		req.Header.Set(fencehttp.HeaderName, c.name)
		req.Header.Set(fencehttp.HeaderFence, c.fence)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%+v: got %d %q", c, w.Code, w.Body)
		}
	}
}

func TestANewerFenceWaitsForOlderRequestsAndKeepsFurtherOnesOut(t *testing.T) {
	m := fencehttp.NewMemory()
	leave, err := m.Enter(t.Context(), "j", 1)
	if err != nil {
		t.Fatal(err)
	}
	entered := make(chan error, 1)
	go func() {
		leave, err := m.Enter(t.Context(), "j", 2)
		if err == nil {
			leave()
		}
		entered <- err
	}()
	for { // until the newer one waits
		again, err := m.Enter(t.Context(), "j", 1)
		if errors.Is(err, job.ErrFenced) {
			break
		}
		again()
	}
	select {
	case <-entered:
		t.Fatal("the newer one is in while an older one is")
	case <-time.After(20 * time.Millisecond):
	}
	leave()
	if err := <-entered; err != nil {
		t.Error(err)
	}
}

func TestWhoWaitsGivesUpWithItsContext(t *testing.T) {
	m := fencehttp.NewMemory()
	if _, err := m.Enter(t.Context(), "j", 1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Enter(ctx, "j", 2); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: want it to give up", err)
	}
}

func TestAnotherConditionOfTheServersIsNoRefusal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusPreconditionFailed) }))
	defer server.Close()
	err := post(t.Context(), &fencehttp.Transport{Run: fencetest.NewRun(0, 1)}, server.URL)
	if err == nil || errors.Is(err, job.ErrFenced) {
		t.Errorf("%v: want the answer as it is", err)
	}
}

func TestTheDrillSeesPastAFencedRequest(t *testing.T) {
	var server *httptest.Server
	var handled []string
	fencetest.DrillSees(t, jobtest.Job{
		Work: func(ctx context.Context, run job.Run) error {
			return post(ctx, &fencehttp.Transport{Run: run}, server.URL+"/fenced/"+run.Tick)
		},
		Reset: func(context.Context) error { // a new process of the service
			handled = nil
			note := http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { handled = append(handled, req.URL.Path) })
			mux := http.NewServeMux()
			mux.Handle("/fenced/", fencehttp.Require(fencehttp.NewMemory(), note))
			mux.Handle("/", note)
			server = httptest.NewServer(mux)
			t.Cleanup(server.Close)
			return nil
		},
		State: func(context.Context) (any, error) { return slices.Clone(handled), nil },
	}, func(ctx context.Context, run job.Run) error {
		return post(ctx, http.DefaultTransport, server.URL+"/plain/"+run.Tick)
	})
}

func TestAFenceThatNoRunCanHaveIsNotSent(t *testing.T) {
	fencetest.Refuses(t, "RoundTrip", func(run job.Run) error {
		return post(t.Context(), &fencehttp.Transport{Run: run}, "http://127.0.0.1:1/")
	})
}

// Who reads the first of two, and who the last, would each check another one.
func TestTwoFencesInOneRequestAreRefused(t *testing.T) {
	handler := fencehttp.Require(fencehttp.NewMemory(), http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it is handled") }))
	for _, twice := range []string{fencehttp.HeaderName, fencehttp.HeaderFence} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		req.Header.Set(fencehttp.HeaderName, "a/b")
		req.Header.Set(fencehttp.HeaderFence, "8")
		req.Header.Add(twice, "9")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		if w.Code != http.StatusBadRequest {
			t.Errorf("two of %s: got %d %q", twice, w.Code, w.Body)
		}
	}
}
