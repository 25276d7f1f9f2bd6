package web

import (
	"fmt"
	"strconv"
	"time"
)

// span is a length of time that can be chosen to be shown.
type span struct {
	Name   string
	Length time.Duration
}

var spans = []span{
	{"15m", 15 * time.Minute},
	{"1h", time.Hour},
	{"6h", 6 * time.Hour},
	{"24h", 24 * time.Hour},
	{"7d", 7 * 24 * time.Hour},
	{"30d", 30 * 24 * time.Hour},
}

// spanNamed is the one that was asked for, else the shortest in which a job with this interval
// has a good many ticks.
func spanNamed(name string, interval time.Duration) span {
	const many = 20
	chosen := spans[len(spans)-1]
	for i := len(spans) - 1; i >= 0; i-- {
		if spans[i].Name == name {
			return spans[i]
		}
		if spans[i].Length >= many*interval {
			chosen = spans[i]
		}
	}
	return chosen
}

// window is the stretch of time that is drawn: the span up to now, and a little of what is to
// come.
type window struct {
	span
	From, Now, To time.Time
}

func windowAt(s span, now time.Time) window {
	return window{span: s, From: now.Add(-s.Length), Now: now, To: now.Add(s.Length / 7)}
}

// place is where an instant lies, from 0 to 1. What lies outside is put at the border.
func (w window) place(t time.Time) float64 {
	return min(1, max(0, float64(t.Sub(w.From))/float64(w.To.Sub(w.From))))
}

// x is the place as a drawing has it: a percentage, so that it fits every width.
func (w window) x(t time.Time) string { return percent(w.place(t)) }

// width is the distance of two instants, never so little that it cannot be seen.
func (w window) width(from, to time.Time) string {
	return percent(max(0.002, w.place(to)-w.place(from)))
}

func percent(f float64) string { return strconv.FormatFloat(100*f, 'f', 2, 64) + "%" }

// label is a mark on the axis.
type label struct {
	X, Text string
	Minor   bool // left out where there is little room
}

var steps = []time.Duration{
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 5 * 24 * time.Hour,
}

// labels are round instants, in UTC as every time on the page.
func (w window) labels() []label {
	const most = 9
	step := steps[len(steps)-1]
	for i := len(steps) - 1; i >= 0 && w.To.Sub(w.From)/steps[i] <= most; i-- {
		step = steps[i]
	}
	layout := "15:04"
	if step >= 24*time.Hour {
		layout = "2 Jan"
	} else if w.Length > 24*time.Hour {
		layout = "Mon 15:04"
	}
	var all []label
	for t := w.From.UTC().Truncate(step).Add(step); t.Before(w.To); t = t.Add(step) {
		if p := w.place(t); p < 0.02 || p > 0.97 {
			continue
		}
		all = append(all, label{X: w.x(t), Text: t.Format(layout), Minor: (t.Unix()/int64(step.Seconds()))%2 != 0})
	}
	return all
}

// clock writes an instant as briefly as the window allows.
func (w window) clock(t time.Time) string {
	if w.Length > 24*time.Hour {
		return t.UTC().Format("2 Jan 15:04:05")
	}
	return t.UTC().Format("15:04:05")
}

// ago says how long before the window's now an instant was, or how long after.
func (w window) ago(t time.Time) string {
	if d := w.Now.Sub(t); d < 0 {
		return "in " + brief(-d)
	}
	return brief(w.Now.Sub(t)) + " ago"
}

// brief writes a duration with its two greatest parts at most.
func brief(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}
