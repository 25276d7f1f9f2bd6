// Package ops is what operators do: see what is and what was, have a tick explained, and
// act - run, backfill, pause, resume, release - through the guard and on the record.
//
// An Operator is one scheduler. Direct works on its records, wherever they are: package
// awsops finds those of a deployed scheduler, package devapi speaks to a running `cronfence
// dev`. What an Operator returns is what --json writes: fields are added, never renamed.
package ops

import (
	"context"
	"iter"
	"time"

	"github.com/cronfence/cronfence/internal/report"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/policy"
)

// Operator is what can be asked of one scheduler. A job that it does not know is an
// *UnknownJobError; what cannot be done now is a *guard.Refusal; what can never be done as it
// is asked for is an *InvalidError.
type Operator interface {
	// Jobs yields all jobs by name, as they are read.
	Jobs(ctx context.Context) iter.Seq2[Job, error]
	// Status is what is known of a job now.
	Status(ctx context.Context, job string) (Status, error)
	// History yields a job's ticks, the newest first by planned time, as they are read.
	History(ctx context.Context, q HistoryQuery) iter.Seq2[Entry, error]
	// Tick is a tick's entry in the ledger, or nil when it has none.
	Tick(ctx context.Context, job, tick string) (*Entry, error)
	// Report is what a week of a job came to.
	Report(ctx context.Context, q ReportQuery) (JobReport, error)
	// Why explains what a tick did, or why nothing is known of it.
	Why(ctx context.Context, job, tick string) (Explanation, error)

	// Run asks for a run now, through the guard. That it was skipped is no error: the result
	// says so.
	Run(ctx context.Context, r RunRequest) (RunResult, error)
	// Pause has the job's ticks skipped.
	Pause(ctx context.Context, r PauseRequest) (Status, error)
	// Resume ends a pause and starts nothing.
	Resume(ctx context.Context, job string) (Status, error)
	// Release stops whoever holds the guard and frees it once that run has ended.
	Release(ctx context.Context, r ReleaseRequest) (ReleaseResult, error)
	// Backfill has planned ticks of the past run one at a time, planned ones first. It returns
	// once that is on the guard: it needs nobody to go on.
	Backfill(ctx context.Context, r BackfillRequest) (BackfillResult, error)
	// EndBacklog ends a backfill or catch-up under way; one of its ticks that runs goes on.
	EndBacklog(ctx context.Context, r EndBacklogRequest) (Status, error)
	// Preview says what an act would do now, and changes nothing. What would be refused is.
	Preview(ctx context.Context, a Act) (Preview, error)

	// Logs are the lines of a run.
	Logs(ctx context.Context, q LogQuery) (Logs, error)
	// Doctor finds what is stuck, orphaned or misconfigured.
	Doctor(ctx context.Context) (Diagnosis, error)
}

// HistoryQuery selects ticks of a job. The zero values select all of them.
type HistoryQuery struct {
	Job     string
	Since   time.Time     // planned at or after
	Last    time.Duration // planned within so long before now
	Outcome guard.Outcome // with this outcome only
	Kind    guard.Kind    // of this kind only
}

// ReportQuery selects a job's week.
type ReportQuery struct {
	Job  string
	Full bool // the last calendar week that is over, Monday to Monday in UTC; else the seven days up to now
}

// JobReport is what a week of a job came to.
type JobReport struct {
	From time.Time   `json:"from"`
	To   time.Time   `json:"to"` // excluded
	Line report.Line `json:"line"`
}

// RunRequest asks for a run now.
type RunRequest struct {
	Job     string          `json:"-"`
	By      string          `json:"by"`
	Reason  string          `json:"reason,omitempty"`
	Overlap *policy.Overlap `json:"overlap,omitempty"` // in the place of the job's own policy; nil keeps it
}

// RunResult is what a request to run came to.
type RunResult struct {
	Scheduler string        `json:"scheduler"`
	Job       string        `json:"job"`
	Tick      string        `json:"tick"`    // of its own kind: it eats no planned tick
	Outcome   guard.Outcome `json:"outcome"` // so far
	Run       string        `json:"run,omitempty"`
	Fence     int64         `json:"fence,omitempty"`
	Refused   bool          `json:"refused"` // it is on record as skipped and will not run
	Message   string        `json:"message"` // one line: what happened and, if refused, what to do
	Holder    *Blocker      `json:"holder,omitempty"`
}

// PauseRequest asks for a pause.
type PauseRequest struct {
	Job    string        `json:"-"`
	By     string        `json:"by"`
	Reason string        `json:"reason"`        // required, as of a release: one line of at most MaxReason characters
	For    time.Duration `json:"for,omitempty"` // 0: until somebody resumes the job
}

// ReleaseRequest asks for the holder's end.
type ReleaseRequest struct {
	Job    string `json:"-"`
	Run    string `json:"run,omitempty"` // the run that is meant, and no other; empty: whoever holds the guard
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// EndBacklogRequest asks for the end of a backfill or catch-up.
type EndBacklogRequest struct {
	Job    string `json:"-"`
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// ReleaseResult is what a forced release came to.
type ReleaseResult struct {
	Released string `json:"released"` // the run
	Tick     string `json:"tick"`
	Ended    bool   `json:"ended"` // false: it is marked and stopped, the guard comes free once it has ended
	Message  string `json:"message"`
	Status   Status `json:"status"` // of the job, afterwards
}
