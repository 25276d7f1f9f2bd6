package cronfence_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

var targetJobs = []string{"ecs", "ecs-short", "ecs-instances", "batch", "glue", "nested", "token", "token-plain", "chain", "chain-short"}

// lines is written by several jobs at a time.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func localTargets(t *testing.T, exec map[string]string, out *lines) *localcloud.Cloud {
	t.Helper()
	targets(t)
	cloud, err := localcloud.New(localcloud.Config{
		Assembly: os.DirFS(filepath.Join(scratch, "targets.out")),
		Start:    time.Date(2026, 9, 7, 9, 59, 50, 0, time.UTC), Speed: 60, For: 20 * time.Second,
		Exec: exec, Log: out, Out: out,
	})
	if err != nil {
		t.Fatal(err)
	}
	return cloud
}

// What does not run locally is named, with the way to run it.
func TestLocalCloudNamesWorkOfOtherServices(t *testing.T) {
	cloud := localTargets(t, nil, &lines{})
	notices := strings.Join(cloud.Notices(), "\n")
	for _, job := range targetJobs {
		hint := "give the job a command with --exec " + job + "=COMMAND"
		foreign := !strings.HasPrefix(job, "chain") && job != "nested" // these run here as they are
		if strings.Contains(notices, hint) != foreign {
			t.Errorf("notices name job %s with a hint: want %v\n%s", job, foreign, notices)
		}
	}
	if err := cloud.Close(); err != nil {
		t.Error(err)
	}
}

// Every shape runs locally with a command in the place of its work, which gets the run
// object as the work would.
func TestEveryTargetRunsLocallyAsACommand(t *testing.T) {
	exec := map[string]string{}
	for _, job := range targetJobs {
		exec[job] = `printf '%s\n' "$CRONFENCE_RUN"`
	}
	var out lines
	report, err := localTargets(t, exec, &out).Run(t.Context())
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("%v, problems %q\n%s", err, report.Problems, out.b.String())
	}
	for _, j := range report.Jobs {
		if j.Succeeded != 1 {
			t.Errorf("%s: %+v: want one run that succeeded\n%s", j.Job, j, out.b.String())
		}
		if strings.HasPrefix(j.Job, "chain") {
			continue // a user's call, which has an event of its own
		}
		_, text, found := strings.Cut(out.b.String(), "["+j.Job+"] ")
		text, _, _ = strings.Cut(text, "\n")
		var run schema.RunObject
		if err := json.Unmarshal([]byte(text), &run); !found || err != nil {
			t.Errorf("%s: command got %q: %v", j.Job, text, err)
			continue
		}
		payload, _ := json.Marshal(run.Payload)
		if run.Job != j.Job || run.Tick != "2026-09-07T10:00:00Z" || run.Fence == 0 || run.Table == "" || !strings.Contains(string(payload), `b'`) {
			t.Errorf("%s: command got %s", j.Job, text)
		}
	}
}
