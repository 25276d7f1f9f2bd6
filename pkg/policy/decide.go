package policy

// Situation is what a tick finds when it is delivered.
type Situation struct {
	Late    bool // its start deadline is over
	Blocked bool // the guard was made anew and is not trusted yet
	Held    bool // a run holds the guard, or work of the last one may still be going on
}

// Action is what becomes of a tick.
type Action int

// The actions.
const (
	Start       Action = iota // acquire the guard and run
	StartBeside               // run without holding the guard
	SkipHeld                  // start nothing: the job is still running
	SkipBlocked               // start nothing: the guard is not trusted yet
	Expire                    // start nothing: it is too late
)

// Decide says what becomes of a tick under the policy. A tick past its deadline never
// starts, a guard that is not trusted yet starts nothing under any policy, and only then
// does the policy speak.
func (o Overlap) Decide(s Situation) Action {
	switch {
	case s.Late:
		return Expire
	case s.Blocked:
		return SkipBlocked
	case o == Allow:
		return StartBeside
	case s.Held:
		return SkipHeld
	default:
		return Start
	}
}
