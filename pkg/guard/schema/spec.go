package schema

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/policy"
)

// SpecVersion is the version of the specs that this code writes, major.minor. Specs are
// additive within a major version; a spec of a newer major version is refused.
const SpecVersion = "1.0"

const specMajor = 1

// Spec is what a job's constructs tell the dispatcher with every tick. Durations are
// in whole seconds.
type Spec struct {
	Version   string         `json:"version"`
	Scheduler string         `json:"scheduler"`
	Job       string         `json:"job"`
	Schedule  string         `json:"schedule"`           // EventBridge expression, as deployed
	Timezone  string         `json:"timezone,omitempty"` // IANA name; UTC when empty
	Start     string         `json:"start,omitempty"`    // RFC 3339; no tick before
	End       string         `json:"end,omitempty"`      // RFC 3339; no tick after
	Machine   string         `json:"machine"`            // ARN of the state machine
	Overlap   policy.Overlap `json:"overlap"`
	KeepFirst bool           `json:"keepFirst,omitempty"` // QueueOne: the first that waits keeps its place
	// Retries is how often a run that was lost or never started is tried again.
	Retries int `json:"retries,omitempty"`
	// CatchUp says which missed ticks run later; CatchUpMax bounds CatchUpAll.
	CatchUp    policy.CatchUp `json:"catchUp,omitempty"`
	CatchUpMax int            `json:"catchUpMax,omitempty"`
	// Beats says that the run renews its lease; without, the lease spans the whole run.
	Beats bool `json:"beats,omitempty"`
	// Fenced says that every write of the job checks its fence, so that nobody need wait
	// for an old run's work to end.
	Fenced bool `json:"fenced,omitempty"`
	// Chain says that the work is more than one task, or another service's: no error of it
	// proves that the work ended.
	Chain bool `json:"chain,omitempty"`

	LeaseSeconds   int64 `json:"leaseSeconds"`
	RenewalSeconds int64 `json:"renewalSeconds,omitempty"` // with beats only
	MaxRunSeconds  int64 `json:"maxRunSeconds"`
	// MachineTimeoutSeconds is the state machine's own timeout, slightly longer than the run's.
	MachineTimeoutSeconds int64 `json:"machineTimeoutSeconds"`
	StartDeadlineSeconds  int64 `json:"startDeadlineSeconds"`
	// DrainSeconds is how long work may go on after its execution was stopped.
	DrainSeconds int64 `json:"drainSeconds,omitempty"`
	// GraceSeconds is how long a run that Replace asked to stop may go on by itself; 0 is
	// DefaultGrace: a manual run may replace the run of a job of another policy.
	GraceSeconds int64 `json:"graceSeconds,omitempty"`
	// RetrySeconds bounds retries, from when the work of the first attempt is over; 0 is one
	// interval, and the start deadline of a tick that none follows.
	RetrySeconds int64 `json:"retrySeconds,omitempty"`
	// CatchUpSeconds is how long missed ticks may wait to be caught up with; 0 is a day.
	CatchUpSeconds int64 `json:"catchUpSeconds,omitempty"`
}

// Lease is how long a run with beats is trusted after each.
func (s Spec) Lease() time.Duration { return seconds(s.LeaseSeconds) }

// Renewal is the time between two beats.
func (s Spec) Renewal() time.Duration { return seconds(s.RenewalSeconds) }

// MaxRun bounds a run.
func (s Spec) MaxRun() time.Duration { return seconds(s.MaxRunSeconds) }

// MachineTimeout is the state machine's own timeout.
func (s Spec) MachineTimeout() time.Duration { return seconds(s.MachineTimeoutSeconds) }

// StartDeadline is how late a tick may start.
func (s Spec) StartDeadline() time.Duration { return seconds(s.StartDeadlineSeconds) }

// Window is how long after its planned instant a tick may still come to its record: only
// then is it missed.
func (s Spec) Window() time.Duration { return s.StartDeadline() + DeliveryGrace }

// Rule is the overlap policy with its options.
func (s Spec) Rule() policy.Rule { return policy.Rule{Overlap: s.Overlap, KeepFirst: s.KeepFirst} }

// Grace is how long a run that was asked to stop may go on by itself.
func (s Spec) Grace() time.Duration {
	if s.GraceSeconds == 0 {
		return DefaultGrace
	}
	return seconds(s.GraceSeconds)
}

// RetryWindow bounds retries, from when the work of the first attempt is over. interval is the
// seconds to the next tick, 0 when there is none.
func (s Spec) RetryWindow(interval int64) time.Duration {
	switch {
	case s.RetrySeconds != 0:
		return seconds(s.RetrySeconds)
	case interval != 0:
		return seconds(interval)
	default:
		return s.StartDeadline()
	}
}

// CatchUpWindow is how long missed ticks may wait to be caught up with.
func (s Spec) CatchUpWindow() time.Duration {
	if s.CatchUpSeconds == 0 {
		return DefaultCatchUpWindow
	}
	return seconds(s.CatchUpSeconds)
}

// Drain is how long work may go on after its execution was stopped; 0 for fenced jobs.
func (s Spec) Drain() time.Duration {
	if s.Fenced {
		return 0
	}
	return seconds(s.DrainSeconds)
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// CheckVersion refuses a spec that this code is too old to understand.
func (s Spec) CheckVersion() error {
	major, minor, _ := strings.Cut(s.Version, ".")
	n, err := strconv.Atoi(major)
	if err != nil || n < 1 || !only(major+minor, digits) || minor == "" {
		return fmt.Errorf("spec version %q: must be MAJOR.MINOR, such as %q", s.Version, SpecVersion)
	}
	if n > specMajor {
		return fmt.Errorf("spec version %q: this dispatcher understands major version %d and older; deploy the scheduler's stack before the job's", s.Version, specMajor)
	}
	return nil
}

// Check refuses a spec that no construct would make. It does not look into the schedule.
func (s Spec) Check() error {
	if err := s.CheckVersion(); err != nil {
		return err
	}
	if err := CheckScheduler(s.Scheduler); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	if err := CheckJob(s.Job); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	if want := ":stateMachine:" + MachineName(s.Scheduler, s.Job); !strings.HasPrefix(s.Machine, "arn:") || !strings.HasSuffix(s.Machine, want) {
		return fmt.Errorf("spec: machine %q: must be the ARN of a state machine ending in %q", s.Machine, want)
	}
	if _, err := s.Overlap.MarshalText(); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	if s.Overlap == policy.Allow && s.Fenced {
		return fmt.Errorf("spec: overlap \"allow\" with fenced writes: runs side by side would refuse each other's writes")
	}
	if s.Overlap == policy.Allow && s.Beats {
		return fmt.Errorf("spec: overlap \"allow\" with beats: such runs hold no guard whose lease they could renew")
	}
	if s.KeepFirst && s.Overlap != policy.QueueOne {
		return fmt.Errorf("spec: keepFirst with overlap %q: goes with \"queue-one\" only", s.Overlap)
	}
	if s.Retries < 0 || s.Retries > MaxRetries {
		return fmt.Errorf("spec: retries %d: must be 0 to %d", s.Retries, MaxRetries)
	}
	if s.CatchUp == policy.CatchUpAll && (s.CatchUpMax < 1 || s.CatchUpMax > MaxCatchUp) {
		return fmt.Errorf("spec: catchUpMax %d: must be 1 to %d with catchUp \"all\"", s.CatchUpMax, MaxCatchUp)
	}
	return s.checkDurations()
}

func (s Spec) checkDurations() error {
	const year = 366 * 24 * 60 * 60
	for _, d := range []struct {
		name     string
		got, min int64
	}{
		{"leaseSeconds", s.LeaseSeconds, 1},
		{"maxRunSeconds", s.MaxRunSeconds, 1},
		{"machineTimeoutSeconds", s.MachineTimeoutSeconds, s.MaxRunSeconds},
		{"startDeadlineSeconds", s.StartDeadlineSeconds, 60},
		{"drainSeconds", s.DrainSeconds, 0},
		{"renewalSeconds", s.RenewalSeconds, 0},
		{"graceSeconds", s.GraceSeconds, 0},
		{"retrySeconds", s.RetrySeconds, 0},
		{"catchUpSeconds", s.CatchUpSeconds, 0},
	} {
		if d.got < d.min || d.got > year {
			return fmt.Errorf("spec: %s %d: must be %d to %d", d.name, d.got, d.min, int64(year))
		}
	}
	if s.Beats && s.RenewalSeconds == 0 {
		return fmt.Errorf("spec: renewalSeconds 0: a job with beats needs at least 1")
	}
	if min := MinLease(s.Renewal()); s.Beats && s.Lease() < min {
		return fmt.Errorf("spec: leaseSeconds %d: must be at least %v with a renewal every %v", s.LeaseSeconds, min, s.Renewal())
	}
	return nil
}
