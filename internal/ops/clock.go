package ops

import (
	"context"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
)

// Clock tells how far this machine's clock is ahead of that of the records' store, as its last
// answer showed. It is false where no answer has shown it.
type Clock func() (ahead Ahead, known bool)

// Ahead bounds how far one clock is ahead of another; what is negative is behind. The slower the
// answer that it was read off, the wider: nobody knows when on its way the other clock was read.
type Ahead struct{ Least, Most time.Duration }

// sure is by how much the clocks differ at the least; 0 if they may be the same.
func (a Ahead) sure() time.Duration {
	switch {
	case a.Least > 0:
		return a.Least
	case a.Most < 0:
		return a.Most
	}
	return 0
}

func (a Ahead) within(limit time.Duration) bool { return a.Least >= -limit && a.Most <= limit }

// maxClockOff is how far off a machine may be that acts: half of what any two clocks may differ by,
// since the functions' have a share in that too.
const maxClockOff = guard.Margin / 2

const clockFix = "let NTP set it, such as with `timedatectl set-ntp true`, or work from AWS CloudShell"

// off says how wrong this machine's clock surely is; "" if it may be right or nothing is known of it.
func (c Clock) off() string {
	if c == nil {
		return ""
	}
	ahead, known := c()
	sure := ahead.sure()
	if !known || sure.Abs() <= maxClockOff {
		return ""
	}
	which := "ahead of"
	if sure < 0 {
		which = "behind"
	}
	return fmt.Sprintf("this machine's clock is at least %s %s that of DynamoDB, and may be off by %s at the most: leases, drains and deadlines are judged by it",
		sure.Abs().Truncate(time.Second/10), which, maxClockOff)
}

// unsure tells whether the last answer leaves open on which side of the limit the clock is.
func (c Clock) unsure() bool {
	if c == nil {
		return false
	}
	ahead, known := c()
	return known && c.off() == "" && !ahead.within(maxClockOff)
}

// guardFor reads the guard that an act is decided on, and refuses what a clock that is surely wrong
// would decide. The first answer may have waited for a connection; the second finds it there.
func (d *Direct) guardFor(ctx context.Context, a Act) (guard.Guard, error) {
	g, err := d.guardOf(ctx, a.Job) // whose answer shows the clock
	if err == nil && a.byClock() && d.Clock.unsure() {
		g, err = d.guardOf(ctx, a.Job)
	}
	if err != nil {
		return g, err
	}
	if off := d.Clock.off(); off != "" && a.byClock() {
		return g, refusal("%s; %s", off, clockFix)
	}
	return g, nil
}

// byClock tells whether the clock decides what becomes of an act. A pause without an end and the end
// of a backlog are safe by any.
func (a Act) byClock() bool {
	return a.EndBacklog == nil && (a.Pause == nil || a.Pause.For > 0)
}

// examineClock finds a clock that is off. Whoever only looks is told wrong ages by it.
func (d *Direct) examineClock(x *Diagnosis) {
	if d.Clock == nil {
		return
	}
	const what = "this machine's clock"
	switch ahead, known := d.Clock(); {
	case !known:
		x.Skip(what, "no answer of DynamoDB has a date")
	case d.Clock.unsure():
		x.Skip(what, fmt.Sprintf("DynamoDB's last answer tells only that it is between %s and %s ahead",
			ahead.Least.Round(time.Second/10), ahead.Most.Round(time.Second/10)))
	}
	if off := d.Clock.off(); off != "" {
		x.Add(FoundClock, "", clockFix, "%s; `run`, `release`, `resume`, `backfill` and a pause with an end are refused", off)
	}
}
