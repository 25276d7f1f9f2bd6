package sim

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// RunTimes are the run times of ticks past, in the order of the ticks.
type RunTimes []RunTime

// RunTime is how long the run of a tick took.
type RunTime struct {
	Tick time.Time
	Took time.Duration
}

// Past is what is known of ticks past.
type Past struct {
	RunTimes
	First, Last        time.Time // planned ticks, those without a run too
	Schedule, Timezone string    // as the newest line that names one has it

	job  string            // whose they are, where lines say so
	seen map[time.Time]int // the line of each tick that has a run time
}

// ReadPast reads a line a tick: CSV with tick and seconds, with or without a heading, or JSON
// with "tick" and "seconds", or what the history verb writes. A line without a run time, such
// as that of a skipped tick, tells of the tick alone; manual runs and the like, which no
// schedule plans, are passed over.
func ReadPast(r io.Reader) (Past, error) {
	p := Past{seen: map[time.Time]int{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if n == 1 { // Excel's "CSV UTF-8" begins with a byte order mark
			line = strings.TrimPrefix(line, "\ufeff")
		}
		line = strings.TrimSpace(line)
		if line == "" || n == 1 && strings.HasPrefix(strings.ToLower(line), "tick") {
			continue
		}
		if err := p.read(n, line); err != nil {
			return Past{}, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return Past{}, fmt.Errorf("read run times: %w", err)
	}
	if len(p.RunTimes) == 0 {
		return Past{}, fmt.Errorf("no run time in it: must have lines such as 2026-09-07T02:00:00Z,12.5")
	}
	slices.SortStableFunc(p.RunTimes, func(a, b RunTime) int { return a.Tick.Compare(b.Tick) })
	return p, nil
}

// maxLine is far more than a line of the history verb has.
const maxLine = 1 << 20

func (p *Past) read(n int, text string) error {
	l, err := readLine(text)
	if err != nil || l.Kind != "" && l.Kind != string(guard.Scheduled) {
		return err
	}
	at, err := schema.ParseTick(l.Tick)
	if err != nil {
		return err
	}
	if err := p.ofOneJob(l); err != nil {
		return err
	}
	first := at
	if !l.From.IsZero() { // ticks that never came, from one to another
		first = l.From
	}
	if p.First.IsZero() || first.Before(p.First) {
		p.First = first
	}
	if !at.Before(p.Last) {
		p.Last = at
		if l.Schedule != "" {
			p.Schedule, p.Timezone = l.Schedule, l.Timezone
		}
	}
	if took, known := l.took(); known {
		if before, twice := p.seen[at]; twice {
			return fmt.Errorf("tick %s: has a run time in line %d already", l.Tick, before)
		}
		p.seen[at] = n
		p.RunTimes = append(p.RunTimes, RunTime{at, took})
	}
	return nil
}

// ofOneJob refuses lines of two jobs: what another did says nothing of this one.
func (p *Past) ofOneJob(l pastLine) error {
	if l.Job == "" {
		return nil
	}
	job := strings.TrimPrefix(l.Scheduler+"/"+l.Job, "/")
	if p.job != "" && p.job != job {
		return fmt.Errorf("job %s: the lines before are of %s, and must all be of one", job, p.job)
	}
	p.job = job
	return nil
}

// pastLine is what is read of a line.
type pastLine struct {
	Scheduler, Job, Tick, Kind, Schedule, Timezone string

	Seconds, RunTimeSeconds  *float64
	StartedAt, EndedAt, From time.Time
}

// took is a run's time, if there is one. The history verb leaves out one of no seconds.
func (l pastLine) took() (time.Duration, bool) {
	switch {
	case l.Seconds != nil:
		return secondsOf(*l.Seconds), true
	case l.RunTimeSeconds != nil:
		return secondsOf(*l.RunTimeSeconds), true
	}
	return max(0, l.EndedAt.Sub(l.StartedAt)), !l.StartedAt.IsZero() && !l.EndedAt.IsZero()
}

// longestSeconds is more than any execution lasts: a year, and a day of a leap year.
const longestSeconds = 366 * 24 * 60 * 60

// check refuses run times that no run has.
func (l pastLine) check() error {
	for _, s := range []*float64{l.Seconds, l.RunTimeSeconds} {
		if s != nil && !(*s > 0 && *s <= longestSeconds) { // also refuses NaN
			return fmt.Errorf("seconds %v: must be more than 0 and at most %d", *s, longestSeconds)
		}
	}
	return nil
}

func secondsOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func readLine(text string) (l pastLine, err error) {
	if !strings.HasPrefix(text, "{") {
		tick, number, _ := strings.Cut(text, ",")
		seconds, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil {
			return l, fmt.Errorf("%q: must be a tick and its seconds, such as 2026-09-07T02:00:00Z,12.5", text)
		}
		l = pastLine{Tick: strings.TrimSpace(tick), Seconds: &seconds}
		return l, l.check()
	}
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return l, fmt.Errorf("%q: must be a JSON object with tick and seconds: %w", text, err)
	}
	return l, l.check()
}

// Of is the run time of the tick planned at t: its own, else that of the last one before it,
// else the first.
func (r RunTimes) Of(t time.Time) time.Duration {
	i, found := slices.BinarySearchFunc(r, t, func(a RunTime, t time.Time) int { return a.Tick.Compare(t) })
	if !found {
		i = max(0, i-1)
	}
	return r[i].Took
}

// Longest is the longest of them.
func (r RunTimes) Longest() time.Duration {
	longest := time.Duration(0)
	for _, one := range r {
		longest = max(longest, one.Took)
	}
	return longest
}
