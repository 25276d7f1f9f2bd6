package ops

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job/notes"
)

// Known says what is known of a tick.
type Known string

// What can be known of a tick.
const (
	Recorded     Known = "recorded"      // it has a row in the ledger
	Missed       Known = "missed"        // it lies in a gap
	Planned      Known = "planned"       // its time is yet to come
	Pending      Known = "pending"       // its time has come, it may still be delivered
	BeforeRecord Known = "before-record" // the record of the job's schedule began after it
	Unscheduled  Known = "unscheduled"   // the job's schedule plans no such tick
	NoRecord     Known = "no-record"     // it must have been recorded, and no row is left
)

// Explanation says in sentences what became of a tick.
type Explanation struct {
	Scheduler string   `json:"scheduler"`
	Job       string   `json:"job"`
	Tick      string   `json:"tick"`
	Known     Known    `json:"known"`
	Sentences []string `json:"sentences"`
	Entry     *Entry   `json:"entry,omitempty"` // of a recorded or missed tick
	// Notes are what the tick's runs noted of their progress, by name.
	Notes []notes.Note `json:"notes,omitempty"`
}

// ParseTickOf reads a job's tick as [ParseTick] does, or from the id of one of its runs, which is
// what logs and consoles show.
func ParseTickOf(job, s string) (string, error) {
	if tick, ok := tickOfRun(job, s); ok {
		return tick, nil
	}
	return ParseTick(s)
}

// tickOfRun is the way back from [schema.RunID], which leaves out the tick's dashes and colons.
func tickOfRun(job, run string) (string, bool) {
	stem, number, _ := strings.Cut(strings.TrimPrefix(run, job+"-"), "-")
	attempt, err := strconv.Atoi(number)
	digits := strings.IndexAny(stem, "0123456789")
	if err != nil || digits < 0 || len(stem)-digits < len("20060102T150405Z") {
		return "", false
	}
	d := stem[digits:]
	tick := d[:4] + "-" + d[4:6] + "-" + d[6:11] + ":" + d[11:13] + ":" + d[13:]
	if first, again, _ := strings.Cut(tick, "Z"); again != "" { // of a backfill that was asked for again
		tick = first + "Z-" + again
	}
	for _, kind := range []guard.Kind{guard.Manual, guard.Backfill, guard.CatchUp} {
		if stem[:digits] == string(kind) {
			tick = string(kind) + "-" + tick
		}
	}
	_, at := guard.KindOf(tick)
	return tick, at != 0 && schema.RunID(job, tick, attempt) == run
}

// ParseTick reads the id of a tick as a person writes it: an instant in any zone, or the id
// of a manual run, a backfill or a catch-up. It returns the id as the ledger has it.
func ParseTick(s string) (string, error) {
	kind, at := guard.KindOf(s)
	if kind != guard.Scheduled {
		if at == 0 {
			return "", fmt.Errorf("tick %q: must be %s- and an instant, as `cronfence history` shows it", s, kind)
		}
		return s, nil
	}
	t, err := schema.ParseTick(s)
	if err != nil {
		return "", err
	}
	if t.Nanosecond() != 0 {
		return "", fmt.Errorf("tick %q: must be to the second, as ticks are planned", s)
	}
	return schema.TickID(t), nil
}

// Why implements Operator. What others wrote - causes, reasons, notes - is made printable.
func (d *Direct) Why(ctx context.Context, job, tick string) (Explanation, error) {
	x, err := d.why(ctx, job, tick)
	for i := range x.Sentences {
		x.Sentences[i] = Printable(x.Sentences[i])
	}
	return x, err
}

func (d *Direct) why(ctx context.Context, job, tick string) (Explanation, error) {
	x := Explanation{Scheduler: d.Name, Job: job, Tick: tick, Known: Recorded}
	noted, stop := d.readNotes(ctx, job, tick)
	defer stop()
	g, err := d.guardOf(ctx, job)
	if err != nil {
		return x, err
	}
	row, err := d.Engine.Store.Row(ctx, job, tick)
	if err != nil {
		return x, fmt.Errorf("read tick %s of %s: %w", tick, job, err)
	}
	if row != nil {
		e := entryOf(d.Name, *row)
		x.Entry = &e
		s := story{row: *row, guard: g, now: d.now()}
		if row.Holder != nil && row.Holder.Tick != "" {
			if s.holder, err = d.Engine.Store.Row(ctx, job, row.Holder.Tick); err != nil {
				return x, fmt.Errorf("read tick %s of %s: %w", row.Holder.Tick, job, err)
			}
		}
		x.Sentences = s.tell()
		if row.Run != "" { // what never ran has none
			x.addNotes(noted())
		}
		return x, nil
	}
	kind, at := guard.KindOf(tick)
	if kind != guard.Scheduled {
		x.Known = NoRecord
		x.Sentences = []string{fmt.Sprintf("The ledger of %s has no %s; `cronfence history %s` shows what it has.", job, tick, job)}
		return x, nil
	}
	return x, d.whyNoRow(ctx, &x, g, at)
}

// whyNoRow explains a planned tick without a row of its own.
func (d *Direct) whyNoRow(ctx context.Context, x *Explanation, g guard.Guard, at guard.Millis) error {
	gaps, err := d.Engine.Store.Gaps(ctx, g.Job, x.Tick, x.Tick, 1)
	if err != nil {
		return fmt.Errorf("read gaps of %s: %w", g.Job, err)
	}
	if len(gaps) == 1 {
		return d.whyMissed(ctx, x, g, gaps[0], at)
	}
	if g.Spec == nil {
		x.Known, x.Sentences = NoRecord, []string{fmt.Sprintf("Nothing is known of the schedule of %s yet.", g.Job)}
		return nil
	}
	p, err := engine.PlannedBy(g)
	if err != nil {
		return err
	}
	x.Known, x.Sentences = whyUnknown(g, p, at, d.now())
	return nil
}

func (d *Direct) whyMissed(ctx context.Context, x *Explanation, g guard.Guard, gap guard.Gap, at guard.Millis) error {
	e := gapEntry(d.Name, gap)
	x.Known, x.Entry = Missed, &e
	x.Sentences = []string{fmt.Sprintf("Tick %s of %s never came: nothing was delivered for it before its start deadline and %s of grace were over.",
		x.Tick, g.Job, Span(schema.DeliveryGrace))}
	if gap.Count > 1 {
		x.Sentences = append(x.Sentences, fmt.Sprintf("It is one of %d ticks, from %s to %s, that never came.", gap.Count, gap.From, gap.To))
	}
	x.Sentences = append(x.Sentences, fmt.Sprintf("That was found at %s.", gap.At))
	id := guard.TickID(guard.CatchUp, at)
	row, err := d.Engine.Store.Row(ctx, g.Job, id)
	if err != nil {
		return fmt.Errorf("read tick %s of %s: %w", id, g.Job, err)
	}
	if row != nil {
		x.Sentences = append(x.Sentences, fmt.Sprintf("It was caught up with as %s, which is %s.", id, row.Outcome))
	}
	return nil
}

// whyUnknown explains a planned tick of which nothing is on record.
func whyUnknown(g guard.Guard, p engine.Planned, at, now guard.Millis) (Known, []string) {
	tick, window := fmt.Sprintf("Tick %s of %s", at, g.Job), g.Spec.Window()
	unscheduled := p.Next(at-1) != at
	switch {
	case at < g.SpecSince && at <= now:
		return BeforeRecord, []string{fmt.Sprintf("%s lies before the record began: this schedule of the job is known since %s.", tick, g.SpecSince)}
	case unscheduled:
		return Unscheduled, notOnSchedule(g, p, at)
	case at > now:
		say := []string{fmt.Sprintf("%s is planned: it comes in %s.", tick, Span(at.Sub(now)))}
		if paused(g, now) && (g.Paused.Until == 0 || at < g.Paused.Until) {
			say = append(say, fmt.Sprintf("It will be skipped unless the job is resumed before: %s.", pauseText(*g.Paused)))
		}
		return Planned, say
	case at.Add(window) >= now:
		return Pending, []string{fmt.Sprintf("%s is planned and was not delivered yet: it may come until %s, and is missed if it does not.", tick, at.Add(window))}
	case at > g.LastTick:
		return Pending, []string{fmt.Sprintf("%s was not delivered in time, and its record is not made yet: the sentinel records it as missed.", tick)}
	case at.Add(schema.Retention) < now:
		return NoRecord, []string{fmt.Sprintf("%s is older than the %s that the ledger keeps.", tick, Span(schema.Retention))}
	}
	return NoRecord, []string{fmt.Sprintf("%s was decided, since everything up to %s is on record, but its row is gone: somebody deleted it.", tick, g.LastTick)}
}

func notOnSchedule(g guard.Guard, p engine.Planned, at guard.Millis) []string {
	say := fmt.Sprintf("%s plans no tick at %s: its schedule is %s in %s", g.Job, at, g.Spec.Schedule, p.Timezone())
	prev, next := p.Prev(at), p.Next(at)
	switch {
	case prev != 0 && next != 0:
		say += fmt.Sprintf(", with ticks at %s before and %s after", prev, next)
	case prev != 0:
		say += fmt.Sprintf(", whose last tick is %s", prev)
	case next != 0:
		say += fmt.Sprintf(", whose first tick is %s", next)
	}
	return []string{say + "."}
}

// pauseText says who paused a job, since when, until when and why.
func pauseText(p guard.Pause) string {
	until := "until somebody resumes it"
	if p.Until != 0 {
		until = "until " + p.Until.String()
	}
	return fmt.Sprintf("paused by %s at %s, %s: %s", p.By, p.At, until, p.Why)
}

// Span writes a duration as a person would: to the second from a second on, to the day from
// two days on, without zero parts.
func Span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d.Round(24*time.Hour)/(24*time.Hour))
	case d >= time.Second:
		d = d.Round(time.Second)
	default:
		d = d.Round(time.Millisecond)
	}
	text := d.String()
	for _, zero := range []struct{ full, cut string }{{"m0s", "m"}, {"h0m", "h"}} {
		if n := len(text) - len(zero.full); n > 0 && text[n:] == zero.full {
			text = text[:n] + zero.cut
		}
	}
	return text
}
