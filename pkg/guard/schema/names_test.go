package schema_test

import (
	"strings"
	"testing"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestScheduleNameTellsJobsAndSchedulersApart(t *testing.T) {
	long := strings.Repeat("j", 48)
	seen := map[string]string{}
	for _, scheduler := range []string{"dev", "prod", strings.Repeat("s", 31), strings.Repeat("s", 30) + "t"} {
		for _, job := range []string{"cleanup", "clean-up", "clean_up", long} {
			name := schema.ScheduleName(scheduler, job)
			if other, taken := seen[name]; taken || len(name) > 64 {
				t.Errorf("%s of %s: name %q of %d characters, taken by %q", job, scheduler, name, len(name), other)
			}
			seen[name] = scheduler + " " + job
			if got := schema.JobOfSchedule(name); got != job {
				t.Errorf("schedule %q is of job %q: want %q", name, got, job)
			}
		}
	}
	job := strings.Repeat("j", 40)
	if got, want := schema.ScheduleName(strings.Repeat("s", 23), job), job+"."+strings.Repeat("s", 23); got != want {
		t.Errorf("name %q: want %q, which fits just so", got, want)
	}
	if got := schema.ScheduleName("example", "cleanup"); got != "cleanup.example" {
		t.Errorf("name %q: want cleanup.example", got)
	}
}
