package devapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/clock"
	"github.com/cronfence/cronfence/internal/localcloud/fault"
	"github.com/cronfence/cronfence/internal/ops/devapi"
)

func newFaults(t *testing.T) *fault.Set {
	t.Helper()
	s := fault.NewSet(clock.New(time.Date(2026, 9, 7, 2, 0, 0, 0, time.UTC), 1), func(job string) error {
		if job != "cleanup" {
			return fmt.Errorf("job %q: the assembly has cleanup", job)
		}
		return nil
	}, func(string, string) {}, func(fault.Fault) {})
	t.Cleanup(s.Close)
	return s
}

// listing is what a GET of the faults answers.
type listing struct {
	Kinds     []fault.Description
	Functions []string
	Faults    []fault.Entry
}

func list(t *testing.T, s *devapi.Server) (l listing) {
	t.Helper()
	status, body, _ := send(t, request(t, s, http.MethodGet, "/api/v1/faults", ""))
	if err := json.Unmarshal([]byte(body), &l); err != nil || status != 200 {
		t.Fatalf("status %d, %v: %s", status, err, body)
	}
	return l
}

func TestFaultsAreAskedForListedAndEnded(t *testing.T) {
	s, _, _ := serve(t)
	act := func(method, path, body string) (int, string) {
		r := request(t, s, method, "/api/v1/faults"+path, body)
		r.Header.Set("Origin", s.URL())
		r.Header.Set("Authorization", "Bearer "+readToken(t))
		status, answer, _ := send(t, r)
		return status, answer
	}
	if l := list(t, s); len(l.Kinds) != len(fault.Catalog) || len(l.Functions) != 4 || l.Faults == nil || len(l.Faults) != 0 {
		t.Errorf("at first: %+v", l)
	}
	status, answer := act(http.MethodPost, "", `{"kind":"freeze","job":"cleanup","for":"10m"}`)
	var e fault.Entry
	if err := json.Unmarshal([]byte(answer), &e); err != nil || status != 200 || e.ID != 1 || e.Text != "freeze cleanup for 10m" || e.State != fault.Armed {
		t.Errorf("status %d, %v: %s", status, err, answer)
	}
	if l := list(t, s); len(l.Faults) != 1 || l.Faults[0].Fault.For != fault.Duration(10*time.Minute) {
		t.Errorf("after that: %+v", l.Faults)
	}
	if status, answer := act(http.MethodDelete, "/1", ""); status != 200 || !strings.Contains(answer, `"state":"over"`) {
		t.Errorf("ended: status %d: %s", status, answer)
	}
	for _, bad := range []struct{ method, path, body, want string }{
		{http.MethodPost, "", `{"kind":"kil","job":"cleanup"}`, "must be one of kill, abort,"},
		{http.MethodPost, "", `{"kind":"kill","job":"nope"}`, "the assembly has cleanup"},
		{http.MethodPost, "", `{"kind":"kill"}`, "needs \\\"a job\\\""},
		{http.MethodPost, "", `{"kind":"late","by":"soon"}`, "must be a duration"},
		{http.MethodPost, "", `{"kind":"kill","work":"cleanup"}`, "unknown field"},
		{http.MethodDelete, "/1", "", "there is none that goes on"},
		{http.MethodDelete, "/x", "", "must be the number of one"},
	} {
		if status, answer := act(bad.method, bad.path, bad.body); status != 400 || !strings.Contains(answer, bad.want) {
			t.Errorf("%s %s: status %d: %s\nwant %s", bad.path, bad.body, status, answer, bad.want)
		}
	}
	if l := list(t, s); len(l.Faults) != 1 {
		t.Errorf("what was refused is there: %+v", l.Faults)
	}
}
