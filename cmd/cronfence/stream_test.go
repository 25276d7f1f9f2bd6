package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// lineCount counts the lines that are written.
type lineCount struct{ n int }

func (l *lineCount) Write(p []byte) (int, error) {
	l.n += bytes.Count(p, []byte("\n"))
	return len(p), nil
}

// endless is a store of many jobs, or of one job with many ticks. At each page it notes how many
// of those it gave before have not been written yet.
type endless struct {
	guard.Store
	jobs, ticks int
	out         *lineCount

	given, pages, held int
}

func (s *endless) page(n int) {
	if s.pages++; s.pages > 1 {
		s.held = max(s.held, s.given-s.out.n)
	}
	s.given += n
}

func (s *endless) Guards(_ context.Context, after string, limit int) (guard.GuardPage, error) {
	from, _ := strconv.Atoi(strings.TrimPrefix(after, "job"))
	var p guard.GuardPage
	for i := from + 1; i <= min(from+limit, s.jobs); i++ {
		p.Guards = append(p.Guards, guard.Guard{Job: fmt.Sprintf("job%05d", i), Ready: true})
	}
	if from+limit < s.jobs {
		p.Next = p.Guards[len(p.Guards)-1].Job
	}
	s.page(len(p.Guards))
	return p, nil
}

func (s *endless) Guard(context.Context, string) (*guard.Guard, error) {
	return &guard.Guard{Job: "cleanup", Ready: true}, nil
}

func (s *endless) Gaps(context.Context, string, string, string, int) ([]guard.Gap, error) {
	return nil, nil
}

// Rows are a tick a minute before midnight, the newest first.
func (s *endless) Rows(_ context.Context, q guard.RowQuery) (guard.RowPage, error) {
	if strings.Contains(q.From, "-") { // of another kind
		return guard.RowPage{}, nil
	}
	from := 0
	if q.After != "" {
		at, err := time.Parse(time.RFC3339, q.After)
		if err != nil {
			return guard.RowPage{}, err
		}
		from = int(testworld.Midnight.Sub(at) / time.Minute)
	}
	var p guard.RowPage
	for i := from + 1; i <= min(from+q.Limit, s.ticks); i++ {
		at := testworld.Midnight.Add(-time.Duration(i) * time.Minute)
		p.Rows = append(p.Rows, guard.Row{Job: q.Job, Tick: schema.TickID(at), At: schema.MillisOf(at), Kind: guard.Scheduled, Outcome: guard.Succeeded})
	}
	if from+q.Limit < s.ticks {
		p.Next = p.Rows[len(p.Rows)-1].Tick
	}
	s.page(len(p.Rows))
	return p, nil
}

// However long a list is, it is written page by page: when a page is asked for, all but a line of
// what came before is written, and so nothing of it is held.
func TestListsAreWrittenAsTheyAreRead(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		o := operated{json: asJSON}
		run := func(name string, s *endless, list func(op ops.Operator, out io.Writer) error) {
			t.Helper()
			s.out = &lineCount{}
			op := &ops.Direct{Name: "shop", Engine: &engine.Engine{Store: s, Now: func() time.Time { return testworld.Midnight }}}
			if err := list(op, s.out); err != nil {
				t.Error(err)
			}
			if want := max(s.jobs, s.ticks); s.out.n < want || s.out.n > want+1 {
				t.Errorf("%s: %d lines of %d", name, s.out.n, want)
			}
			if s.pages < 100 || s.held > 1 {
				t.Errorf("%s, JSON %v: of %d pages up to %d lines were held when the next was asked for", name, asJSON, s.pages, s.held)
			}
		}
		run("jobs", &endless{jobs: 10_000}, func(op ops.Operator, out io.Writer) error {
			cmd := newJobsCommand()
			cmd.SetContext(t.Context())
			cmd.SetOut(out)
			return o.listJobs(cmd, op)
		})
		run("history", &endless{ticks: 100_000}, func(op ops.Operator, out io.Writer) error {
			cmd := newHistoryCommand()
			cmd.SetContext(t.Context())
			cmd.SetOut(out)
			return o.listHistory(cmd, op, ops.HistoryQuery{Job: "cleanup"})
		})
	}
}
