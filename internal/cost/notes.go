package cost

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// shorter says what a job would cost whose maximum run time were short enough for a run without a
// heartbeat, where its runs are short enough and it would cost less; else nothing.
func shorter(j Job, e Estimate) string {
	longest := j.lease() - schema.StartAllowance
	if !j.HasBeats() || j.RunTime > longest {
		return ""
	}
	j.MaxRunTime = longest
	less := Of(j)
	if less.USDPerMillionRuns >= e.USDPerMillionRuns {
		return ""
	}
	note := fmt.Sprintf("With --max-run-time %v a run has no heartbeat: %d transitions, %.2f USD for a million runs in place of %.2f, and %.2f USD a month in place of %.2f.",
		longest, less.TransitionsPerRun, less.USDPerMillionRuns, e.USDPerMillionRuns, less.USDPerMonth, e.USDPerMonth)
	if j.Target == Lambda {
		note += " The function's own timeout may be no longer."
	}
	return note
}

// near is how much longer or shorter a run often takes, or how late it starts.
const near = 5 * time.Second

// ShareNote says that the share of the ticks that are skipped changes much with some seconds of the
// run time, as it does about every multiple of the interval; else nothing.
func ShareNote(s schedule.Schedule, from time.Time, runTime time.Duration, share float64) string {
	const much = 0.02
	less, more := SkipShare(s, from, runTime-near), SkipShare(s, from, runTime+near)
	if math.Abs(less-share) < much && math.Abs(more-share) < much {
		return ""
	}
	return fmt.Sprintf("Some seconds decide on the skips: %s of the ticks at a run time of %v, but %s at %v and %s at %v. Ticks and starts come some seconds late, "+
		"and runs do not all take the same: give --skip-share what you have seen.",
		percent(share), runTime, percent(more), runTime+near, percent(less), runTime-near)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// Plain writes a number with so many significant digits and without an exponent; what is before
// the point is written whole.
func Plain(n float64, digits int) string {
	if n == 0 {
		return "0"
	}
	after := digits - 1 - int(math.Floor(math.Log10(math.Abs(n))))
	text := strconv.FormatFloat(n, 'f', max(0, after), 64)
	if after > 0 {
		for text[len(text)-1] == '0' {
			text = text[:len(text)-1]
		}
	}
	if text[len(text)-1] == '.' {
		text = text[:len(text)-1]
	}
	return text
}
