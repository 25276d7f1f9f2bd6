//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/internal/localcloud/example"
)

var loadFlag = flag.Bool("dev.load", false, "run 50 jobs for a minute of real time, at 60 times its speed; a tick each without")

const (
	loadJobs  = 50
	loadSpeed = 60
	maxMemory = 300 << 20 // resident bytes
	loadAPI   = "/api/v1/schedulers/example"
)

// manyJobs writes the example's assembly with further jobs like its cleanup: due every minute, at
// work for 2 min 50 s, with a beat every 30 s.
func manyJobs(t *testing.T, jobs int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"manifest.json", "CronfenceExample.template.json"} {
		text, err := example.Assembly.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if name != "manifest.json" {
			text = withJobs(t, text, jobs)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func withJobs(t *testing.T, text []byte, jobs int) []byte {
	t.Helper()
	var template map[string]json.RawMessage
	var resources map[string]json.RawMessage
	err := errors.Join(json.Unmarshal(text, &template), json.Unmarshal(template["Resources"], &resources))
	if err != nil {
		t.Fatal(err)
	}
	more := map[string]json.RawMessage{}
	for id, r := range resources {
		more[id] = r
		if !strings.Contains(id, "Jobscleanup") {
			continue
		}
		for i := range jobs - 3 { // the example has three
			job := fmt.Sprintf("cleanup%02d", i)
			more[strings.Replace(id, "cleanup", job, 1)] = bytes.ReplaceAll(r, []byte("cleanup"), []byte(job))
		}
	}
	if template["Resources"], err = json.Marshal(more); err != nil {
		t.Fatal(err)
	}
	if text, err = json.Marshal(template); err != nil {
		t.Fatal(err)
	}
	return text
}

// docs/proof.md has the figures of a minute; -dev.load -v shows them.
func TestFiftyJobsAreKeptUpWith(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	length := time.Minute
	if *loadFlag {
		length = loadSpeed * time.Minute
	}
	cmd := exec.CommandContext(t.Context(), self, "dev", "--listen", "127.0.0.1:0", "--json", "--assembly", manyJobs(t, loadJobs),
		"--speed", strconv.Itoa(loadSpeed), "--for", length.String())
	cmd.Env = append(os.Environ(), asCommand+"=1", "XDG_RUNTIME_DIR="+t.TempDir())
	var out bytes.Buffer
	cmd.Stdout = &out
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	url := ""
	for url == "" && lines.Scan() {
		_, url, _ = strings.Cut(lines.Text(), "--dev, such as: cronfence jobs --dev ")
	}
	drained := make(chan struct{})
	go func() { defer close(drained); _, _ = io.Copy(io.Discard, log) }()
	answers, memory := watchDev(t, url, cmd.Process.Pid, drained)
	if err := cmd.Wait(); err != nil {
		t.Errorf("dev: %v", err)
	}
	checkLoad(t, out.Bytes(), int(length/time.Minute), memory)
	slices.Sort(answers)
	t.Logf("%d jobs, %v at %d times real time: %d MB resident at most, %v of CPU; %d answers, half within %v, 99 of 100 within %v, all within %v",
		loadJobs, length, loadSpeed, memory>>20, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(),
		len(answers), answers[len(answers)/2], answers[len(answers)*99/100], answers[len(answers)-1])
}

// watchDev looks at all jobs and at one on the page, and asks for them over HTTP, until dev ends.
func watchDev(t *testing.T, url string, pid int, ended <-chan struct{}) (answers []time.Duration, memory int) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		for _, path := range []string{"/", "/jobs/example/cleanup07?window=1h", loadAPI + "/jobs", loadAPI + "/jobs/cleanup07/history?last=1h"} {
			began := time.Now()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := client.Do(r)
			if err != nil {
				break // it ends
			}
			_, err = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if err == nil {
				answers = append(answers, time.Since(began))
			}
		}
		memory = max(memory, resident(pid))
		select {
		case <-ended:
			return answers, memory
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// resident is the most memory that a process has had, 0 where it is gone.
func resident(pid int) int {
	status, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return kilobytes << 10
}

func checkLoad(t *testing.T, document []byte, ticks, memory int) {
	t.Helper()
	var r localcloud.Report
	if err := json.Unmarshal(document, &r); err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	if len(r.Jobs) != loadJobs || len(r.Problems) > 0 || r.DeadLetters > 0 {
		t.Errorf("%d jobs, dead letters %d, problems %q", len(r.Jobs), r.DeadLetters, r.Problems)
	}
	for _, j := range r.Jobs {
		// On a busy machine a lease may be lost, but no tick.
		final := j.Succeeded + j.Unsuccessful() + j.Skipped + j.Expired
		if j.Missed > 0 || j.MaxConcurrent > 1 || final != j.Ticks || strings.HasPrefix(j.Job, "cleanup") && j.Ticks != ticks {
			t.Errorf("%+v", j)
		}
	}
	if memory == 0 || memory > maxMemory && *loadFlag { // the race detector needs its own
		t.Errorf("%d MB resident, at most %d", memory>>20, maxMemory>>20)
	}
}
