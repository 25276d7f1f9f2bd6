package telemetry_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestLogLevelKeepsErrorsAndMetrics(t *testing.T) {
	for level, want := range map[string]string{
		schema.LogError: "measured failed", schema.LogInfo: "measured plain failed", "": "measured plain failed",
	} {
		var out bytes.Buffer
		w := telemetry.Writer{Scheduler: "shop", Out: telemetry.AtLeast(level, &out), Now: time.Now}
		w.Line("INFO", "measured", "cleanup", nil, telemetry.Values{telemetry.Skipped: 1})
		w.Line("INFO", "plain", "cleanup", nil, nil)
		w.Line("ERROR", "failed", "cleanup", nil, nil)
		var got []string
		for _, msg := range []string{"measured", "plain", "failed"} {
			if strings.Contains(out.String(), `"msg":"`+msg+`"`) {
				got = append(got, msg)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("level %q logs %q: want %s", level, got, want)
		}
	}
}
