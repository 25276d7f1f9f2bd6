package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
)

// Act is an act to be previewed: exactly one request is set.
type Act struct {
	Job      string           `json:"-"`
	Run      *RunRequest      `json:"run,omitempty"`
	Pause    *PauseRequest    `json:"pause,omitempty"`
	Resume   bool             `json:"resume,omitempty"`
	Release  *ReleaseRequest  `json:"release,omitempty"`
	Backfill *BackfillRequest `json:"backfill,omitempty"`

	EndBacklog *EndBacklogRequest `json:"endBacklog,omitempty"`
}

// Check tells whether the act can be meant; else it is an *InvalidError.
func (a Act) Check() error {
	switch {
	case a.Run != nil:
		return a.Run.Check()
	case a.Pause != nil:
		return a.Pause.Check()
	case a.Release != nil:
		return a.Release.Check()
	case a.EndBacklog != nil:
		return a.EndBacklog.Check()
	}
	return nil
}

// Preview is what an act would do.
type Preview struct {
	Scheduler string   `json:"scheduler"`
	Job       string   `json:"job"`
	Would     []string `json:"would"`         // sentences
	Run       string   `json:"run,omitempty"` // that a release would stop
}

// Preview implements Operator. It decides as the act itself does, with the same functions on the
// guard as it is, and writes nothing.
func (d *Direct) Preview(ctx context.Context, a Act) (Preview, error) {
	p := Preview{Scheduler: d.Name, Job: a.Job}
	if err := a.Check(); err != nil {
		return p, err
	}
	g, err := d.guardFor(ctx, a)
	if err != nil {
		return p, err
	}
	now := d.now()
	switch {
	case a.Pause != nil:
		after := guard.PauseJob(g, pauseOf(*a.Pause, now), d.Engine.NewToken())
		p.Would = []string{PausedText(statusOf(viewOf(d.Name, after.Guard, now), after.Guard))}
	case a.Resume:
		dec, err := guard.ResumeJob(g, d.Engine.NewToken(), now)
		if err != nil {
			return p, err
		}
		p.Would = []string{ResumedText(statusOf(viewOf(d.Name, dec.Guard, now), dec.Guard))}
	case a.Release != nil:
		if p.Would, err = d.wouldRelease(g, *a.Release, now); err == nil {
			p.Run = g.Run.ID
		}
	case a.EndBacklog != nil:
		dec, err := guard.EndBacklog(g, a.EndBacklog.By, a.EndBacklog.Reason, d.Engine.NewToken(), now)
		if err != nil {
			return p, err
		}
		p.Would = []string{BacklogEndedText(statusOf(viewOf(d.Name, dec.Guard, now), dec.Guard))}
	case a.Backfill != nil:
		r := *a.Backfill
		r.Job = a.Job
		var res BackfillResult
		if res, err = d.backfill(ctx, g, r); err == nil {
			p.Would = []string{res.Message}
		}
	case a.Run != nil:
		r := *a.Run
		r.Job = a.Job
		p.Would, err = d.wouldRun(ctx, g, r)
	default:
		return p, errors.New("preview: no act is given")
	}
	return p, err
}

func (d *Direct) wouldRelease(g guard.Guard, r ReleaseRequest, now guard.Millis) ([]string, error) {
	if _, err := guard.ReleaseJob(g, r.Run, r.By, r.Reason, d.Engine.NewToken(), now); err != nil {
		return nil, notHeld(g, now, err)
	}
	say := []string{fmt.Sprintf("run %s of tick %s, which holds the guard of %s since %s, is marked, renews no lease and is stopped",
		g.Run.ID, g.Run.Tick, g.Job, g.Run.At)}
	if g.Spec != nil && g.Spec.Drain() > 0 {
		say = append(say, fmt.Sprintf("its work may go on for up to %s, and the guard stays taken that long", Span(g.Spec.Drain())))
	}
	if w := g.Waiting; w != nil {
		say = append(say, fmt.Sprintf("tick %s, which waits, runs next", w.Tick))
	}
	return say, nil
}

// wouldRun judges a manual run on the guard as it is. What has to be seen to first, such as a
// holder whose lease is over, is said and not guessed.
func (d *Direct) wouldRun(ctx context.Context, g guard.Guard, r RunRequest) ([]string, error) {
	why, err := whyRun(r, g)
	if err != nil {
		return nil, err
	}
	if g.Spec == nil {
		return nil, d.explain(ctx, &engine.ErrUnknownJob{Job: r.Job})
	}
	delivery, err := engine.ManualDelivery(*g.Spec, why, d.Engine.Now())
	if err != nil {
		return nil, err
	}
	delivery.Overlap, delivery.Token = r.Overlap, d.Engine.NewToken()
	switch dec := guard.Deliver(delivery, &g, nil, d.now()); {
	case dec.Verdict == guard.Start:
		return []string{fmt.Sprintf("run %s takes the guard of %s and starts", dec.Row.Run, r.Job)}, nil
	case dec.Verdict == guard.Look:
		return []string{fmt.Sprintf("run %s, which holds the guard and is due to be taken over, is looked at first; what becomes of this run depends on it", g.Run.ID)}, nil
	case dec.Verdict == guard.HandOver:
		return []string{fmt.Sprintf("tick %s, which waits, is started first; what becomes of this run depends on it", g.Waiting.Tick)}, nil
	case dec.Verdict == guard.Duplicate:
		return nil, fmt.Errorf("run %s: another run was asked for in the same millisecond: try again", r.Job)
	case dec.Verdict == guard.Unblock:
		return []string{fmt.Sprintf("the guard of %s, which was made anew, is made ready first; what becomes of this run depends on it", r.Job)}, nil
	default:
		res, err := d.runResult(ctx, dec.Row, false, r.Overlap)
		if err == nil && res.Refused {
			err = refusal("%s", res.Message)
		}
		return []string{res.Message}, err
	}
}
