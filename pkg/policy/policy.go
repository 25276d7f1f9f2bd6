// Package policy holds the pure decisions of Cronfence: what to do with a tick whose job is
// still running, whether a lost run is tried again, which missed ticks are caught up with.
// It reads no clock, calls nothing and imports the standard library only.
package policy

import (
	"fmt"
	"strings"
)

// Overlap says what happens to a tick that finds its job still running.
type Overlap int

const (
	// Skip records the tick as Skipped and starts nothing. It is the zero value:
	// Kubernetes calls it Forbid, Temporal Skip.
	Skip Overlap = iota
	// QueueOne lets one tick wait for the run to end: the newest, or the first with
	// KeepFirst. The others are recorded as Coalesced. Temporal calls it BufferOne.
	QueueOne
	// Replace asks the run to stop, waits until it has ended and runs the newest tick in
	// its place. Kubernetes calls it Replace, Temporal CancelOther and then TerminateOther.
	Replace
	// Allow starts the tick beside the run that is still going. Kubernetes calls it Allow,
	// Temporal AllowAll. Nothing guards such a job against itself.
	Allow
)

var overlapNames = []string{Skip: "skip", QueueOne: "queue-one", Replace: "replace", Allow: "allow"}

// String returns the name used in specs and on the command line, such as "queue-one".
func (o Overlap) String() string { return nameOf(o, "Overlap", overlapNames) }

// ParseOverlap reads the name of a policy. The error names the value and what is allowed.
func ParseOverlap(s string) (Overlap, error) { return parse[Overlap](s, "overlap", overlapNames) }

// MarshalText writes the policy's name.
func (o Overlap) MarshalText() ([]byte, error) { return marshal(o, "overlap", overlapNames) }

// UnmarshalText reads the policy's name; see [ParseOverlap].
func (o *Overlap) UnmarshalText(b []byte) (err error) {
	*o, err = ParseOverlap(string(b))
	return err
}

// CatchUp says which missed ticks run once ticks are delivered again.
type CatchUp int

const (
	// CatchUpNone runs none of them: they are Missed. It is the zero value.
	CatchUpNone CatchUp = iota
	// CatchUpLatest runs the newest of them.
	CatchUpLatest
	// CatchUpAll runs the newest of them up to a number, oldest first, one at a time.
	CatchUpAll
)

var catchUpNames = []string{CatchUpNone: "none", CatchUpLatest: "latest", CatchUpAll: "all"}

// String returns the name used in specs, such as "latest".
func (c CatchUp) String() string { return nameOf(c, "CatchUp", catchUpNames) }

// ParseCatchUp reads the name of a catch-up policy.
func ParseCatchUp(s string) (CatchUp, error) { return parse[CatchUp](s, "catchUp", catchUpNames) }

// MarshalText writes the policy's name.
func (c CatchUp) MarshalText() ([]byte, error) { return marshal(c, "catchUp", catchUpNames) }

// UnmarshalText reads the policy's name.
func (c *CatchUp) UnmarshalText(b []byte) (err error) {
	*c, err = ParseCatchUp(string(b))
	return err
}

func nameOf[T ~int](v T, kind string, names []string) string {
	if v < 0 || int(v) >= len(names) {
		return fmt.Sprintf("%s(%d)", kind, int(v))
	}
	return names[v]
}

func parse[T ~int](s, field string, names []string) (T, error) {
	for v, name := range names {
		if s == name {
			return T(v), nil
		}
	}
	return 0, fmt.Errorf("%s %q: must be one of %s", field, s, strings.Join(names, ", "))
}

func marshal[T ~int](v T, field string, names []string) ([]byte, error) {
	if v < 0 || int(v) >= len(names) {
		return nil, fmt.Errorf("%s %d: must be one of %s", field, int(v), strings.Join(names, ", "))
	}
	return []byte(names[v]), nil
}
