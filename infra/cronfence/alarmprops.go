package cronfence

import (
	"math"
	"regexp"
	"slices"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

const maxRatio = 1000

func (a JobAlarms) check(bad *problems) {
	if a.OverdueBy < 0 || a.OverdueBy%time.Second != 0 {
		bad.addf("alarms: overdue by %v: must be whole seconds, 0 or more", a.OverdueBy)
	}
	if !isRatio(a.Ratio) {
		bad.addf("alarms: ratio %v: must be above 0 and at most %d, or 0 for %v", a.Ratio, maxRatio, defaultRatio)
	}
	for _, n := range []struct {
		name           string
		got, byDefault int
	}{{"failures", a.Failures, defaultFailures}, {"skips", a.Skips, defaultSkips}} {
		if n.got < 0 || n.got > maxInRow {
			bad.addf("alarms: %s %d: must be 1 to %d in a row, or 0 for %d", n.name, n.got, maxInRow, n.byDefault)
		}
	}
}

// isRatio is false for what is no number, which compares with nothing.
func isRatio(r float64) bool { return r >= 0 && r <= maxRatio }

// alarmID is what an added alarm may be called: a part of its name in CloudWatch.
var alarmID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,47}$`)

// added is what a user asks of an alarm of the job; it panics with a [PropsError] if no such
// alarm can be made.
func (j *Job) added(id, kind string, props *AlarmProps) AlarmProps {
	var p AlarmProps
	if props != nil {
		p = *props
	}
	var bad problems
	if own := []string{kindOverdue, kindFailed, kindRatio, kindSkips}; !alarmID.MatchString(id) || slices.Contains(own, id) {
		bad.addf("alarm %q: must match %s and be none of %q, as the job's own alarms are called", id, alarmID, own)
	}
	whole := p.Threshold == math.Trunc(p.Threshold)
	switch kind {
	case kindOverdue:
		if !whole || p.Threshold < 0 || p.Threshold > schema.MaxDuration.Seconds() {
			bad.addf("alarm %q: threshold %v: must be whole seconds, 0 to %v", id, p.Threshold, schema.MaxDuration.Seconds())
		}
	case kindRatio:
		if !isRatio(p.Threshold) {
			bad.addf("alarm %q: threshold %v: must be above 0 and at most %d, or 0 for %v", id, p.Threshold, maxRatio, defaultRatio)
		}
	default:
		if !whole || p.Threshold < 0 || p.Threshold > maxInRow {
			bad.addf("alarm %q: threshold %v: must be 1 to %d in a row, or 0 for the default", id, p.Threshold, maxInRow)
		}
	}
	bad.check(*j.Node().Path())
	return p
}
