package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/internal/rig"
)

// ask sends a request to a page and returns its status and text.
func ask(t *testing.T, method, url, token, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Origin", "http://"+r.Host)
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestUIShowsADeployedSchedulerAndEndsInOrder(t *testing.T) {
	deploy(t, rig.Moto(t), "paged")
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan int)
	go func() {
		code := run(ctx, []string{"ui", "--scheduler", "paged", "--by", "alice@laptop", "--json"}, w, io.Discard)
		_ = w.Close()
		done <- code
	}()
	var doc shown
	if err := json.NewDecoder(r).Decode(&doc); err != nil || doc.Scheduler != "paged" {
		t.Fatalf("got %+v, %v", doc, err)
	}
	address, token, _ := strings.Cut(doc.URL, "/#token=")
	if !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Errorf("it listens on %s", address)
	}
	if status, html := ask(t, "GET", address+"/", token, ""); status != http.StatusOK || !strings.Contains(html, `href="/jobs/paged/cleanup"`) {
		t.Errorf("got %d\n%s", status, html)
	}
	for _, path := range []string{"/", "/jobs/paged/cleanup", "/api/v1/schedulers", "/api/v1/schedulers/paged/jobs"} {
		for _, wrong := range []string{"", "x" + token} {
			if _, text := ask(t, "GET", address+path, wrong, ""); strings.Contains(text, "cleanup") || strings.Contains(text, `"paged"`) {
				t.Errorf("%s shows without the token\n%s", path, text)
			}
		}
	}
	pause := address + "/api/v1/schedulers/paged/jobs/cleanup/pause"
	if status, _ := ask(t, "POST", pause, "", `{"by":"mallory","reason":"x"}`); status != http.StatusForbidden {
		t.Errorf("without token and origin: status %d", status)
	}
	if status, text := ask(t, "POST", pause, token, `{"by":"alice@laptop","reason":"rebuild"}`); status != http.StatusOK {
		t.Errorf("pause: %d %s", status, text)
	}
	if _, html := ask(t, "GET", address+"/jobs/paged/cleanup", token, ""); !strings.Contains(html, "by alice@laptop") || strings.Contains(html, "Let something go wrong") {
		t.Errorf("after the pause\n%s", html)
	}
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("it ended with code %d", code)
	}
	expect(t, "ui --listen here", 2, "", `--listen "here": must be HOST:PORT`)
	expect(t, "ui cleanup", 2, "", `unexpected argument "cleanup"`)
	expect(t, "ui --scheduler a_b", 2, "", `--scheduler: scheduler name "a_b"`)
}
