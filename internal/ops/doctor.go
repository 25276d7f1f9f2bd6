package ops

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// The kinds of findings. A kind is added, never renamed.
const (
	FoundExpiredHolder   = "expired-holder"   // its lease is over and nobody took the guard over
	FoundEndedHolder     = "ended-holder"     // its execution has ended, or never was, and it still holds the guard
	FoundUnheededStop    = "unheeded-stop"    // it is being stopped and does not end
	FoundStuckWaiting    = "stuck-waiting"    // the guard is free and the tick that waits is not started
	FoundBlockedGuard    = "blocked-guard"    // made anew, and not made ready in time
	FoundStuckBacklog    = "stuck-backlog"    // the guard is free and its backlog does not move
	FoundOrphanedGuard   = "orphaned-guard"   // the job has no schedule any more
	FoundUnknownJob      = "unknown-job"      // the job has a schedule and no guard
	FoundHighRatio       = "high-ratio"       // runs come near their interval
	FoundHistoryLimit    = "history-limit"    // a run comes near the most events that an execution can have
	FoundScheduleChanged = "schedule-changed" // it is not as deployed
	FoundScheduleMissing = "schedule-missing" // it was deployed and is not there
	FoundNoTTL           = "no-ttl"
	FoundNoRecovery      = "no-point-in-time-recovery"
	FoundSilentAlarm     = "silent-alarm" // it tells nobody
	FoundDeadLetters     = "dead-letters"
	FoundClock           = "clock" // this machine's is off
)

// Finding is something stuck, orphaned or misconfigured.
type Finding struct {
	Kind string `json:"kind"`
	Job  string `json:"job,omitempty"`
	What string `json:"what"` // in a sentence
	Fix  string `json:"fix"`  // the command or change that mends it
}

// Unchecked is something that could not be looked at.
type Unchecked struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Diagnosis is what was found.
type Diagnosis struct {
	Scheduler string      `json:"scheduler"`
	Jobs      int         `json:"jobs"` // looked at
	Findings  []Finding   `json:"findings"`
	Unchecked []Unchecked `json:"unchecked"`
}

// Add adds a finding.
func (d *Diagnosis) Add(kind, job, fix, format string, args ...any) {
	d.Findings = append(d.Findings, Finding{Kind: kind, Job: job, What: fmt.Sprintf(format, args...), Fix: fix})
}

// Skip notes what could not be looked at, once.
func (d *Diagnosis) Skip(what, why string) {
	for _, u := range d.Unchecked {
		if u.What == what {
			return
		}
	}
	d.Unchecked = append(d.Unchecked, Unchecked{what, why})
}

// Deployed is what a scheduler's group of schedules says.
type Deployed struct {
	Ticks map[string]bool // by job: whether its schedule is enabled
	// Changed is when each schedule was made or changed last; it may be unknown.
	Changed map[string]time.Time
	// Forget is the command that deletes the guard of a job; nil where there is none.
	Forget func(job string) string
}

// Doctor implements Operator. What the scheduler's surroundings cannot be asked is said in
// the diagnosis and is no error.
func (d *Direct) Doctor(ctx context.Context) (Diagnosis, error) {
	x := Diagnosis{Scheduler: d.Name, Findings: []Finding{}, Unchecked: []Unchecked{}}
	deployed, err := d.Around.Deployed(ctx)
	if err != nil {
		x.Skip("schedules", err.Error())
	}
	seen := map[string]bool{}
	for after := ""; ; {
		page, err := d.Engine.Store.Guards(ctx, after, jobsPage)
		if err != nil {
			return x, fmt.Errorf("list jobs: %w", err)
		}
		if err := d.examinePage(ctx, &x, page.Guards, deployed); err != nil {
			return x, err
		}
		for _, g := range page.Guards {
			seen[g.Job] = true
		}
		if after = page.Next; after == "" {
			break
		}
	}
	d.examineClock(&x)
	for job := range deployed.Ticks {
		if !seen[job] && schema.MillisOf(deployed.Changed[job]) < d.now().Add(-patience) {
			x.Add(FoundUnknownJob, job, "see that the sentinel runs: it makes the guard within a minute of the deployment",
				"%s has a schedule and no guard yet", job)
		}
	}
	d.Around.Examine(ctx, &x)
	x.order()
	return x, nil
}

// examiners is how many jobs are looked at side by side: a look is one or two small requests.
const examiners = 8

func (d *Direct) examinePage(ctx context.Context, x *Diagnosis, guards []guard.Guard, deployed Deployed) error {
	x.Jobs += len(guards)
	parts, errs := make([]Diagnosis, len(guards)), make([]error, len(guards))
	var wg sync.WaitGroup
	free := make(chan struct{}, examiners)
	for i, g := range guards {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			errs[i] = d.examine(ctx, &parts[i], g, deployed)
		})
	}
	wg.Wait()
	for i, part := range parts {
		if errs[i] != nil {
			return errs[i]
		}
		x.Findings = append(x.Findings, part.Findings...)
		for _, u := range part.Unchecked {
			x.Skip(u.What, u.Why)
		}
	}
	return nil
}

// recentRuns is in how many of a job's newest ticks a high ratio counts.
const recentRuns = 20

// examine looks at one job.
func (d *Direct) examine(ctx context.Context, x *Diagnosis, g guard.Guard, deployed Deployed) error {
	now := d.now()
	stuck(x, g, now)
	if _, there := deployed.Ticks[g.Job]; deployed.Ticks != nil && !there {
		orphaned(x, g, deployed.Forget)
		return nil
	}
	if g.Spec == nil {
		return nil
	}
	if g.Run != nil {
		d.examineHolder(ctx, x, g, now)
	}
	page, err := d.Engine.Store.Rows(ctx, guard.RowQuery{Job: g.Job, To: behindDigits, Newest: true, Limit: recentRuns})
	if err != nil {
		return fmt.Errorf("query ticks of %s: %w", g.Job, err)
	}
	highRatio(x, g, page.Rows, now)
	historyBound(x, g)
	return nil
}
