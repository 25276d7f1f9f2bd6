package localcloud_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/internal/localcloud/example"
)

// buffer is a bytes.Buffer for several writers.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// start is half past ten, a second before a tick of both frequent jobs.
var start = time.Date(2026, 9, 7, 10, 29, 59, 0, time.UTC)

func runCloud(ctx context.Context, t *testing.T, c localcloud.Config) (*localcloud.Report, string) {
	t.Helper()
	var log buffer
	c.Assembly, c.Start, c.Log, c.Out = example.Assembly, start, &log, &log
	cloud, err := localcloud.New(c)
	if err != nil {
		t.Fatal(err)
	}
	report, err := cloud.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return report, log.String()
}

func jobOf(t *testing.T, r *localcloud.Report, name string) localcloud.JobReport {
	t.Helper()
	for _, j := range r.Jobs {
		if j.Job == name {
			return j
		}
	}
	t.Fatalf("no job %q in %+v", name, r)
	return localcloud.JobReport{}
}

func TestAnOverrunningJobIsHeldBack(t *testing.T) {
	r, log := runCloud(t.Context(), t, localcloud.Config{Speed: 60, For: 6 * time.Minute})
	if len(r.Problems) > 0 || r.DeadLetters > 0 || r.Interrupted {
		t.Errorf("problems %q, dead letters %d, interrupted %v\n%s", r.Problems, r.DeadLetters, r.Interrupted, log)
	}
	cleanup := jobOf(t, r, "cleanup")
	if cleanup.Ticks != 6 || cleanup.Started != 2 || cleanup.Succeeded != 2 || cleanup.Skipped != 4 || cleanup.MaxConcurrent != 1 {
		t.Errorf("cleanup: got %+v, want every third of 6 ticks run\n%s", cleanup, log)
	}
	if cleanup.MaxRatio < 2.8 || cleanup.MaxRatio > 3.2 || cleanup.LongestRunSeconds < 170 {
		t.Errorf("cleanup: ratio %v, longest run %v s", cleanup.MaxRatio, cleanup.LongestRunSeconds)
	}
	if sync := jobOf(t, r, "sync"); sync.Ticks != 1 || sync.Started != 1 {
		t.Errorf("sync: got %+v", sync)
	}
	if report := jobOf(t, r, "report"); report.Ticks != 0 || report.NextTick != "2026-09-08T00:00:00Z" {
		t.Errorf("report: got %+v, want its next tick at 02:00 in Berlin", report)
	}
	if !strings.Contains(log, "Skipped    held by cleanup-20260907T103000Z-1 for ") {
		t.Errorf("no skip names its holder:\n%s", log)
	}
}

func TestAHungCommandIsTimedOutAndTheJobGoesOn(t *testing.T) {
	// It hangs in its first run only.
	file := filepath.Join(t.TempDir(), "hung")
	r, log := runCloud(t.Context(), t, localcloud.Config{Speed: 600, For: 13 * time.Minute, Exec: map[string]string{
		"cleanup": `[ -e ` + file + ` ] && exit 0; echo $$ >` + file + `; sleep 600`,
	}})
	cleanup := jobOf(t, r, "cleanup")
	if len(r.Problems) > 0 || cleanup.TimedOut != 1 || cleanup.Succeeded == 0 || cleanup.MaxConcurrent != 1 {
		t.Errorf("problems %q, got %+v\n%s", r.Problems, cleanup, log)
	}
	if pid := pidIn(t, file); alive(pid) {
		t.Errorf("process %d outlived its run", pid)
	}
}

func TestCtrlCEndsTheCommands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for range 500 {
			if text, _ := os.ReadFile(file); len(text) > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	r, log := runCloud(ctx, t, localcloud.Config{Speed: 10, Exec: map[string]string{"cleanup": `sleep 600 & echo $! >` + file + `; wait`}})
	if !r.Interrupted || len(r.Problems) > 0 {
		t.Errorf("interrupted %v, problems %q", r.Interrupted, r.Problems)
	}
	// Nothing has ended, so that there is no longest run and no ratio.
	if cleanup := jobOf(t, r, "cleanup"); cleanup.Running != 1 || r.InFlight == 0 || cleanup.LongestRunSeconds != 0 || cleanup.MaxRatio != 0 {
		t.Errorf("got %+v\n%s", cleanup, log)
	}
	if pid := pidIn(t, file); alive(pid) {
		t.Errorf("process %d is left behind", pid)
	}
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// alive waits a little for whoever inherits a killed process to collect it.
func alive(pid int) bool {
	for range 100 {
		if syscall.Kill(pid, 0) != nil {
			return false
		}
		stat, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if strings.Contains(string(stat), ") Z ") {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

func TestACommandNeedsAJob(t *testing.T) {
	_, err := localcloud.New(localcloud.Config{Assembly: example.Assembly, Speed: 1, Exec: map[string]string{"nope": "true"}})
	if err == nil || !strings.Contains(err.Error(), `job "nope": the assembly has cleanup, report, sync`) {
		t.Errorf("got %v", err)
	}
}

func TestAnAssemblyWithoutJobsIsRefused(t *testing.T) {
	fsys := fstest.MapFS{
		"manifest.json": {Data: []byte(`{"artifacts":{"A":{"type":"aws:cloudformation:stack","properties":{"templateFile":"a.json"}}}}`)},
		"a.json":        {Data: []byte(`{"Resources":{}}`)},
	}
	_, err := localcloud.New(localcloud.Config{Assembly: fsys, Speed: 1})
	if err == nil || !strings.Contains(err.Error(), "has no job") {
		t.Errorf("got %v", err)
	}
}

// Code of the user's own is not in this program: its functions are named, unless a
// command stands in for them.
func TestFunctionsThatCannotRunAreNamed(t *testing.T) {
	fsys := foreign(t)
	for _, tt := range []struct {
		exec map[string]string
		want int
	}{{nil, 1}, {map[string]string{"cleanup": "true"}, 0}} {
		cloud, err := localcloud.New(localcloud.Config{Assembly: fsys, Start: start, Speed: 1, Exec: tt.exec, Log: &buffer{}})
		if err != nil {
			t.Fatal(err)
		}
		notices := strings.Join(cloud.Notices(), "\n")
		if len(cloud.Notices()) != tt.want || (tt.want > 0 && !strings.Contains(notices, "--exec")) {
			t.Errorf("with commands %v: notices %q", tt.exec, notices)
		}
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	}
}

// foreign is the example with the cleanup's package renamed.
func foreign(t *testing.T) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, name := range []string{"manifest.json", "CronfenceExample.template.json"} {
		text, err := example.Assembly.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fsys[name] = &fstest.MapFile{Data: bytes.ReplaceAll(text, []byte("cronfence/infra/app/jobs/cleanup"), []byte("elsewhere/cleanup"))}
	}
	return fsys
}
