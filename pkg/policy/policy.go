// Package policy holds the pure decisions of Cronfence: what to do with a tick
// whose job is still running. It reads no clock, calls nothing and imports the
// standard library only.
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
	// Allow starts the tick beside the run that is still going. Kubernetes calls
	// it Allow, Temporal AllowAll. Nothing guards such a job against itself.
	Allow
)

var overlapNames = []string{Skip: "skip", Allow: "allow"}

// String returns the name used in specs and on the command line: "skip" or "allow".
func (o Overlap) String() string {
	if o < 0 || int(o) >= len(overlapNames) {
		return fmt.Sprintf("Overlap(%d)", int(o))
	}
	return overlapNames[o]
}

// ParseOverlap reads the name of a policy. The error names the value and what is allowed.
func ParseOverlap(s string) (Overlap, error) {
	for o, name := range overlapNames {
		if s == name {
			return Overlap(o), nil
		}
	}
	return Skip, fmt.Errorf("overlap %q: must be one of %s", s, strings.Join(overlapNames, ", "))
}

// MarshalText writes the policy's name.
func (o Overlap) MarshalText() ([]byte, error) {
	if o < 0 || int(o) >= len(overlapNames) {
		return nil, fmt.Errorf("overlap %d: unknown policy", int(o))
	}
	return []byte(o.String()), nil
}

// UnmarshalText reads the policy's name; see [ParseOverlap].
func (o *Overlap) UnmarshalText(b []byte) error {
	parsed, err := ParseOverlap(string(b))
	if err != nil {
		return err
	}
	*o = parsed
	return nil
}
