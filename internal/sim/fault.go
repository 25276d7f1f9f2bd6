package sim

// Fault is something that goes wrong in a simulated world.
type Fault uint8

// The faults of a process strike at one of its effects: a request to the store or to Step
// Functions.
const (
	NoFault     Fault = iota
	CrashBefore       // the process dies, the effect never happens
	CrashAfter        // the effect happens, the process dies without its answer
	LostAnswer        // the effect happens, the process gets an error, or the request is sent again
	Busy              // nothing happens: throttled
	Paused            // the process stands still for seconds before its effect, often past its end
	Skewed            // the process' clock is off by as much as the margin allows

	// The others strike from outside, whatever the job's guard is doing.
	TickTwice     // a tick is delivered more than once
	TickLate      // a tick is delivered minutes late, past others, perhaps past its start deadline
	TickDropped   // a tick is never delivered
	RunFails      // the job's own error
	RunCrashes    // the job's process dies: nobody knows whether its work is over
	RunHangs      // the job goes on until its time is over
	RunBroken     // States.Runtime: no state of the machine can catch it
	BeatLate      // Step Functions or Lambda hold a beat back past the lease
	StatusDropped // a status event is lost
	StatusTwice   // a status event is delivered twice
	StatusLate    // a status event comes minutes late
	Aborted       // somebody stops the execution
	GuardDeleted  // somebody deletes the guard
	Redeployed    // the job is deployed with another spec, while ticks of the old one are on their way
	Removed       // the job's schedule is deleted or disabled, and there again minutes later
	RowDeleted    // somebody deletes a ledger row, most often the newest
	StopDenied    // StopExecution is refused
	StartRefused  // StartExecution is refused for good, for a quarter of an hour
	UnseenYet     // DescribeExecution does not know a young execution yet
	faultCount
)

var faultNames = [faultCount]string{
	NoFault: "none", CrashBefore: "crash before", CrashAfter: "crash after", LostAnswer: "lost answer",
	Busy: "throttled", Paused: "paused", Skewed: "clock skew",
	TickTwice: "tick twice", TickLate: "tick late", TickDropped: "tick dropped",
	RunFails: "run fails", RunCrashes: "run crashes", RunHangs: "run hangs", RunBroken: "runtime error",
	BeatLate: "beat late", StatusDropped: "status dropped", StatusTwice: "status twice", StatusLate: "status late",
	Aborted: "aborted", GuardDeleted: "guard deleted", RowDeleted: "row deleted", Redeployed: "redeployed", Removed: "removed",
	StopDenied: "stop denied", StartRefused: "start refused", UnseenYet: "not seen yet",
}

func (f Fault) String() string { return faultNames[f] }

// ofProcess tells the faults that strike at an effect from those that strike from outside.
func (f Fault) ofProcess() bool { return f > NoFault && f <= Skewed }

// injector decides where faults strike. Every choice comes from the world's own source of
// randomness, so that a seed tells the whole story.
type injector struct {
	w     *World
	every int    // one effect in so many is hit
	first int    // the effect that is hit for certain
	seen  int    // effects so far
	until Millis // no fault strikes later: what follows must come right by itself
	hit   int    // faults that took effect
}

// strike draws the fault of an effect. Reads and looks cannot be lost: that is Busy.
func (in *injector) strike(e effect) Fault {
	if in.w.clock > in.until {
		return NoFault
	}
	in.seen++
	if in.seen != in.first && in.w.rng.IntN(in.every) != 0 {
		return NoFault
	}
	f := CrashBefore + Fault(in.w.rng.IntN(int(Paused-CrashBefore)+1))
	if f == LostAnswer && e.reads() {
		return Busy
	}
	return f
}

// chance is true once in n times while faults strike.
func (in *injector) chance(n int) bool {
	return in.w.clock <= in.until && in.w.rng.IntN(n) == 0
}

// took counts a fault that took effect at an effect of a process.
func (in *injector) took(f Fault, t Transition) {
	in.hit++
	in.w.coverage.processes[f][t]++
}

// struck counts a fault from outside by what the guard was doing.
func (in *injector) struck(f Fault) {
	in.hit++
	in.w.coverage.outside[f][in.w.state()]++
	if in.w.tracing {
		in.w.log("world", "FAULT %s, guard %s", f, in.w.state())
	}
}
