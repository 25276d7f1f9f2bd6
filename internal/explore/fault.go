package explore

import "fmt"

// Fault is something that goes wrong. Each one on a path counts against the bound.
type Fault uint8

// The faults of a process strike at one of its effects; the others from outside. A crash
// after an effect is a crash before the next one.
const (
	NoFault      Fault = iota
	Crash              // the process dies before an effect
	Busy               // throttled: nothing happens, the process gets an error
	LostAnswer         // the effect happens, the process gets an error
	Repeated           // the effect happens, its answer is lost and the SDK sends the request again later
	Paused             // the process stands still before an effect while time goes by
	LateAnswer         // the effect happens, the process stands still before it learns of it
	FastClock          // a process' clock is ahead by half the margin
	SlowClock          // a process' clock is behind by half the margin
	StaleLook          // DescribeExecution shows what was, not what is
	StopDenied         // StopExecution is refused
	StartRefused       // StartExecution is refused for good
	RunCrashes         // the job's task fails and nobody knows whether its work is over
	SettleLost         // the machine's settle step gives up
	Aborted            // somebody stops an execution
	TickTwice          // a tick is delivered once more
	TickLate           // a tick is delivered at any later instant
	TickDropped        // a tick is never delivered
	EventLate          // a status event comes at any later instant
	EventDropped       // a status event never comes
	BeatLate           // a beat comes at any later instant
	GuardDeleted       // somebody deletes the guard
	RowDeleted         // somebody deletes a ledger row
	faultCount
)

var faultNames = [faultCount]string{
	"none", "crash", "throttled", "lost answer", "request repeated", "paused", "answer late", "fast clock",
	"slow clock", "stale look", "stop denied", "start refused", "run crashes", "settle step lost", "aborted",
	"tick twice", "tick late", "tick dropped", "status event late", "status event dropped", "beat late",
	"guard deleted", "row deleted",
}

func (f Fault) String() string {
	if f < faultCount {
		return faultNames[f]
	}
	return fmt.Sprintf("Fault(%d)", uint8(f))
}

// allows tells whether the path may have the fault.
func (x *explorer) allows(s *state, f Fault) bool { return s.faults > 0 && x.allowed[f] }
