package web

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
)

// maxRecent is how many ticks the table lists.
const maxRecent = 20

// jobView is one job.
type jobView struct {
	ops.Status
	StateText, Tone string
	Window          window
	Spans           []choice
	Timeline        timeline
	Chart           chart
	Counts          []counted
	Total           int
	Facts           []fact
	Recent          []line
	Why             *explained
	More            bool
	Path            string // of the job in the HTTP interface
	Key             []keyed
	Faults          *faultsView // nil where nothing can be let go wrong
}

// fact is something that is so now.
type fact struct{ Name, Value, Note string }

// line is a tick in the table.
type line struct {
	look
	ops.Entry
	When, RunTime, Ratio, Text, Href string
	Selected                         bool
}

// keyed is an outcome in the key to the drawing.
type keyed struct {
	look
	Outcome guard.Outcome
}

// explained is why a tick did what it did.
type explained struct {
	Tick      string
	Sentences []string
	Lines     []ops.LogLine // of its run, the last of them
	Close     string
}

func (p *Page) job(ctx context.Context, scheduler, job string, q url.Values, anew bool) (jobView, error) {
	op := p.Operators[scheduler]
	s, err := p.statuses.get(scheduler+"/"+job, anew, func() (ops.Status, error) { return op.Status(ctx, job) })
	if err != nil {
		return jobView{}, err
	}
	now := p.Now()
	w := windowAt(spanNamed(q.Get("window"), intervalOf(s.Job, now)), now)
	r, err := p.record(ctx, s.Job, w, anew)
	if err != nil {
		return jobView{}, err
	}
	v := jobView{
		Status: s, StateText: s.StateText(), Tone: toneOf(s.Job), Window: w, Counts: r.count(w), Facts: factsOf(s, w), More: r.More,
		Chart: chartOf(s.Job, r, w), Path: "/api/v1/schedulers/" + url.PathEscape(scheduler) + "/jobs/" + url.PathEscape(job), Key: key(),
	}
	for _, c := range v.Counts {
		v.Total += c.Count
	}
	for _, sp := range spans {
		v.Spans = append(v.Spans, choice{Text: sp.Name, Href: "?" + url.Values{"window": {sp.Name}}.Encode(), Chosen: sp == w.span})
	}
	chosen := ""
	if asked := q.Get("why"); asked != "" {
		if v.Why, err = explain(ctx, op, job, asked, w); err != nil {
			return v, err
		}
		if p.Lines {
			v.Why.Lines = linesOf(ctx, op, job, v.Why.Tick)
		}
		chosen = v.Why.Tick
	}
	v.Timeline = timelineOf(s, r, w, chosen)
	if p.Faults != nil {
		entries := p.Faults.Entries()
		v.Faults, v.Timeline.Strikes = faultsOf(entries, job, w), strikesOf(entries, job, w)
	}
	for _, e := range r.Entries[:min(len(r.Entries), maxRecent)] {
		v.Recent = append(v.Recent, lineOf(e, w, chosen))
	}
	return v, nil
}

// explain has a tick explained. What is no tick is said to be none.
func explain(ctx context.Context, op ops.Operator, job, asked string, w window) (*explained, error) {
	x := &explained{Tick: asked, Close: "?" + url.Values{"window": {w.Name}}.Encode()}
	tick, err := ops.ParseTick(asked)
	if err != nil {
		x.Sentences = []string{err.Error()}
		return x, nil
	}
	found, err := op.Why(ctx, job, tick)
	x.Tick, x.Sentences = tick, found.Sentences
	return x, err
}

// maxLines is how many of a run's lines are shown: the last ones, which tell how it ended.
const maxLines = 10

// linesOf are the last lines of a tick's run; none where it had no run.
func linesOf(ctx context.Context, op ops.Operator, job, tick string) []ops.LogLine {
	l, err := op.Logs(ctx, ops.LogQuery{Job: job, Tick: tick})
	if err != nil {
		return nil
	}
	return l.Lines[max(0, len(l.Lines)-maxLines):]
}

func lineOf(e ops.Entry, w window, chosen string) line {
	l := line{look: lookOf(e.Outcome), Entry: e, When: w.clock(e.At), Href: hrefOf(w, e.Tick), Text: e.Reason(), Selected: e.Tick == chosen}
	if e.Kind != guard.Scheduled {
		l.When += " " + string(e.Kind)
	}
	if e.Run != "" {
		l.RunTime = brief(end(e, w.Now).Sub(begin(e)))
	}
	if ratio := ratioOf(e, w.Now); ratio > 0 {
		l.Ratio = fmt.Sprintf("%.2f", ratio)
	}
	if e.By != "" {
		l.Text = strings.TrimSuffix(e.By+"; "+l.Text, "; ")
	}
	return l
}

// factsOf are what holds of a job now, the guard first.
func factsOf(s ops.Status, w window) []fact {
	var all []fact
	add := func(name, value, note string) { all = append(all, fact{name, value, note}) }
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			add(name, w.clock(t), w.ago(t))
		}
	}
	if h := s.Holder; h != nil {
		add("Holder", h.Run, "tick "+h.Tick)
		add("Fence", fmt.Sprint(h.Fence), "")
		at("Held since", h.Since)
		at("Lease until", h.LeaseUntil)
		at("Must end by", h.MaxRunUntil)
		at("Asked to end by", h.StopDeadline)
		if m := h.Mark; m != nil {
			add("Stopping", m.Why+" by "+m.By, w.ago(m.At))
		}
	} else {
		add("Holder", "none", "")
		add("Last fence", fmt.Sprint(s.Fence), "")
	}
	if q := s.Waiting; q != nil {
		add("Waiting", q.Tick, q.Why)
		at("Waits until", q.Deadline)
	}
	if s.State == ops.Draining {
		add("Draining until", w.clock(s.DrainUntil), "work of the last run may go on")
	}
	if s.State == ops.Blocked {
		add("Blocked until", w.clock(s.ReadyAt), "the guard was made anew")
	}
	if b := s.Backlog; b != nil {
		add("Backlog", fmt.Sprintf("%s, at most %d more", b.Kind, b.Left), w.clock(b.Next)+" to "+w.clock(b.To))
	}
	if p := s.Paused; p != nil {
		until := "until somebody resumes it"
		if !p.Until.IsZero() {
			until = "until " + w.clock(p.Until)
		}
		add("Paused", p.Why, "by "+p.By+", "+w.ago(p.Since)+", "+until)
	}
	at("Next tick", s.NextTick)
	at("Last success", s.LastSuccessAt)
	return all
}

// key is the outcomes with their shapes, each shape once for those that share it.
func key() []keyed {
	var all []keyed
	for _, o := range ops.Outcomes {
		all = append(all, keyed{lookOf(o), o})
	}
	return all
}

// Lease is how long a run is trusted after its last beat.
func (v jobView) Lease() string { return ops.Span(time.Duration(v.LeaseSeconds) * time.Second) }

// MaxRun is how long a run may take.
func (v jobView) MaxRun() string { return ops.Span(time.Duration(v.MaxRunSeconds) * time.Second) }
