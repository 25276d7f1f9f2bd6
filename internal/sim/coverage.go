package sim

import (
	"fmt"
	"slices"
	"strings"
)

// Coverage counts which fault hit what, over any number of schedules.
type Coverage struct {
	Schedules int
	Ticks     int
	processes [faultCount][transitionCount]int // faults of processes by the effect they hit
	outside   [faultCount][stateCount]int      // faults from outside by what the guard was doing
	commits   [transitionCount]int             // that went through
}

// Add adds what other schedules covered.
func (c *Coverage) Add(o *Coverage) {
	c.Schedules += o.Schedules
	c.Ticks += o.Ticks
	for f := range faultCount {
		for t := range transitionCount {
			c.processes[f][t] += o.processes[f][t]
		}
		for s := range stateCount {
			c.outside[f][s] += o.outside[f][s]
		}
	}
	for t := range transitionCount {
		c.commits[t] += o.commits[t]
	}
}

// String prints both tables; a dot is what need not meet and did not.
func (c *Coverage) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d schedules, %d ticks\n\n%-14s", c.Schedules, c.Ticks, "process fault")
	var processes, outside []Fault
	for f := NoFault + 1; f < faultCount; f++ {
		if f.ofProcess() {
			processes = append(processes, f)
			fmt.Fprintf(&b, "%13s", f)
		} else {
			outside = append(outside, f)
		}
	}
	for t := range transitionCount {
		fmt.Fprintf(&b, "\n%-14s", t)
		for _, f := range processes {
			b.WriteString(cell(13, c.processes[f][t], meets(f, t)))
		}
	}
	fmt.Fprintf(&b, "\n\n%-14s", "from outside")
	for s := range stateCount {
		fmt.Fprintf(&b, "%10s", s)
	}
	for _, f := range outside {
		fmt.Fprintf(&b, "\n%-14s", f)
		for s := range stateCount {
			b.WriteString(cell(10, c.outside[f][s], meetsState(f, s)))
		}
	}
	b.WriteByte('\n')
	return b.String()
}

func cell(width, n int, possible bool) string {
	if !possible && n == 0 {
		return fmt.Sprintf("%*s", width, ".")
	}
	return fmt.Sprintf("%*d", width, n)
}

// Zeros names what no fault has hit although it could.
func (c *Coverage) Zeros() (zeros []string) {
	for f := NoFault + 1; f < faultCount; f++ {
		for t := range transitionCount {
			if f.ofProcess() && meets(f, t) && c.processes[f][t] == 0 {
				zeros = append(zeros, fmt.Sprintf("%s x %s", f, t))
			}
		}
		for s := range stateCount {
			if !f.ofProcess() && meetsState(f, s) && c.outside[f][s] == 0 {
				zeros = append(zeros, fmt.Sprintf("%s x %s", f, s))
			}
		}
	}
	return zeros
}

// meets tells whether a process fault can hit an effect. The answer to a reading cannot be
// lost in a way of its own: it is as if the reading had failed.
func meets(f Fault, t Transition) bool {
	return f != LostAnswer || t != Read && t != Describe
}

// metIn are the states in which each fault from outside must have struck. In the others it
// cannot, or only by rare accidents: a run fails while its guard is blocked, say, because
// somebody had deleted it.
var metIn = map[Fault][]State{
	TickTwice:     {Absent, Blocked, Free, Drains, Held, Awaited, Stopping, Overdue, Marked},
	TickLate:      {Absent, Blocked, Free, Drains, Held, Awaited, Stopping, Overdue, Marked},
	TickDropped:   {Absent, Blocked, Free, Drains, Held, Awaited, Stopping, Overdue, Marked},
	RunFails:      {Free, Held, Awaited, Stopping}, // free: of policy Allow
	RunCrashes:    {Free, Held, Awaited, Stopping},
	RunHangs:      {Free, Held, Awaited, Stopping, Overdue},
	RunBroken:     {Free, Held, Awaited, Stopping},
	BeatLate:      {Held, Awaited, Stopping, Overdue},
	StatusDropped: {Absent, Blocked, Free, Drains, Held, Awaited, Stopping, Marked},
	StatusTwice:   {Absent, Blocked, Free, Drains, Held, Awaited, Stopping, Marked},
	StatusLate:    {Absent, Blocked, Free, Drains, Held, Awaited, Stopping, Marked},
	Aborted:       {Free, Drains, Held, Awaited, Stopping, Marked},
	GuardDeleted:  {Blocked, Free, Drains, Held, Awaited, Stopping, Overdue, Marked},
	Redeployed:    {Absent, Blocked, Free, Drains, Held, Awaited, Stopping, Overdue, Marked},
	Removed:       {Absent, Blocked, Free, Drains, Held, Awaited, Stopping, Overdue, Marked},
	RowDeleted:    {Free, Drains, Held, Awaited, Stopping, Overdue, Marked},
	StopDenied:    {Marked},
	StartRefused:  {Free, Held, Awaited, Stopping},
	UnseenYet:     {Free, Drains, Held, Marked},
}

func meetsState(f Fault, s State) bool { return slices.Contains(metIn[f], s) }
