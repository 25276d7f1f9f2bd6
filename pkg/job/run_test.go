package job_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/pkg/job"
)

const object = `{"scheduler":"shop","table":"t","job":"cleanup","tick":"2026-09-07T02:00:00Z",` +
	`"run":"cleanup-20260907T020000Z-1","fence":1796046370079,"attempt":1,"deadline":"2026-09-07T02:05:00.5Z",` +
	`"interval":900,"payload":{"limit":3},"later":"unknown"}`

var began = time.Date(2026, 9, 7, 2, 0, 0, 0, time.UTC)

func TestParseReadsARunObjectAndLeavesNewMembersAlone(t *testing.T) {
	got, err := job.Parse([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	want := job.Run{
		Scheduler: "shop", Table: "t", Job: "cleanup", Tick: "2026-09-07T02:00:00Z",
		ID: "cleanup-20260907T020000Z-1", Fence: 1796046370079, Attempt: 1,
		Deadline: began.Add(5*time.Minute + 500*time.Millisecond), Interval: 15 * time.Minute,
		Payload: []byte(`{"limit":3}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseRefusesWhatNamesNoRun(t *testing.T) {
	for name, c := range map[string]struct{ object, says string }{
		"no JSON":     {`now`, "read run object"},
		"no fence":    {strings.Replace(object, `"fence":1796046370079,`, "", 1), "fence 0"},
		"fence below": {strings.Replace(object, `1796046370079`, "-1", 1), "fence -1: must be from 1 to 9007199254740991"},
		"fence above": {strings.Replace(object, `1796046370079`, "9007199254740992", 1), "fence 9007199254740992: must be from 1 to 9007199254740991"},
		"no deadline": {strings.Replace(object, `2026-09-07T02:05:00.5Z`, "soon", 1), `deadline "soon"`},
		"interval":    {strings.Replace(object, `900`, "-1", 1), "interval -1"},
	} {
		if _, err := job.Parse([]byte(c.object)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v: want an error that says %q", name, err, c.says)
		}
	}
}

func TestARunIsFoundInTheEnvironmentOrInAMessage(t *testing.T) {
	t.Setenv(job.EnvRun, "")
	if _, err := job.FromEnv(); err == nil {
		t.Error("empty environment: want an error")
	}
	t.Setenv(job.EnvRun, object)
	if run, err := job.FromEnv(); err != nil || run.Job != "cleanup" {
		t.Errorf("%+v, %v", run, err)
	}
	if _, err := job.FromToken([]byte(object)); err == nil {
		t.Error("no token: want an error")
	}
	run, err := job.FromToken([]byte(strings.Replace(object, `{"sch`, `{"taskToken":"AAA","sch`, 1)))
	if err != nil || run.Token != "AAA" {
		t.Errorf("token %q, %v", run.Token, err)
	}
}
