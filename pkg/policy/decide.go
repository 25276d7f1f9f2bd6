package policy

// Rule is an overlap policy with its options.
type Rule struct {
	Overlap   Overlap
	KeepFirst bool // QueueOne: the first tick that waits keeps its place
}

// Waiter tells how the tick that waits compares with the one delivered, by planned time:
// deliveries may come in any order.
type Waiter int

// What waits.
const (
	Nobody Waiter = iota
	OlderWaits
	NewerWaits
)

// Situation is what a tick finds when it is delivered.
type Situation struct {
	Late    bool // its start deadline is over
	Blocked bool // the guard was made anew and is not trusted yet
	Paused  bool // somebody paused the job
	Held    bool // a run holds the guard, or work of the last one may still be going on
	Older   bool // the run that holds the guard is of a later tick
	Waiting Waiter
}

// Action is what becomes of a tick.
type Action int

// The actions.
const (
	Start       Action = iota // acquire the guard and run
	StartBeside               // run without holding the guard
	Wait                      // wait for the guard, in the place of whatever waits
	Coalesce                  // start nothing: another tick runs or waits for both
	SkipHeld                  // start nothing: the job is still running
	SkipBlocked               // start nothing: the guard is not trusted yet
	SkipPaused                // start nothing: the job is paused
	Expire                    // start nothing: it is too late
)

// Decide says what becomes of a tick. A tick past its deadline never starts; a guard that is
// not trusted yet and a pause start nothing under any policy; only then the policy speaks.
func (r Rule) Decide(s Situation) Action {
	switch {
	case s.Late:
		return Expire
	case s.Blocked:
		return SkipBlocked
	case s.Paused:
		return SkipPaused
	case r.Overlap == Allow:
		return StartBeside
	case !s.Held:
		return Start
	case r.Overlap == Skip:
		return SkipHeld
	case s.Older, s.Waiting == NewerWaits:
		return Coalesce
	case s.Waiting == OlderWaits && r.Overlap == QueueOne && r.KeepFirst:
		return Coalesce
	default:
		return Wait
	}
}

// Missed picks the ticks to catch up with out of count missed ones: how many of the newest.
func (c CatchUp) Missed(count, maximum int) int {
	switch c {
	case CatchUpLatest:
		return min(count, 1)
	case CatchUpAll:
		return min(count, maximum)
	default:
		return 0
	}
}
