package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/internal/localcloud"
)

// A fault that is asked for over HTTP strikes, and an operator sees what came of it.
func TestAFaultOverHTTPStrikes(t *testing.T) {
	url := startDev(t, "--exec", "report=exec sleep 600")
	started := document[ran](t, "run report --json --dev "+url, 0)
	files, err := filepath.Glob(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "cronfence", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("token files %q, %v", files, err)
	}
	left, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	token, _, _ := strings.Cut(string(left), "\n")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/v1/faults", strings.NewReader(`{"kind":"abort","job":"report"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", url)
	r.Header.Set("Authorization", "Bearer "+token)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), `"count":1`) {
		t.Errorf("status %d, %v: %s", res.StatusCode, err, body)
	}
	for range 1000 { // until the status event is settled
		_, out, _ := command(t, "why", "report", started.Tick, "--dev", url)
		if strings.Contains(out, "Aborted") || strings.Contains(out, "aborted") {
			return
		}
	}
	t.Error("the run that was stopped is not known to be")
}

func TestTheSummaryCountsTheFaults(t *testing.T) {
	code, out, errOut := command(t, "dev", "--listen", "127.0.0.1:0", "--for", "30s", "--speed", "100", "--json",
		"--fault", "twice by 1s for 1h", "--fault", "kill report")
	var r localcloud.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || len(r.Faults) != 2 {
		t.Fatalf("code %d, %v\n%s%s", code, err, out, errOut)
	}
	if r.Faults[0].Fault != "twice by 1s for 1h" || r.Faults[1] != (localcloud.FaultReport{Fault: "kill report"}) {
		t.Errorf("got %+v", r.Faults)
	}
	code, out, errOut = command(t, "dev", "--listen", "127.0.0.1:0", "--for", "1s", "--speed", "100", "--fault", "kill report")
	if code != 0 || !strings.Contains(out, `fault "kill report" took effect: 0`) {
		t.Errorf("code %d\n%s%s", code, out, errOut)
	}
	if code, _, errOut = command(t, "dev", "--fault", "kill nope"); code != 2 || !strings.Contains(errOut, `--fault "kill nope": job "nope": the assembly has cleanup, report, sync`) {
		t.Errorf("code %d: %s", code, errOut)
	}
}
