package report

import (
	"slices"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
)

// How far back a trend is looked for: two weeks or, of a job with few ticks, so many of them
// as the ledger keeps.
const (
	trendDays  = 14
	ledgerDays = 90
)

// Tally takes in a job's ticks, newest first, until it has enough of them. What it keeps is
// bounded by the ticks of two weeks: no job ticks more often than every minute.
type Tally struct {
	week       Week
	this, last Stats
	peaks      map[string]peak // by day
	ticks      int             // planned ones of the trend's time
	success    time.Time       // the planned instant of the success that was seen last: going back, the next one in time
	barren     int             // planned ticks since then that came to something else
	stretch    Stretch
	before     bool // the week's beginning was passed
}

// NewTally begins a job's tally.
func NewTally(w Week) *Tally {
	return &Tally{week: w, peaks: map[string]peak{}, success: w.To}
}

// Since is the earliest instant whose ticks the tally takes in.
func (t *Tally) Since() time.Time { return t.week.To.Add(-ledgerDays * day) }

// Enough tells whether a tick planned at an instant, and all older ones, would add nothing.
func (t *Tally) Enough(at time.Time) bool {
	return at.Before(t.week.To.Add(-trendDays*day)) && (t.ticks >= trendDays || at.Before(t.Since()))
}

// Add takes a tick in, which is no newer than the one before.
func (t *Tally) Add(tick Tick) {
	last := t.week.before()
	if n := within(tick, t.week); n > 0 {
		t.this.add(tick, n)
	}
	if n := within(tick, last); n > 0 {
		t.last.add(tick, n)
	}
	if !tick.At.Before(t.week.To) {
		return
	}
	t.stretches(tick)
	if tick.Kind != guard.Scheduled {
		return
	}
	t.ticks++
	if tick.ranToItsEnd() && tick.Interval > 0 {
		key := tick.At.UTC().Format(time.DateOnly)
		if p, there := t.peaks[key]; !there || tick.ratio() > p.ratio {
			t.peaks[key] = peak{tick.At, tick.ratio()}
		}
	}
}

// stretches looks for times without a success.
func (t *Tally) stretches(tick Tick) {
	switch {
	case t.before:
	case tick.At.Before(t.week.From):
		t.without(t.week.From)
		t.before = true
	case tick.Outcome == guard.Succeeded:
		t.without(tick.At)
		t.success, t.barren = tick.At, 0
	case tick.Kind == guard.Scheduled && tick.Outcome.Final() && !tick.Paused:
		t.barren += tick.Count
	}
}

// barrenTicks are how many ticks in a row without a success are a stretch.
const barrenTicks = 4

func (t *Tally) without(from time.Time) {
	if s := t.success.Sub(from).Seconds(); t.barren >= barrenTicks && s > t.stretch.Seconds {
		t.stretch = Stretch{from, t.success, s}
	}
}

// within is how many of the ticks lie in a week: of a gap that reaches out of it its share by
// time.
func within(t Tick, w Week) int {
	if t.From.IsZero() || !t.From.Before(t.At) {
		if !w.holds(t.At) {
			return 0
		}
		return t.Count
	}
	from, to := later(t.From, w.From), earlier(t.At, w.To.Add(-time.Second))
	if to.Before(from) {
		return 0
	}
	share := to.Sub(from).Seconds() / t.At.Sub(t.From).Seconds()
	return 1 + int(share*float64(t.Count-1))
}

// Line closes the tally.
func (t *Tally) Line(j Job) Line {
	if !t.before {
		t.without(t.week.From)
	}
	t.this.close()
	t.last.close()
	l := Line{Job: j.Name, This: t.this, Last: t.last, Advice: []Advice{}, Findings: []Finding{}}
	peaks := make([]peak, 0, len(t.peaks))
	for _, p := range t.peaks {
		if len(t.peaks) <= trendDays || !p.at.Before(t.week.To.Add(-trendDays*day)) {
			peaks = append(peaks, p)
		}
	}
	l.Trend = trendOf(peaks, t.week.To)
	if stretch := t.stretch; stretch.Seconds > 0 {
		l.WithoutSuccess = &stretch
	}
	l.find(j)
	l.Clean = len(l.Findings) == 0
	l.advise(j)
	l.Text = l.text(j)
	return l
}

// interval is the job's typical one.
func (l Line) interval() time.Duration {
	if i := l.This.interval(); i > 0 {
		return i
	}
	return l.Last.interval()
}

// find says what of the week needs a look.
func (l *Line) find(j Job) {
	s := l.This
	running := 0.0
	if interval := l.interval(); interval > 0 {
		running = j.Running.Seconds() / interval.Seconds()
	}
	due := s.Ticks - s.Paused
	found := map[Finding]bool{
		NoSuccess:   s.Succeeded == 0 && (due > 0 && due > s.Open || running >= 1),
		Silent:      s.Ticks == 0 && l.Last.Ticks > 1 && j.Ticks && !j.Paused,
		Failures:    s.Failed > 0,
		Misses:      s.Missed > 0,
		Stalled:     l.WithoutSuccess != nil && s.Succeeded > 0,
		Overlaps:    s.MaxRatio >= 1 || running >= 1,
		WillOverlap: s.MaxRatio < 1 && running < 1 && l.Trend != nil && l.Trend.FirstOverlap != "",
		Skips:       s.Skipped > 0,
		Pause:       j.Paused,
	}
	for _, f := range slices.Backward(bySeverity) {
		if found[f] {
			l.Findings = append(l.Findings, f)
		}
	}
}

func (l Line) has(f Finding) bool { return slices.Contains(l.Findings, f) }
