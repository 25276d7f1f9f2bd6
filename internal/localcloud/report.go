package localcloud

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// Report is what a run of the local cloud came to. Its JSON is stable: fields are added,
// never renamed.
type Report struct {
	Start       string      `json:"start"` // RFC 3339, in the local cloud's time
	End         string      `json:"end"`
	Speed       float64     `json:"speed"`
	Interrupted bool        `json:"interrupted"`
	DeadLetters int         `json:"deadLetters"`
	Jobs        []JobReport `json:"jobs"`
	// Faults are those that were asked for, with how often each took effect.
	Faults []FaultReport `json:"faults"`
	Usage  Usage         `json:"usage"`
	// Problems says what must not be: a tick without exactly one final outcome, a job that
	// overlapped itself.
	Problems []string `json:"problems"`
	// InFlight counts the ticks without a final outcome where the local cloud was interrupted.
	InFlight int `json:"-"`
}

// FaultReport is the part of one fault.
type FaultReport struct {
	Fault string `json:"fault"` // as --fault takes it
	Count int    `json:"count"`
}

// JobReport is the part of one job. Ticks are those that the local cloud delivered and
// Started the executions it started; the outcomes are the ledger's.
type JobReport struct {
	Scheduler string `json:"scheduler"`
	Job       string `json:"job"`
	Ticks     int    `json:"ticks"`
	Started   int    `json:"started"`
	Succeeded int    `json:"succeeded"`
	Failed    int    `json:"failed"`
	TimedOut  int    `json:"timedOut"`
	Aborted   int    `json:"aborted"`
	LeaseLost int    `json:"leaseLost"`
	Skipped   int    `json:"skipped"`
	Expired   int    `json:"expired"`
	Missed    int    `json:"missed"`
	Abandoned int    `json:"abandoned"`
	Running   int    `json:"running"` // without a final outcome
	// MaxConcurrent is how many of the job's tasks worked at once at the most, counted by
	// the local cloud itself.
	MaxConcurrent int `json:"maxConcurrent"`
	// Of the runs that have ended, as the ledger has them.
	LongestRunSeconds float64 `json:"longestRunSeconds"`
	MaxRatio          float64 `json:"maxRatio"`
	NextTick          string  `json:"nextTick,omitempty"` // RFC 3339
}

// Unsuccessful counts the runs that ended badly.
func (r JobReport) Unsuccessful() int {
	return r.Failed + r.TimedOut + r.Aborted + r.LeaseLost + r.Abandoned
}

func (c *Cloud) report(began, ended time.Time, interrupted bool) (*Report, error) {
	r := &Report{
		Start: schema.TickID(began), End: schema.TickID(ended), Speed: c.config.Speed, Interrupted: interrupted,
		DeadLetters: len(c.async.buried()), Problems: []string{}, Faults: []FaultReport{}, Usage: c.meters.usage(),
	}
	for _, e := range c.faults.Entries() {
		r.Faults = append(r.Faults, FaultReport{Fault: e.Text, Count: e.Count})
	}
	for _, j := range c.jobs {
		rows, err := c.rows(j)
		if err != nil {
			return nil, err
		}
		gaps, err := c.gaps(j)
		if err != nil {
			return nil, err
		}
		ticks, most := j.seen()
		r.Jobs = append(r.Jobs, c.reportJob(j, rows, gaps, ended))
		r.InFlight += inFlight(ticks, rows)
		r.Problems = append(r.Problems, problems(j.name, ticks, rows, interrupted, c.recordedElsewhere(j, gaps))...)
		if most > 1 && j.overlap != policy.Allow {
			r.Problems = append(r.Problems, fmt.Sprintf("%d runs of %s worked at once", most, j.name))
		}
	}
	return r, nil
}

func (c *Cloud) rows(j *job) ([]guard.Row, error) {
	var rows []guard.Row
	q := guard.RowQuery{Job: j.name}
	for {
		page, err := c.store(j.table).Rows(context.Background(), q)
		if err != nil {
			return nil, fmt.Errorf("read ledger of %s: %w", j.name, err)
		}
		rows = append(rows, page.Rows...)
		if page.Next == "" {
			return rows, nil
		}
		q.After = page.Next
	}
}

// gaps are the job's ticks on record as Missed together.
func (c *Cloud) gaps(j *job) ([]guard.Gap, error) {
	ticks, _ := j.seen()
	if len(ticks) == 0 {
		return nil, nil
	}
	gaps, err := c.store(j.table).Gaps(context.Background(), j.name, ticks[0], ticks[len(ticks)-1], 0)
	if err != nil {
		return nil, fmt.Errorf("read gaps of %s: %w", j.name, err)
	}
	return gaps, nil
}

// recordedElsewhere tells of ticks that need no row: those inside a gap, and those whose delivery
// is a dead letter, which are on record as that until the sentinel finds them missing.
func (c *Cloud) recordedElsewhere(j *job, gaps []guard.Gap) func(tick string) bool {
	dead := map[string]bool{}
	for _, letter := range c.async.buried() {
		var ev schema.TickEvent
		if json.Unmarshal(letter.Event, &ev) == nil && ev.Job == j.name {
			dead[ev.Tick] = true
		}
	}
	return func(tick string) bool {
		return dead[tick] || slices.ContainsFunc(gaps, func(g guard.Gap) bool {
			return schema.TickID(g.From.Time()) <= tick && tick <= schema.TickID(g.To.Time())
		})
	}
}

func (c *Cloud) reportJob(j *job, rows []guard.Row, gaps []guard.Gap, now time.Time) JobReport {
	ticks, maxRunning := j.seen()
	r := JobReport{
		Scheduler: j.scheduler, Job: j.name, Ticks: len(ticks), Started: c.states.startedOf(j.machineARN),
		MaxConcurrent: maxRunning,
	}
	counts := map[guard.Outcome]*int{
		guard.Succeeded: &r.Succeeded, guard.Failed: &r.Failed, guard.TimedOut: &r.TimedOut, guard.Aborted: &r.Aborted,
		guard.LeaseLost: &r.LeaseLost, guard.Skipped: &r.Skipped, guard.Expired: &r.Expired, guard.Missed: &r.Missed,
		guard.Abandoned: &r.Abandoned, guard.Running: &r.Running,
	}
	for _, row := range rows {
		if n := counts[row.Outcome]; n != nil {
			*n++
		}
		r.LongestRunSeconds = math.Max(r.LongestRunSeconds, row.RunTimeDuration().Seconds())
		r.MaxRatio = math.Max(r.MaxRatio, row.Ratio)
	}
	for _, g := range gaps {
		r.Missed += g.Count
	}
	if next, ok := j.schedule.Next(now); ok && !j.disabled {
		r.NextTick = schema.TickID(next)
	}
	return r
}

// inFlight counts the rows without a final outcome, and the ticks that were delivered and
// have none yet.
func inFlight(ticks []string, rows []guard.Row) int {
	n, recorded := 0, map[string]bool{}
	for _, row := range rows {
		recorded[row.Tick] = true
		if !row.Outcome.Final() {
			n++
		}
	}
	for _, tick := range ticks {
		if !recorded[tick] {
			n++
		}
	}
	return n
}

// problems compares the ticks that were delivered with the ledger: each must have
// exactly one final outcome, unless it is on record elsewhere or the run was cut short, and
// nothing else may be there.
func problems(job string, ticks []string, rows []guard.Row, interrupted bool, elsewhere func(tick string) bool) []string {
	byTick := map[string][]guard.Row{}
	for _, row := range rows {
		byTick[row.Tick] = append(byTick[row.Tick], row)
	}
	var found []string
	for _, tick := range ticks {
		of := byTick[tick]
		delete(byTick, tick)
		switch {
		case len(of) == 1 && of[0].Outcome.Final(), len(of) == 0 && elsewhere(tick), interrupted && len(of) < 2:
		case len(of) == 0:
			found = append(found, fmt.Sprintf("tick %s of %s was delivered and is not in the ledger", tick, job))
		case len(of) > 1:
			found = append(found, fmt.Sprintf("tick %s of %s has %d outcomes", tick, job, len(of)))
		default:
			found = append(found, fmt.Sprintf("tick %s of %s ended as %q, which is not final", tick, job, of[0].Outcome))
		}
	}
	for tick := range byTick {
		if kind, _ := guard.KindOf(tick); kind == guard.Scheduled { // of the others nothing is delivered
			found = append(found, fmt.Sprintf("tick %s of %s is in the ledger and was never delivered", tick, job))
		}
	}
	slices.SortFunc(found, strings.Compare)
	return found
}
