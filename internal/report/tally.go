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
	oldest     time.Time       // of the ticks taken in
	heldOff    time.Time       // the newest tick that found the job held
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
	n := within(tick, t.week)
	if n > 0 {
		t.this.add(tick, n)
		t.note(tick)
	}
	if n := within(tick, t.week.before()); n > 0 {
		t.last.add(tick, n)
	}
	if n > 0 || tick.At.Before(t.week.From) {
		t.stretches(tick, n)
	}
	if !tick.At.Before(t.week.To) {
		return
	}
	if tick.Kind != guard.Scheduled {
		return
	}
	t.ticks++
	if tick.ranToItsEnd() && tick.Interval > 0 {
		key := tick.At.UTC().Format(time.DateOnly)
		if p, there := t.peaks[key]; !there || tick.ratio() > p.ratio {
			t.peaks[key] = peak{tick.At, tick.ratio(), tick.Interval}
		}
	}
}

// note takes in of a tick of the week what its counts do not tell.
func (t *Tally) note(tick Tick) {
	switch {
	case t.hangs(tick):
		t.this.hanging++
	case tick.Outcome == guard.Skipped && !tick.Paused || tick.Outcome == guard.Coalesced || tick.Outcome == guard.Queued:
		t.heldOff = later(t.heldOff, tick.At)
	}
}

// hangs tells whether a run went on past its interval, as the week ended.
func (t *Tally) hangs(tick Tick) bool {
	return tick.Outcome == guard.Running && tick.Interval > 0 && !tick.At.Add(tick.Interval).After(t.week.To)
}

// stretches looks for times without a success; n is how many of a gap's ticks lie in the week.
func (t *Tally) stretches(tick Tick, n int) {
	switch {
	case t.before:
	case n == 0:
		t.without(t.week.From)
		t.before = true
	case tick.Outcome == guard.Succeeded:
		t.without(tick.At)
		t.success, t.barren = tick.At, 0
	case tick.Kind == guard.Scheduled && (tick.Outcome.Final() || t.hangs(tick)) && !tick.Paused:
		t.barren += n
	}
	if t.oldest = tick.At; !tick.From.IsZero() {
		t.oldest = tick.From
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
	if !t.before { // the record begins in the week
		t.without(later(t.week.From, t.oldest))
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
	slices.SortFunc(peaks, func(a, b peak) int { return b.at.Compare(a.at) })
	l.Trend = trendOf(peaks, t.week.To)
	if stretch := t.stretch; stretch.Seconds > 0 {
		l.WithoutSuccess = &stretch
	}
	l.find(j)
	l.Clean = len(l.Findings) == 0
	l.advise(j)
	l.Text = l.text(j, t.lockedOut(l, j))
	return l
}

// lockedOut tells whether the run that holds the guard keeps the job from succeeding, other than a
// run that has just begun.
func (t *Tally) lockedOut(l Line, j Job) bool {
	return j.Running > 0 && (l.running(j) >= 1 || t.heldOff.After(j.RunningSince))
}

// interval is the job's typical one.
func (l Line) interval() time.Duration {
	if i := l.This.interval(); i > 0 {
		return i
	}
	return l.Last.interval()
}

// running is how much of the job's interval the run that holds the guard has taken.
func (l Line) running(j Job) float64 {
	interval := l.interval()
	if interval == 0 {
		return 0
	}
	return j.Running.Seconds() / interval.Seconds()
}

// find says what of the week needs a look.
func (l *Line) find(j Job) {
	s, running := l.This, l.running(j)
	due := s.Ticks - s.Paused
	found := map[Finding]bool{
		NoSuccess:   s.Succeeded == 0 && (due > s.Open-s.hanging || running >= 1),
		Silent:      s.Ticks == 0 && j.Due > 0 && !j.Paused && running < 1,
		Failures:    s.Failed > 0,
		Misses:      s.Missed > 0,
		Stalled:     l.WithoutSuccess != nil && s.Succeeded > 0,
		Overlaps:    s.overlapping+s.hanging > 0 || running >= 1,
		WillOverlap: l.Trend != nil && l.Trend.FirstOverlap != "" && l.Trend.ahead,
		Skips:       s.Skipped > 0,
		Pause:       j.Paused || s.Paused > 0 && s.Succeeded == 0,
	}
	for _, f := range slices.Backward(bySeverity) {
		if found[f] {
			l.Findings = append(l.Findings, f)
		}
	}
}

func (l Line) has(f Finding) bool { return slices.Contains(l.Findings, f) }
