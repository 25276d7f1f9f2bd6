package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/schedule"
)

// ticksPreview is the document of `cronfence next --json`.
type ticksPreview struct {
	Ticks []time.Time `json:"ticks"` // in UTC
	Notes []string    `json:"notes"`
}

// preview collects the ticks after an instant and what is worth knowing about them.
func preview(s schedule.Schedule, after time.Time, count int) ticksPreview {
	p := ticksPreview{Ticks: []time.Time{}, Notes: []string{}}
	last := after
	for len(p.Ticks) < count {
		tick, ok := s.Next(last)
		if !ok {
			p.Notes = append(p.Notes, fmt.Sprintf("no tick after %s", last.UTC().Format(time.RFC3339)))
			break
		}
		p.Ticks, last = append(p.Ticks, tick), tick
	}
	for _, c := range s.ClockChanges(after, last) {
		p.Notes = append(p.Notes, describe(c, s.Timezone()))
	}
	if note := phase(s); note != "" {
		p.Notes = append(p.Notes, note)
	}
	return p
}

// phase is the note on where the ticks of a rate are counted from.
func phase(s schedule.Schedule) string {
	if !strings.HasPrefix(s.Expression(), "rate(") {
		return ""
	}
	if cron, ok := s.AsCron(); ok {
		return fmt.Sprintf("AWS counts %s from the schedule's start or creation: these ticks are those of %s in UTC, as Cronfence deploys it", s.Expression(), cron.Expression())
	}
	return fmt.Sprintf("AWS counts %s from the schedule's start or creation, which is not known here: these ticks are counted from 1970-01-01T00:00:00Z", s.Expression())
}

// describe is the note on a change of clocks: its local day, and the ticks it drops or moves.
func describe(c schedule.ClockChange, zone string) string {
	way, when, day := "forward", "earlier", c.From
	if c.To.Before(c.From) {
		way, when, day = "back", "later", c.To
	}
	shift := c.To.Sub(c.From).Abs()
	note := fmt.Sprintf("%s in %s: clocks go %s from %s to %s at %s", day.Format("2006-01-02"), zone, way,
		clock(c.From), clockAfter(c), c.At.Format(time.RFC3339))
	if len(c.Dropped) > 0 {
		note += ", which drops " + localTimes(c.Dropped)
	}
	if len(c.Once) > 0 {
		note += ", so these come twice and tick once, before the shift: " + localTimes(c.Once)
	}
	if !c.Moved.IsZero() {
		note += fmt.Sprintf("; the ticks from %s on come %s %s in UTC than the day before", c.Moved.Format(time.RFC3339), shortest(shift), when)
	}
	return note
}

func clock(t time.Time) string { return t.Format("15:04") }

// clockAfter names the day too where the clocks skip to another one.
func clockAfter(c schedule.ClockChange) string {
	if c.From.Truncate(24 * time.Hour).Equal(c.To.Truncate(24 * time.Hour)) {
		return clock(c.To)
	}
	return c.To.Format("2006-01-02 15:04")
}

// localTimes lists the first few.
func localTimes(walls []time.Time) string {
	const few = 4
	var out []string
	for _, w := range walls[:min(few, len(walls))] {
		out = append(out, clock(w))
	}
	if more := len(walls) - few; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

// shortest leaves out a duration's zero parts: 1h, not 1h0m0s.
func shortest(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// write shows the ticks a line each, in UTC and in the zone, and the notes below.
func (p ticksPreview) write(out io.Writer, zone string) error {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return fmt.Errorf("load zone: %w", err)
	}
	screen := screenOf(out)
	var b strings.Builder
	for _, tick := range p.Ticks {
		b.WriteString(tick.Format(time.RFC3339))
		if zone != "UTC" {
			b.WriteString(tick.In(loc).Format("  Mon 2006-01-02 15:04:05 MST"))
		}
		b.WriteString("\n")
	}
	for _, note := range p.Notes {
		b.WriteString(screen.wrap("note: "+note, 2) + "\n")
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("write ticks: %w", err)
	}
	return nil
}
