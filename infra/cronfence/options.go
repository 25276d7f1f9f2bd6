package cronfence

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// options are settings that go with others, with the defaults filled in.
type options struct {
	grace, retryWindow, catchUpWindow time.Duration
	catchUpMax                        int
}

const (
	maxDescription = 512 // of EventBridge Scheduler
	maxSpread      = day // 1,440 minutes: EventBridge Scheduler's longest window
)

// options refuses a setting that would do nothing where it stands: whoever gave it expects
// something of it.
func (p *JobProps) options(bad *problems) options {
	p.checkSchedule(bad)
	return options{
		grace:         p.graceOf(bad),
		retryWindow:   p.retryWindowOf(bad),
		catchUpWindow: p.catchUpWindowOf(bad),
		catchUpMax:    p.catchUpMaxOf(bad),
	}
}

func (p *JobProps) graceOf(bad *problems) time.Duration {
	if p.KeepFirst && p.Overlap != policy.QueueOne {
		bad.addf("keep first with overlap %q: goes with %q only", p.Overlap, policy.QueueOne)
	}
	if p.Overlap == policy.Replace {
		return orDefault("grace", p.Grace, schema.DefaultGrace, bad)
	}
	if p.Grace != 0 {
		bad.addf("grace %v with overlap %q: goes with %q only", p.Grace, p.Overlap, policy.Replace)
	}
	return 0
}

func (p *JobProps) retryWindowOf(bad *problems) time.Duration {
	if p.Retries < 0 || p.Retries > schema.MaxRetries {
		bad.addf("retries %d: must be 0 to %d", p.Retries, schema.MaxRetries)
	}
	if p.Retries == 0 && p.RetryWindow != 0 {
		bad.addf("retry window %v without retries: goes with 1 to %d retries only", p.RetryWindow, schema.MaxRetries)
	}
	return orDefault("retry window", p.RetryWindow, 0, bad)
}

func (p *JobProps) catchUpWindowOf(bad *problems) time.Duration {
	if p.CatchUp == policy.CatchUpNone && p.CatchUpWindow != 0 {
		bad.addf("catch-up window %v with catch-up %q: goes with %q or %q only", p.CatchUpWindow, p.CatchUp, policy.CatchUpLatest, policy.CatchUpAll)
	}
	return orDefault("catch-up window", p.CatchUpWindow, 0, bad)
}

func (p *JobProps) catchUpMaxOf(bad *problems) int {
	if _, err := p.CatchUp.MarshalText(); err != nil {
		bad.add(err)
		return 0
	}
	switch {
	case p.CatchUp != policy.CatchUpAll && p.CatchUpMax != 0:
		bad.addf("catch-up maximum %d with catch-up %q: goes with %q only", p.CatchUpMax, p.CatchUp, policy.CatchUpAll)
	case p.CatchUp != policy.CatchUpAll:
		return 0
	case p.CatchUpMax == 0:
		return schema.DefaultCatchUpMax
	case p.CatchUpMax < 0 || p.CatchUpMax > schema.MaxCatchUp:
		bad.addf("catch-up maximum %d: must be 1 to %d, or 0 for %d", p.CatchUpMax, schema.MaxCatchUp, schema.DefaultCatchUpMax)
	}
	return p.CatchUpMax
}

// checkSchedule refuses what EventBridge Scheduler would refuse of a schedule, and a spread
// by which ticks could overtake each other.
func (p *JobProps) checkSchedule(bad *problems) {
	if n := utf8.RuneCountInString(p.Description); n > maxDescription {
		bad.addf("description of %d characters: must be at most %d", n, maxDescription)
	}
	if p.Spread == 0 {
		return
	}
	if p.Spread < 0 || p.Spread%time.Minute != 0 || p.Spread > maxSpread {
		bad.addf("spread %v: must be whole minutes, up to %v, or 0 for none", p.Spread, maxSpread)
		return
	}
	if checkSchedule(p.Schedule) != nil {
		return
	}
	if all := intervals(p.Schedule.Next); len(all) > 0 && p.Spread >= slices.Min(all) {
		bad.addf("spread %v: must be less than the schedule's shortest interval of %v", p.Spread, slices.Min(all))
	}
}

// checkCarrier refuses a payload that Step Functions takes and the target's service does not.
func checkCarrier(payload json.RawMessage, target targetFacts) error {
	if target.maxPayload == 0 {
		return nil
	}
	quoted, err := encode(string(payload)) // as a text within JSON
	if err != nil || len(quoted) <= target.maxPayload {
		return err
	}
	return fmt.Errorf("payload: %d characters of quoted JSON: at most %d fit %s", len(quoted), target.maxPayload, target.carrier)
}
