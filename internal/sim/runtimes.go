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

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// RunTimes are the run times of ticks past, in the order of the ticks.
type RunTimes []RunTime

// RunTime is how long the run of a tick took.
type RunTime struct {
	Tick time.Time
	Took time.Duration
}

// ReadRunTimes reads a line a tick: CSV with tick and seconds, with or without a heading, or
// JSON with "tick" and "seconds", or "runTimeSeconds" as the history verb writes it. A JSON
// line without a run time, such as that of a skipped tick, is passed over.
func ReadRunTimes(r io.Reader) (RunTimes, error) {
	var all RunTimes
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || n == 1 && strings.HasPrefix(strings.ToLower(line), "tick") {
			continue
		}
		tick, seconds, err := readLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if seconds < 0 {
			continue
		}
		at, err := schema.ParseTick(tick)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		all = append(all, RunTime{at, time.Duration(seconds * float64(time.Second))})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read run times: %w", err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no run time in it: must have lines such as 2026-09-07T02:00:00Z,12.5")
	}
	slices.SortStableFunc(all, func(a, b RunTime) int { return a.Tick.Compare(b.Tick) })
	return all, nil
}

// noRunTime stands for a line that tells of no run.
const noRunTime = -1

func readLine(line string) (tick string, seconds float64, err error) {
	if !strings.HasPrefix(line, "{") {
		tick, text, _ := strings.Cut(line, ",")
		seconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || seconds < 0 {
			return "", 0, fmt.Errorf("%q: must be a tick and its seconds, such as 2026-09-07T02:00:00Z,12.5", line)
		}
		return strings.TrimSpace(tick), seconds, nil
	}
	var row struct {
		Tick           string   `json:"tick"`
		Seconds        *float64 `json:"seconds"`
		RunTimeSeconds *float64 `json:"runTimeSeconds"`
	}
	if err := json.Unmarshal([]byte(line), &row); err != nil {
		return "", 0, fmt.Errorf("%q: must be a JSON object with tick and seconds: %w", line, err)
	}
	if row.Seconds == nil {
		row.Seconds = row.RunTimeSeconds
	}
	switch {
	case row.Seconds == nil:
		return row.Tick, noRunTime, nil
	case *row.Seconds < 0:
		return "", 0, fmt.Errorf("%q: seconds must not be negative", line)
	}
	return row.Tick, *row.Seconds, nil
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
