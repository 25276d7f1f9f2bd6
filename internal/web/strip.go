package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
)

// A strip is drawn on a grid of its own that is stretched to the width there is: one path for
// all runs or ticks of a tone, so that a list of many jobs stays light.
const (
	stripWidth   = 1000
	stripHeight  = 36
	stripTicks   = 1 // top of the ticks
	stripRuns    = 13
	stripRunsEnd = 26
	stripWaiting = 28
	stripLease   = 32
)

// strip is a job's timeline in a line.
type strip struct {
	Height  int
	Paths   []stripPath
	NowX    string
	Regions []stripRegion
}

type stripPath struct{ Class, D string }

type stripRegion struct {
	Class       string
	X, Width    string
	Top, Height int
}

func stripOf(j ops.Job, r record, w window) strip {
	s := strip{Height: stripHeight, NowX: grid(w, w.Now)}
	paths := map[string]*strings.Builder{}
	var order []string
	path := func(class string) *strings.Builder {
		if paths[class] == nil {
			paths[class] = &strings.Builder{}
			order = append(order, class)
		}
		return paths[class]
	}
	for _, e := range r.oldestFirst() {
		tone := lookOf(e.Outcome).Tone
		length := 9
		if tone == "calm" && e.Run == "" { // it started nothing
			length = 5
		}
		fmt.Fprintf(path("tick "+tone), "M%s %dv%d", grid(w, e.At), stripTicks, length)
		if e.Run != "" {
			from, to := begin(e), end(e, w.Now)
			fmt.Fprintf(path("run "+tone), "M%s %dH%sV%dH%sz", grid(w, from), stripRuns, grid(w, later(w, from, to)), stripRunsEnd, grid(w, from))
		}
	}
	for _, at := range ahead(j, w.Now, w.To) {
		fmt.Fprintf(path("tick due"), "M%s %dv5", grid(w, at), stripTicks)
	}
	for _, class := range order {
		s.Paths = append(s.Paths, stripPath{class, paths[class].String()})
	}
	s.Regions = stripRegions(j, w)
	return s
}

func stripRegions(j ops.Job, w window) []stripRegion {
	var all []stripRegion
	add := func(class string, from, to time.Time, top, height int) {
		all = append(all, stripRegion{class, grid(w, from), fmt.Sprintf("%.1f", stripWidth*max(0.002, w.place(to)-w.place(from))), top, height})
	}
	if p := j.Paused; p != nil {
		until := p.Until
		if until.IsZero() {
			until = w.To
		}
		add("paused", p.Since, until, 0, stripHeight)
	}
	if !j.DrainUntil.IsZero() {
		add("drain", w.Now, j.DrainUntil, stripRuns, stripRunsEnd-stripRuns)
	}
	if h := j.Holder; h != nil {
		class := "lease"
		if h.LeaseOver {
			class = "lease over"
		}
		add(class, h.Since, h.LeaseUntil, stripLease, 3)
	}
	if q := j.Waiting; q != nil {
		add("waiting", q.Since, w.Now, stripWaiting, 3)
	}
	return all
}

// later is the end of a bar, no nearer to its begin than can be seen.
func later(w window, from, to time.Time) time.Time {
	if least := from.Add(w.To.Sub(w.From) / 500); to.Before(least) {
		return least
	}
	return to
}

func grid(w window, t time.Time) string { return fmt.Sprintf("%.1f", stripWidth*w.place(t)) }
