package sim

// State is what the guard is doing when a fault strikes from outside.
type State uint8

// The states, the more particular ones last: the last that fits counts.
const (
	Absent   State = iota // there is no guard
	Blocked               // made anew, not yet trusted
	Free                  // nothing runs
	Drains                // the last run's work may still be going on
	Held                  // a run holds it
	Awaited               // and a tick waits
	Stopping              // and the holder was asked to stop
	Overdue               // its holder's lease is over
	Marked                // its holder is being stopped
	stateCount
)

var stateNames = [stateCount]string{"absent", "blocked", "free", "draining", "held", "awaited", "stopping", "overdue", "marked"}

func (s State) String() string { return stateNames[s] }

func (w *World) state() State {
	g := w.guard
	switch {
	case g == nil:
		return Absent
	case !g.Ready:
		return Blocked
	case g.Run == nil && g.DrainUntil >= w.clock:
		return Drains
	case g.Run == nil:
		return Free
	case g.Mark != nil:
		return Marked
	case g.LeaseUntil < w.clock:
		return Overdue
	case g.Stop != nil:
		return Stopping
	case g.Waiting != nil:
		return Awaited
	}
	return Held
}
