package report

import (
	"fmt"
	"strings"
	"time"
)

// text is the whole line for people.
func (l Line) text(j Job, lockedOut bool) string {
	parts := []string{l.runsText(j), l.ticksText()}
	if s := l.WithoutSuccess; s != nil && l.This.Succeeded > 0 {
		parts = append(parts, fmt.Sprintf("no success for %s from %s", span(s.Seconds), s.From.UTC().Format(minute)))
	}
	text := l.Job + ": " + strings.Join(parts, "; ") + "."
	for _, sentence := range []string{l.stateText(j, lockedOut), l.trendText(j)} {
		if sentence != "" {
			text += " " + sentence
		}
	}
	for _, a := range l.Advice {
		text += " " + strings.ToUpper(a.Do[:1]) + a.Do[1:] + ": " + a.Why + "."
	}
	return text
}

const minute = "2006-01-02 15:04Z"

func (l Line) runsText(j Job) string {
	s := l.This
	text := "no run ended"
	if s.Runs > 0 {
		text = fmt.Sprintf("longest run %s (week before %s), median %s, 95 %% %s", span(s.LongestSeconds),
			spanOr(l.Last.LongestSeconds, "none"), span(s.MedianSeconds), span(s.P95Seconds))
		if s.MaxRatio > 0 {
			text += fmt.Sprintf(", up to %.2f of the interval", s.MaxRatio)
		}
	} else if l.Last.Runs > 0 {
		text += fmt.Sprintf(" (week before: longest %s)", span(l.Last.LongestSeconds))
	}
	if took := j.Running.Seconds(); took > s.LongestSeconds {
		text += fmt.Sprintf(", one still going after %s", span(took))
	}
	return text
}

func (l Line) ticksText() string {
	s := l.This
	text := count(s.Ticks, "tick")
	if s.Unplanned > 0 {
		text += " and " + count(s.Unplanned, "unplanned run")
	}
	var parts []string
	for _, c := range []struct {
		n      int
		what   string
		always bool
	}{
		{s.Succeeded, "succeeded", true},
		{s.Failed, "failed", true},
		{s.Skipped, "skipped", true},
		{s.Missed, "missed", true},
		{s.Paused, "skipped while paused", false},
		{s.Coalesced, "coalesced", false},
		{s.Replaced, "replaced", false},
		{s.Open, "open", false},
	} {
		if c.n > 0 || c.always {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return text + ": " + strings.Join(parts, ", ")
}

func (l Line) stateText(j Job, lockedOut bool) string {
	var say []string
	since := ""
	if !j.LastSuccess.IsZero() {
		since = ", the last success was " + j.LastSuccess.UTC().Format(minute)
	}
	switch {
	case l.has(NoSuccess) && lockedOut:
		say = append(say, fmt.Sprintf("LOCKED OUT: a run holds the guard since %s%s.", j.RunningSince.UTC().Format(minute), since))
	case l.has(NoSuccess):
		say = append(say, fmt.Sprintf("NO SUCCESS: no run succeeded%s.", since))
	case l.has(Silent):
		say = append(say, fmt.Sprintf("SILENT: nothing of it is on record%s.", since))
	}
	switch {
	case j.Paused:
		say = append(say, "It is paused.")
	case l.has(Pause):
		say = append(say, "It was paused, and no run succeeded.")
	}
	return strings.Join(say, " ")
}

func (l Line) trendText(j Job) string {
	var say []string
	n := l.This.overlapping + l.This.hanging
	if l.This.hanging == 0 && l.running(j) >= 1 {
		n++
	}
	switch {
	case n == 1:
		say = append(say, "A run overlaps the next tick already.")
	case n > 1:
		say = append(say, "Runs overlap the next tick already.")
	}
	switch {
	case l.has(WillOverlap) && n == 0:
		say = append(say, fmt.Sprintf("Ratio %+.3f a day: if that goes on, it first overlaps itself on %s.", l.Trend.RatioPerDay, l.Trend.FirstOverlap))
	case l.has(WillOverlap):
		say = append(say, fmt.Sprintf("Ratio %+.3f a day: if that goes on, every day has such runs from %s on.", l.Trend.RatioPerDay, l.Trend.FirstOverlap))
	}
	return strings.Join(say, " ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func spanOr(seconds float64, none string) string {
	if seconds == 0 {
		return none
	}
	return span(seconds)
}

// span writes a length of time, to the second from one minute on.
func span(seconds float64) string {
	d := secondsOf(seconds)
	if d < time.Minute {
		return d.Round(100 * time.Millisecond).String()
	}
	return short(d.Round(time.Second))
}

// short leaves zero minutes and seconds out: 1h, 15m, 2m50s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
