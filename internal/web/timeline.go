package web

import (
	"fmt"
	"net/url"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
)

// Where the rows of a timeline are, in pixels from its top.
const (
	ticksY   = 34 // middle of the row of ticks
	runsY    = 52 // top of the first row of runs
	runsStep = 22
	maxLanes = 4
)

// timeline is a job's picture: a row of ticks, rows of runs, the waiting run, the lease.
type timeline struct {
	Label  string
	Class  string // how dense the ticks are
	Height int
	Foot   int // where the regions are named
	Ticks  int // the middle of their row
	Labels []label
	NowX   string

	Marks   []mark // oldest first
	Ahead   []mark
	Spans   []region
	Strikes []strike
	Lease   *region
	LeaseY  int
	Waiting *region
	WaitY   int
	Lanes   []int // the middle of each row of runs
}

// mark is a tick, with its run if it has one.
type mark struct {
	look
	ID, Href  string
	X         string
	Name      string // what a screen reader says of it
	Bar       *bar
	Selected  bool
	Focusable bool // the one that the tab key comes to; the arrow keys go on from there
}

// bar is a run.
type bar struct {
	X, Width, Text string
	Y              int
}

// region is a stretch of time with a meaning.
type region struct {
	Class, X, Width, End, Text string
	Before                     bool // the text stands before it, not behind its end
}

// timelineOf draws a job's record. chosen is the tick that is explained beside it.
func timelineOf(s ops.Status, r record, w window, chosen string) timeline {
	t := timeline{
		Label: fmt.Sprintf("Timeline of %s: the last %s and what comes next", s.Job.Job, w.Name), Ticks: ticksY,
		Labels: w.labels(), NowX: w.x(w.Now), Spans: regionsOf(s.Job, w),
	}
	lanes := t.draw(r, w, chosen)
	t.Class = density(len(t.Marks))
	t.aim()
	for i := range lanes {
		t.Lanes = append(t.Lanes, runsY+i*runsStep+9)
	}
	t.WaitY = runsY + lanes*runsStep
	t.LeaseY = t.WaitY + 4
	if s.Overlap == "queue-one" || s.Overlap == "replace" || s.Waiting != nil { // a row of its own, so that nothing moves
		t.LeaseY += runsStep
	}
	t.Height, t.Foot = t.LeaseY+20, t.LeaseY+16
	for _, at := range ahead(s.Job, w.Now, w.To) {
		id := at.UTC().Format(time.RFC3339)
		m := mark{look: look{Tone: "due", Glyph: "g-due"}, ID: "t-" + id, Href: hrefOf(w, id), X: w.x(at), Name: w.clock(at) + " planned", Selected: id == chosen}
		t.Ahead = append(t.Ahead, m)
	}
	if h := s.Holder; h != nil {
		text := "lease until " + w.clock(h.LeaseUntil)
		class := "lease"
		if h.LeaseOver {
			text, class = "lease ran out "+w.clock(h.LeaseUntil), "lease over"
		}
		t.Lease = &region{
			Class: class, X: w.x(h.Since), Width: w.width(h.Since, h.LeaseUntil), End: w.x(h.LeaseUntil), Text: text, Before: w.place(h.Since) > 0.4,
		}
	}
	if q := s.Waiting; q != nil {
		t.Waiting = &region{
			X: w.x(q.Since), Width: w.width(q.Since, w.Now), End: w.x(w.Now), Text: "waits for " + brief(w.Now.Sub(q.Since)), Before: w.place(q.Since) > 0.4,
		}
	}
	return t
}

// density is how small the shapes must be not to lie on each other: how small that is depends
// on the width of the screen.
func density(marks int) string {
	switch {
	case marks > 200:
		return "crowded"
	case marks > 80:
		return "dense"
	case marks > 25:
		return "close"
	}
	return "loose"
}

// draw makes the marks and says how many rows their runs take.
func (t *timeline) draw(r record, w window, chosen string) (lanes int) {
	var ends []time.Time
	for _, e := range r.oldestFirst() {
		m := mark{look: lookOf(e.Outcome), ID: "t-" + e.Tick, Href: hrefOf(w, e.Tick), X: w.x(e.At), Name: nameOf(e, w), Selected: e.Tick == chosen}
		if e.Run != "" {
			from, to := begin(e), end(e, w.Now)
			lane := laneFor(&ends, from, to)
			m.Bar = &bar{X: w.x(from), Width: w.width(from, to), Y: runsY + lane*runsStep}
			if w.place(to)-w.place(from) > 0.045 {
				m.Bar.Text = brief(to.Sub(from))
			}
		}
		t.Marks = append(t.Marks, m)
	}
	return max(1, len(ends))
}

// aim chooses the mark that the tab key comes to: the one explained, else the newest.
func (t *timeline) aim() {
	at := len(t.Marks) - 1
	for i, m := range t.Marks {
		if m.Selected {
			at = i
		}
	}
	if at >= 0 {
		t.Marks[at].Focusable = true
	}
}

// laneFor finds a row in which a run has room. Runs of one job seldom need more than one.
func laneFor(ends *[]time.Time, from, to time.Time) int {
	for i, e := range *ends {
		if !from.Before(e) {
			(*ends)[i] = to
			return i
		}
	}
	if len(*ends) < maxLanes {
		*ends = append(*ends, to)
		return len(*ends) - 1
	}
	return maxLanes - 1
}

// regionsOf are what lies behind everything else: a pause, a drain.
func regionsOf(j ops.Job, w window) []region {
	var all []region
	if p := j.Paused; p != nil {
		until := p.Until
		if until.IsZero() {
			until = w.To
		}
		all = append(all, region{Class: "paused", X: w.x(p.Since), Width: w.width(p.Since, until), Text: "paused"})
	}
	if !j.DrainUntil.IsZero() {
		all = append(all, region{Class: "drain", X: w.x(w.Now), Width: w.width(w.Now, j.DrainUntil), Text: "draining"})
	}
	return all
}

// nameOf says what a person who sees the drawing sees.
func nameOf(e ops.Entry, w window) string {
	text := w.clock(e.At) + " " + string(e.Outcome)
	if e.Kind != guard.Scheduled {
		text = string(e.Kind) + " " + text
	}
	if e.Count > 1 {
		text = fmt.Sprintf("%d ticks until %s", e.Count, text)
	}
	if e.Run != "" {
		text += " " + brief(end(e, w.Now).Sub(begin(e)))
	}
	if why := e.Reason(); why != "" {
		text += ": " + why
	}
	return text
}

// hrefOf is where a tick is explained: on the page it stands on.
func hrefOf(w window, tick string) string {
	return "?" + url.Values{"window": {w.Name}, "why": {tick}}.Encode()
}
