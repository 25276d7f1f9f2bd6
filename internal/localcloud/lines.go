package localcloud

import (
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Line is a line that a job's work wrote, or the local cloud on a decision about the job.
type Line struct {
	At     time.Time // local
	Job    string
	Source string // what wrote it
	Text   string
	Behind string // the run behind whose end it was written, if any
}

// ownSource is the source of the local cloud's own lines.
const ownSource = "cronfence dev"

// maxLines bounds what is kept; the oldest go first.
const maxLines = 20_000

// lines keeps the newest lines, for those who ask for a run's.
type lines struct {
	now func() time.Time

	mu   sync.Mutex
	kept []Line // a ring once it is full
	next int
}

func (l *lines) add(line Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line.At = l.now()
	if len(l.kept) < maxLines {
		l.kept = append(l.kept, line)
		return
	}
	l.kept[l.next] = line
	l.next = (l.next + 1) % maxLines
}

// of are a job's lines between two instants, both included, and those behind a run's end, in
// order.
func (l *lines) of(job, run string, from, until time.Time) []Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []Line
	for i := range l.kept {
		line := l.kept[(l.next+i)%len(l.kept)]
		within := !line.At.Before(from) && !line.At.After(until)
		if line.Job == job && (within || line.Behind == run && run != "") {
			found = append(found, line)
		}
	}
	return slices.Clip(found)
}

// workWriter passes on the whole lines that a process writes, and keeps them as those of the
// jobs that it works for. Each begins with the writer's name in brackets.
type workWriter struct {
	out   io.Writer
	lines *lines
	name  string
	jobs  []string
}

func (w workWriter) Write(p []byte) (int, error) {
	text := strings.TrimPrefix(strings.TrimRight(string(p), "\n"), "["+w.name+"] ")
	for _, job := range w.jobs {
		w.lines.add(Line{Job: job, Source: w.name, Text: text})
	}
	return w.out.Write(p)
}

// Lines are what a job's work wrote between two instants of local time, both included, with
// the decisions on its ticks among them, and how the work of a run ended that went on behind
// its end. Only the newest lines of all jobs are kept.
func (c *Cloud) Lines(job, run string, from, until time.Time) []Line {
	return c.lines.of(job, run, from, until)
}
