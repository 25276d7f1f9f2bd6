package telemetry

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// AtLeast returns a writer that drops lines below a level, of [schema.LogInfo] and
// [schema.LogError]. Lines that carry metrics are kept: they are how CloudWatch gets them.
// Lambda's own filter would drop those too.
func AtLeast(level string, out io.Writer) io.Writer {
	if level != schema.LogError {
		return out
	}
	return errorsOnly{out}
}

type errorsOnly struct{ out io.Writer }

func (w errorsOnly) Write(line []byte) (int, error) {
	var l struct {
		Level string          `json:"level"`
		AWS   json.RawMessage `json:"_aws"`
	}
	if json.Unmarshal(bytes.TrimSpace(line), &l) == nil && l.Level == schema.LogInfo && l.AWS == nil {
		return len(line), nil
	}
	return w.out.Write(line)
}
