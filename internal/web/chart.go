package web

import (
	"fmt"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
)

// Height of the chart's plot in pixels, and the ratio at which the job is warned of.
const (
	plotTop    = 8
	plotBottom = 104
	notice     = 0.8
)

// chart is run time against the job's own interval over time.
type chart struct {
	Label  string
	Bottom int
	Points []point
	One    int // where run time is as long as the interval
	Notice int
	Top    string // the value at the top
	Labels []label
	NowX   string
	Empty  bool
	Says   string // what the drawing comes to
}

// point is one run.
type point struct {
	look
	X    string
	Y    int
	Name string
	Open bool // it goes on
}

// OneText is where the line at one interval is named: above it, or below where it is high.
func (c chart) OneText() int {
	if c.One < plotTop+12 {
		return c.One + 11
	}
	return c.One - 3
}

func chartOf(j ops.Job, r record, w window) chart {
	c := chart{Label: "Run time against interval", Bottom: plotBottom, Labels: w.labels(), NowX: w.x(w.Now)}
	greatest, longest, runs := 0.0, 0.0, 0
	for _, e := range r.Entries {
		ratio := ratioOf(e, w.Now)
		greatest = max(greatest, ratio)
		if e.Ratio > 0 {
			runs, longest = runs+1, max(longest, e.RunTimeSeconds)
		}
	}
	top := max(1.2, 1.1*greatest)
	y := func(ratio float64) int { return plotBottom - int(float64(plotBottom-plotTop)*ratio/top) }
	c.One, c.Notice, c.Top = y(1), y(notice), fmt.Sprintf("%.1f", top)
	for _, e := range r.oldestFirst() {
		ratio := ratioOf(e, w.Now)
		if ratio == 0 || e.At.Before(w.From) {
			continue
		}
		at := end(e, w.Now)
		c.Points = append(c.Points, point{
			look: lookOf(e.Outcome), X: w.x(at), Y: y(ratio), Open: !e.Final,
			Name: fmt.Sprintf("%s %s %s, %.2f of the interval", w.clock(e.At), e.Outcome, brief(at.Sub(begin(e))), ratio),
		})
	}
	c.Empty = len(c.Points) == 0
	if c.Says = "No run has ended in this window."; runs > 0 {
		c.Says = fmt.Sprintf("%s, the longest %s: %.2f of its interval.", plural(runs, "run"), ops.Span(time.Duration(longest*float64(time.Second))), greatest)
	}
	if every := intervalOf(j, w.Now); every > 0 {
		c.Label = fmt.Sprintf("Run time against the interval of %s", ops.Span(every))
	}
	return c
}

// ratioOf is an ended run's ratio, that of a run which goes on so far, or 0.
func ratioOf(e ops.Entry, now time.Time) float64 {
	if e.Final || e.Run == "" || e.IntervalSeconds == 0 {
		return e.Ratio
	}
	return now.Sub(begin(e)).Seconds() / float64(e.IntervalSeconds)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
