package ops

import (
	"context"
	"fmt"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
)

// Clock tells how far this machine's clock is ahead of that of the records' store, as its last
// answer showed, to about a second. It is false where no answer has shown it.
type Clock func() (ahead time.Duration, known bool)

// maxClockOff is how far off a machine may be that acts: half of what any two clocks may differ by,
// since the functions' have a share in that too.
const maxClockOff = guard.Margin / 2

const clockFix = "let NTP set it, such as with `timedatectl set-ntp true`, or work from AWS CloudShell"

// off says how wrong this machine's clock is; "" if it is right or nothing is known of it.
func (c Clock) off() string {
	if c == nil {
		return ""
	}
	ahead, known := c()
	if off := ahead.Abs(); !known || off <= maxClockOff {
		return ""
	}
	which := "ahead of"
	if ahead < 0 {
		which = "behind"
	}
	return fmt.Sprintf("this machine's clock is %s %s that of DynamoDB, and may be off by %s at the most: leases, drains and deadlines are judged by it",
		ahead.Abs().Round(time.Second), which, maxClockOff)
}

// guardFor reads the guard that an act is decided on, and refuses what a wrong clock would decide.
func (d *Direct) guardFor(ctx context.Context, a Act) (guard.Guard, error) {
	g, err := d.guardOf(ctx, a.Job) // whose answer shows the clock
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
	if _, known := d.Clock(); !known {
		x.Skip("this machine's clock", "no answer of DynamoDB has a date")
	}
	if off := d.Clock.off(); off != "" {
		x.Add(FoundClock, "", clockFix, "%s; `run`, `release`, `resume`, `backfill` and a pause with an end are refused", off)
	}
}
