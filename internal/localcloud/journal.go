package localcloud

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/pkg/guard"
)

// journal takes the lines that the functions write: it shows the decisions among them as
// plain text.
type journal struct {
	mu    sync.Mutex
	out   io.Writer
	now   func() time.Time
	width int // of the longest job name
	lines *lines
}

// line is what is read of a function's log line.
type line struct {
	Level, Msg, Job   string
	Tick, Run         string
	Outcome           string
	Why, Error, Cause string
	Holder            *guard.Holder
	RunTimeSeconds    *float64
	Ratio             *float64
	Fence             int64
}

// Write takes whole lines, as the functions write them.
func (j *journal) Write(p []byte) (int, error) {
	for text := range strings.Lines(string(p)) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			j.note(strings.TrimSpace(text))
			continue
		}
		j.take(l)
	}
	return len(p), nil
}

func (j *journal) take(l line) {
	switch {
	case slices.Contains([]string{"beat", "duplicate", "sweep", "gauges", "going on"}, l.Msg): // no decision on a tick
	case l.Msg == "outcome":
		j.show(l.Job, l.Tick, l.Outcome, detail(l))
	case l.Msg == "given the guard":
		j.show(l.Job, l.Tick, "given", fmt.Sprintf("run %s, fence %d", l.Run, l.Fence))
	case l.Msg == "started":
		j.show(l.Job, l.Tick, "started", fmt.Sprintf("run %s, fence %d", l.Run, l.Fence))
	default:
		j.show(l.Job, l.Tick, l.Level, strings.TrimSpace(strings.Join([]string{l.Msg, l.Run, l.Error}, " ")))
	}
}

func detail(l line) string {
	var parts []string
	if l.Why != "" && l.Holder == nil { // the holder says why
		parts = append(parts, l.Why)
	}
	if h := l.Holder; h != nil {
		what := "held by " + h.Run
		if h.Draining {
			what = "draining after " + h.Run
		}
		parts = append(parts, fmt.Sprintf("%s for %v", what, (time.Duration(h.HeldFor)*time.Millisecond).Round(time.Second)))
	}
	if l.RunTimeSeconds != nil {
		parts = append(parts, fmt.Sprintf("in %v", seconds(*l.RunTimeSeconds)))
	}
	if l.Ratio != nil {
		parts = append(parts, fmt.Sprintf("%s %.2f", strings.ToLower(telemetry.Ratio), *l.Ratio))
	}
	if l.Error != "" {
		parts = append(parts, l.Error)
	}
	return strings.Join(parts, ", ")
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Second)
}

func (j *journal) show(job, tick, what, detail string) {
	if j.lines != nil {
		j.lines.add(Line{Job: job, Source: ownSource, Text: strings.Join(strings.Fields(tick+" "+what+" "+detail), " ")})
	}
	j.row(job, tick, what, detail)
}

func (j *journal) row(job, tick, what, detail string) {
	text := fmt.Sprintf("%s  %-*s  %-20s  %-9s  %s", j.now().UTC().Format(time.TimeOnly), j.width, job, tick, what, detail)
	j.print(strings.TrimRight(text, " "))
}

// late shows how the work of a run ended that went on behind its end.
func (j *journal) late(job, run, end string) {
	detail := fmt.Sprintf("the work of %s went on behind its end and ended %s", run, end)
	if j.lines != nil {
		j.lines.add(Line{Job: job, Source: ownSource, Text: "late " + detail, Behind: run})
	}
	j.row(job, "", "late", detail)
}

// fault shows a fault that struck.
func (j *journal) fault(job, text string) {
	if job == "" {
		j.note("fault  " + text)
		return
	}
	j.show(job, "", "fault", text)
}

// Notify implements sentinel.Notices: what would be sent to people is shown.
func (j *journal) Notify(_ context.Context, subject, text string) error {
	j.note("NOTICE    " + subject)
	for line := range strings.Lines(strings.TrimSpace(text)) {
		if line = strings.TrimSpace(line); line != "" {
			j.note("          " + line)
		}
	}
	return nil
}

// note shows what is of no one job.
func (j *journal) note(text string) { j.print(j.now().UTC().Format(time.TimeOnly) + "  " + text) }

func (j *journal) print(text string) {
	text = ops.Printable(text)
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = fmt.Fprintln(j.out, text)
}
