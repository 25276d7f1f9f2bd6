package ops

import (
	"context"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// BackfillRequest asks for planned ticks of the past to be run, one at a time, behind
// everything else the job does.
type BackfillRequest struct {
	Job  string    `json:"-"`
	From time.Time `json:"from"` // both included
	To   time.Time `json:"to"`
	Yes  bool      `json:"yes,omitempty"` // more than ManyTicks are meant
}

// How many planned ticks a backfill has: each is a run that somebody pays for.
const (
	ManyTicks = 1_000  // more need a yes
	MaxTicks  = 10_000 // more are refused
)

// BackfillResult is a backfill that has been put on the guard.
type BackfillResult struct {
	Scheduler string    `json:"scheduler"`
	Job       string    `json:"job"`
	Ticks     int       `json:"ticks"`                // that are to run
	Passed    int       `json:"passedOver,omitempty"` // besides: an earlier backfill of theirs succeeded
	First     time.Time `json:"first"`                // planned tick, of all
	Last      time.Time `json:"last"`
	Until     time.Time `json:"until"`             // what has not run by then never does
	Version   int64     `json:"version,omitempty"` // of the guard when it was put there: its runs have higher fences
	Message   string    `json:"message"`
}

// backfill finds the planned ticks that a request means, and of which an earlier one succeeded.
func (d *Direct) backfill(ctx context.Context, g guard.Guard, r BackfillRequest) (BackfillResult, error) {
	res := BackfillResult{Scheduler: d.Name, Job: r.Job}
	now, from, to := d.now(), schema.MillisOf(r.From), schema.MillisOf(r.To)
	switch {
	case g.Spec == nil:
		return res, fmt.Errorf("nothing is known of the schedule of %s yet", r.Job)
	case from > to:
		return res, invalid("from %s to %s: must be in the order of time", from, to)
	case to > now:
		return res, invalid("to %s: must be in the past: planned ticks come by themselves", to)
	}
	b, err := engine.PlanBackfill(g, from, to, now)
	if err != nil {
		return res, err
	}
	switch {
	case b.Planned > MaxTicks:
		return res, invalid("from %s to %s: has %d ticks: must be at most %d", from, to, b.Planned, MaxTicks)
	case b.Planned > ManyTicks && !r.Yes:
		return res, invalid("from %s to %s: has %d ticks: more than %d need --yes", from, to, b.Planned, ManyTicks)
	}
	if err := d.Engine.CountPassed(ctx, g, &b); err != nil {
		return res, err
	}
	if _, err := guard.BackfillJob(g, b.From, b.To, b.Planned, b.Passed, d.Engine.NewToken(), now); err != nil {
		return res, d.explain(ctx, err)
	}
	res.Until = now.Add(guard.BackfillWindow).Time()
	res.tell(g, b, now)
	return res, nil
}

// tell says what a backfill comes to.
func (res *BackfillResult) tell(g guard.Guard, b engine.Backfilling, now guard.Millis) {
	res.Ticks, res.Passed, res.First, res.Last = b.Planned-b.Passed, b.Passed, b.From.Time(), b.To.Time()
	res.Message = fmt.Sprintf("%d ticks of %s, from %s to %s, run one at a time, planned ticks first", res.Ticks, res.Job, b.From, b.To)
	if b.Passed > 0 {
		res.Message += fmt.Sprintf("; %d more are passed over: an earlier backfill of them succeeded", b.Passed)
	}
	if b.Coming > 0 {
		res.Message += fmt.Sprintf("; %d behind them are left out: they may still come by themselves", b.Coming)
	}
	if paused(g, now) {
		res.Message += fmt.Sprintf("; the job is %s, and nothing of it runs until it is resumed", pauseText(*g.Paused))
	}
}

// Backfill implements Operator.
func (d *Direct) Backfill(ctx context.Context, r BackfillRequest) (BackfillResult, error) {
	g, err := d.guardFor(ctx, Act{Job: r.Job, Backfill: &r})
	if err != nil {
		return BackfillResult{}, err
	}
	res, err := d.backfill(ctx, g, r)
	if err != nil {
		return res, err
	}
	sending, cancel := d.sending(ctx)
	defer cancel()
	g, b, err := d.Engine.Backfill(sending, r.Job, schema.MillisOf(r.From), schema.MillisOf(r.To))
	if err != nil {
		return res, d.explain(ctx, err)
	}
	res.Version = b.Version
	res.tell(g, b, d.now())
	return res, d.overAlready(ctx, g)
}

// overAlready is the error of a backfill that is over before it is told of, since Step Functions
// refused its first run.
func (d *Direct) overAlready(ctx context.Context, g guard.Guard) error {
	if g.Backlog != nil || g.Run != nil || g.Last == nil {
		return nil
	}
	row, err := d.Engine.Store.Row(ctx, g.Job, g.Last.Tick)
	if err != nil {
		return fmt.Errorf("read tick %s of %s: %w", g.Last.Tick, g.Job, err)
	}
	if row == nil || row.Kind != guard.Backfill || row.Outcome != guard.Failed {
		return nil
	}
	return fmt.Errorf("the backfill of %s is over already: %s", g.Job, startedText(*row, true))
}

// EndBacklog implements Operator.
func (d *Direct) EndBacklog(ctx context.Context, r EndBacklogRequest) (Status, error) {
	if err := r.Check(); err != nil {
		return Status{}, err
	}
	g, err := d.Engine.EndBacklog(ctx, r.Job, r.By, r.Reason)
	if err != nil {
		return Status{}, d.explain(ctx, err)
	}
	return d.status(ctx, g)
}

// BacklogEndedText says what the end of a backlog came to, in a line.
func BacklogEndedText(s Status) string {
	b := s.BacklogEnd
	if b == nil {
		return fmt.Sprintf("%s has no backfill or catch-up under way", s.Job.Job)
	}
	text := fmt.Sprintf("the %s of %s is ended, with at most %d ticks from %s to %s not run", b.Kind, s.Job.Job, b.Left, schema.TickID(b.Next), schema.TickID(b.To))
	if h := s.Holder; h != nil {
		if kind, _ := guard.KindOf(h.Tick); kind == b.Kind {
			text += fmt.Sprintf("; run %s goes on", h.Run)
		}
	}
	return text
}

// BackfillProgress is how far a backfill has come.
type BackfillProgress struct {
	Done, Of int    // ticks that ended or were passed over, ticks in all
	Running  string // tick; empty between two runs
	Over     bool
}

// WaitBackfill polls a backfill until nothing of it is left, reporting what changed, and
// returns the outcomes of its ticks.
func WaitBackfill(ctx context.Context, op Operator, b BackfillResult, report func(BackfillProgress), sleep func(context.Context, time.Duration) error) (map[guard.Outcome]int, error) {
	var last BackfillProgress
	for {
		s, err := op.Status(ctx, b.Job)
		if err != nil {
			return nil, err
		}
		p := progressOf(b, s)
		if p != last {
			report(p)
		}
		if last = p; p.Over {
			return outcomesOf(ctx, op, b)
		}
		if err := sleep(ctx, waitInterval); err != nil {
			return nil, fmt.Errorf("wait for the backfill of %s, which goes on without this command: %w", b.Job, err)
		}
	}
}

func progressOf(b BackfillResult, s Status) BackfillProgress {
	all := b.Ticks + b.Passed
	p := BackfillProgress{Done: all, Of: all, Over: true}
	if l := s.Backlog; l != nil && l.Kind == guard.Backfill {
		p.Done, p.Over = all-l.Left, false
	}
	if h := s.Holder; h != nil {
		if kind, at := guard.KindOf(h.Tick); kind == guard.Backfill && !at.Time().Before(b.First) && !at.Time().After(b.Last) {
			p.Running, p.Over = h.Tick, false
			p.Done = max(0, p.Done-1) // it may be an earlier one's, of a tick that was not come to yet
		}
	}
	return p
}

// outcomesOf counts the outcomes of a backfill's ticks, not those of an earlier one, but for a run of
// it that went on and succeeded after all.
func outcomesOf(ctx context.Context, op Operator, b BackfillResult) (map[guard.Outcome]int, error) {
	counts, asked := map[guard.Outcome]int{}, b.Until.Add(-guard.BackfillWindow)
	for e, err := range op.History(ctx, HistoryQuery{Job: b.Job, Since: b.First, Kind: guard.Backfill}) {
		if err != nil {
			return nil, err
		}
		if e.At.After(b.Last) {
			continue
		}
		if e.Fence > b.Version || e.Outcome == guard.Succeeded && !e.EndedAt.Before(asked) {
			counts[e.Outcome]++
		}
	}
	return counts, nil
}
