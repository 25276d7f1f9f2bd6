package cost

import "time"

// Alternative is another way to have the same runs, and what it leaves out.
type Alternative struct {
	Name              string  `json:"name"`
	USDPerMillionRuns float64 `json:"usdPerMillionRuns"`
	Note              string  `json:"note"`
}

const (
	temporalAction = 50e-6 // US dollars an action, Temporal Cloud
	pollEvery      = 3 * time.Second
)

// alternatives are side by side with what a run costs here.
func alternatives(j Job) []Alternative {
	// Its ticks wait where ours are skipped: of a run's time, by as many as come meanwhile.
	waiting := 0.0
	if j.SkipShare < 1 {
		waiting = j.SkipShare / (1 - j.SkipShare) * j.RunTime.Seconds() / 2
	}
	polls := waiting / pollEvery.Seconds()
	return []Alternative{
		{
			"Temporal Cloud", 3 * temporalAction * 1e6,
			"three actions a run: the schedule's, the workflow's start and an activity; its workers, and the plan's minimum, apart",
		},
		{
			"polling semaphore in Step Functions", (4*transition + 2*polls*transition + schedulerInvocation) * 1e6,
			"four transitions a run, and two for every 3 s that a tick waits: it queues what cannot run, without end where a job outgrows its interval",
		},
		{
			"nothing: EventBridge Scheduler starts the job's Lambda function", (schedulerInvocation + lambdaRequest) * 1e6,
			"copies overlap, missed ticks and skips are on no record, and every overlapping copy's Lambda time is paid",
		},
	}
}
