package cronfence

import (
	"strings"
	"testing"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestLongestAlarmTextFitsCloudWatch(t *testing.T) {
	j := &Job{
		name: strings.Repeat("j", 48), owner: strings.Repeat("o", maxOwner), runbook: strings.Repeat("r", maxRunbook),
		spec: schema.Spec{Scheduler: strings.Repeat("s", 31)},
	}
	for kind, what := range map[string]string{
		kindOverdue: overdueText(j.name), kindFailed: failedText(j.name, maxInRow), kindRatio: ratioText(j.name, defaultRatio), kindSkips: skipsText(j.name, maxInRow),
	} {
		if text := j.alarmText(kind, what); len(text) > 1024 {
			t.Errorf("%s: text of %d bytes: CloudWatch allows 1024 characters", kind, len(text))
		}
	}
}
