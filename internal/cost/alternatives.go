package cost

import "time"

// Alternative is another way to have the same ticks, counted as the job's own are: its runs, and
// what it does with the ticks that Cronfence skips; a chain's own states, and no other work of
// the job's.
type Alternative struct {
	Name               string  `json:"name"`
	USDPerMillionRuns  float64 `json:"usdPerMillionRuns"`
	USDPerMillionSkips float64 `json:"usdPerMillionSkips"`
	USDPerMonth        float64 `json:"usdPerMonth"` // of the job's runs and skips
	Note               string  `json:"note"`
}

// Temporal Cloud's pages on actions and on pricing: a scheduled start is three actions, an
// activity and each of its heartbeats one; the plan without a minimum adds a tenth.
const (
	temporalAction = 50e-6 // US dollars an action
	temporalPlan   = 1.10
)

// temporalBeats is how many heartbeats of an activity reach Temporal's server whose death is to be
// found as soon as here, so with the lease for its heartbeat timeout: its SDKs send one in four
// fifths of that, and in a minute at most, by the defaults of their workers.
func temporalBeats(j Job) int {
	if !j.HasBeats() {
		return 0
	}
	return int(j.RunTime / min(j.lease()*4/5, time.Minute))
}

// alternatives are side by side with what the job's ticks cost here.
func alternatives(j Job, e Estimate) []Alternative {
	// A tick that is skipped here waits there, on average for half of the run that it meets.
	run, skip := polled(0), polled(j.RunTime/2)
	own := float64(j.ChainStates)
	run.transitions += 3 + own // the work, the release, the end
	run.writes++
	alone := schedulerInvocation + own*transition
	all := []Alternative{
		{
			Name:              "Temporal Cloud",
			USDPerMillionRuns: (3 + max(1, own) + float64(temporalBeats(j))) * temporalAction * temporalPlan * 1e6,
			Note: "four actions a run: two of the schedule, the workflow's start, an activity (of a chain one for each of its states); and where a run beats here one for each heartbeat, " +
				"as often as its SDKs send them whose heartbeat timeout is the lease: after four fifths of it, a minute at most. " +
				"A tick that is skipped is taken for none. With the tenth that the Developer plan adds (Business: 500 USD a month at least); storage and your workers apart.",
		},
		{
			Name:               "polling semaphore in Step Functions",
			USDPerMillionRuns:  (schedulerInvocation + run.usd()) * 1e6,
			USDPerMillionSkips: (schedulerInvocation + skip.usd()) * 1e6,
			Note: "AWS's own sample: five transitions a run; a tick that finds it taken polls for half a run, on average, and is taken to give up then. " +
				"The sample itself never gives up: where a job outgrows its interval its queue grows without end. No record, no alarm, no word from a dead holder.",
		},
		{
			Name:               "nothing but EventBridge Scheduler",
			USDPerMillionRuns:  alone * 1e6,
			USDPerMillionSkips: alone * 1e6,
			Note: "it starts the work itself. Copies overlap: what is skipped here runs there, and the work of each copy is paid; " +
				"missed ticks and skips are on no record.",
		},
	}
	for i, a := range all {
		all[i].USDPerMonth = (a.USDPerMillionRuns*e.RunsPerMonth + a.USDPerMillionSkips*e.SkipsPerMonth) / 1e6
	}
	return all
}

// used is what a semaphore's execution uses.
type used struct{ transitions, writes, reads float64 }

func (u used) usd() float64 {
	return u.transitions*transition + u.writes*dynamoWriteUnit + u.reads*dynamoReadUnit
}

// polled counts the attempts of AWS's sample at a lock that comes free after a wait, the one that
// gets it or gives up included: one at once, six retries at twice the distance each, then a look
// at the lock, a choice, a wait of 3 s, and the same again. A retry is a transition.
func polled(wait time.Duration) used {
	const retries, between = 6, 3 * time.Second
	u := used{transitions: 2, writes: 1} // the Parallel around it, and the first attempt
	for waited := time.Duration(0); ; {
		delay := time.Second
		for range retries {
			if waited += delay; waited-delay >= wait {
				return u
			}
			u.transitions++
			u.writes++
			delay *= 2
		}
		if waited >= wait {
			return u
		}
		waited += between
		u.transitions += 4 // the look, the choice, the wait, the attempt
		u.writes++
		u.reads += 0.5 // eventually consistent
	}
}
