package schema

import "time"

// Defaults of a job and a scheduler; docs/jobs.md lists them.
const (
	// DefaultLease is how long a run is trusted after its last beat.
	DefaultLease = 2 * time.Minute
	// DefaultRenewal is the time between two beats of a run.
	DefaultRenewal = 30 * time.Second
	// SkewMargin is the largest difference between any two clocks that the protocol allows for.
	SkewMargin = 10 * time.Second
	// DefaultMaxRun bounds a run whose target names no bound of its own.
	DefaultMaxRun = time.Hour
	// MaxDuration is the longest that a Standard execution can take.
	MaxDuration = 365 * 24 * time.Hour
	// MaxFunctionTimeout is Lambda's limit: how long a function of unknown timeout may work.
	MaxFunctionTimeout = 15 * time.Minute
	// DefaultStartDeadline is how late a tick may still start.
	DefaultStartDeadline = 15 * time.Minute
	// DeliveryGrace is how much longer than its start deadline a tick is waited for before
	// it counts as missed.
	DeliveryGrace = 5 * time.Minute
	// DefaultGrace is how long a run that Replace asked to stop may go on by itself.
	DefaultGrace = 30 * time.Second
	// DefaultCatchUpWindow is how long missed ticks may wait to be caught up with.
	DefaultCatchUpWindow = 24 * time.Hour
	// DefaultCatchUpMax bounds how many missed ticks are caught up with, where all are.
	DefaultCatchUpMax = 10
	// MaxRetries and MaxCatchUp bound what a spec may ask for.
	MaxRetries = 10
	MaxCatchUp = 1000
	// DispatcherTimeout is the timeout of the functions that start runs: dispatcher and settler.
	DispatcherTimeout = 15 * time.Second
	// HeartbeatTimeout is the timeout of the heartbeat function.
	HeartbeatTimeout = 10 * time.Second
	// SentinelTimeout is the timeout of the sentinel, which sweeps once a Sweep.
	SentinelTimeout = 55 * time.Second
	// Sweep is the time between two sweeps over all guards.
	Sweep = time.Minute
	// StartAllowance is how long after acquiring the guard a run without beats may start:
	// one sweep and one dispatcher timeout.
	StartAllowance = Sweep + DispatcherTimeout
	// SettleAllowance is how long settling may take behind the end of a run without beats.
	SettleAllowance = 2 * time.Minute
	// MachineSlack is by how much a state machine's own timeout exceeds what its states may take.
	MachineSlack = 30 * time.Second
	// Retention is how long a ledger row with a final outcome is kept.
	Retention = 90 * 24 * time.Hour
)

// MinLease is the shortest lease that a run with beats can have and still be found,
// started and renewed in time.
func MinLease(renewal time.Duration) time.Duration {
	return Sweep + DispatcherTimeout + renewal + SkewMargin
}

// FitsWithoutBeats tells whether a single task of at most maxRun, its start delay
// included, fits the lease, so that the run needs no beats.
func FitsWithoutBeats(maxRun, lease time.Duration) bool {
	return StartAllowance+maxRun <= lease
}
