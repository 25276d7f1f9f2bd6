// Package cost says what a job costs on AWS: counted requests, transitions, invocations and
// bytes, times public prices. A test holds the counts against those of the local cloud; the
// times that Lambda bills are assumed.
package cost

import "time"

// Line is one thing that is paid for.
type Line struct {
	Item string `json:"item"`
	// PerRun and PerSkip are units for one run and one skipped tick, PerMonth those that come
	// with the job and do not grow with each.
	PerRun   float64 `json:"perRun"`
	PerSkip  float64 `json:"perSkip"`
	PerMonth float64 `json:"perMonth"`
	// UnitPriceUSD is the price of one unit.
	UnitPriceUSD float64 `json:"unitPriceUsd"`
	// USDPerMillionRuns is what a million runs cost, USDPerMonth what the job's ticks and its
	// monthly units cost.
	USDPerMillionRuns float64 `json:"usdPerMillionRuns"`
	USDPerMonth       float64 `json:"usdPerMonth"`
}

// Estimate is what a job costs. Its JSON is what the command line writes.
type Estimate struct {
	Target            Target  `json:"target"`
	Shape             string  `json:"shape"`
	MaxRunTimeSeconds float64 `json:"maxRunTimeSeconds"`
	ChainStates       int     `json:"chainStates"` // of the transitions, the user's own
	BeatsPerRun       int     `json:"beatsPerRun"`
	RunsPerMonth      float64 `json:"runsPerMonth"`
	SkipsPerMonth     float64 `json:"skipsPerMonth"`
	TransitionsPerRun int     `json:"transitionsPerRun"`
	RequestsPerRun    int     `json:"requestsPerRun"`
	RequestsPerSkip   int     `json:"requestsPerSkip"`
	// USDPerMillionRuns and USDPerMillionSkips are of these alone, without monthly units.
	USDPerMillionRuns  float64 `json:"usdPerMillionRuns"`
	USDPerMillionSkips float64 `json:"usdPerMillionSkips"`
	// USDPerMonth is all that the job costs: its runs, its skips and USDPerMonthWatching, which is
	// its metrics, alarms and the sentinel's look.
	USDPerMonth         float64 `json:"usdPerMonth"`
	USDPerMonthWatching float64 `json:"usdPerMonthWatching"`
	Lines               []Line  `json:"lines"`
	// Scheduler is what comes on top, once for all jobs of a scheduler.
	Scheduler SchedulerCost `json:"scheduler"`
	// Alternatives are what others ask for the same ticks.
	Alternatives []Alternative `json:"alternatives"`
	Notes        []string      `json:"notes"` // what to know about these figures
	PricesOf     string        `json:"pricesOf"`
	Region       string        `json:"region"`
}

// Of estimates.
func Of(j Job) Estimate {
	if j.Target == "" {
		j.Target = Lambda
	}
	e := Estimate{
		Target:            j.Target,
		Shape:             j.Shape(),
		MaxRunTimeSeconds: j.MaxRunTime.Seconds(),
		ChainStates:       j.ChainStates,
		BeatsPerRun:       j.Beats(),
		RunsPerMonth:      j.TicksPerMonth * (1 - j.SkipShare),
		SkipsPerMonth:     j.TicksPerMonth * j.SkipShare,
		TransitionsPerRun: j.TransitionsPerRun(),
		RequestsPerRun:    j.RequestsPerRun(),
		RequestsPerSkip:   RequestsPerSkip,
		Scheduler:         Scheduler(),
		Notes:             []string{},
		PricesOf:          PricesOf,
		Region:            Region,
	}
	for _, l := range jobLines(j, e) {
		l.USDPerMillionRuns = l.PerRun * 1e6 * l.UnitPriceUSD
		l.USDPerMonth = (l.PerRun*e.RunsPerMonth + l.PerSkip*e.SkipsPerMonth + l.PerMonth) * l.UnitPriceUSD
		e.USDPerMillionRuns += l.USDPerMillionRuns
		e.USDPerMillionSkips += l.PerSkip * 1e6 * l.UnitPriceUSD
		e.USDPerMonth += l.USDPerMonth
		e.USDPerMonthWatching += l.PerMonth * l.UnitPriceUSD
		e.Lines = append(e.Lines, l)
	}
	e.Alternatives = alternatives(j, e)
	if j.Target == Chain && j.ChainStates == 0 {
		e.Notes = append(e.Notes, "The chain's own states are not counted: each that a run enters is a transition more.")
	}
	if note := shorter(j, e); note != "" {
		e.Notes = append(e.Notes, note)
	}
	return e
}

// jobLines are the things that are paid for, in units.
func jobLines(j Job, e Estimate) []Line {
	b := float64(e.BeatsPerRun)
	logsOfRun := gb(DispatchLog + deliveryLog + SettleLog + 3*platformLog + b*(BeatLog+platformLog))
	settling, writes, reads := settleTime, 8.0, 0.0
	if j.shared() { // a refused transaction and a read more
		settling, writes, reads = 2*settleTime, 12, 1
	}
	logsOfSkip := gb(SkipLog + deliveryLog + platformLog)
	logsOfMonth := gb(SweepLog * sweepsPerMonth)
	return []Line{
		{Item: "EventBridge Scheduler invocations", PerRun: 1, PerSkip: 1, UnitPriceUSD: schedulerInvocation},
		// The dispatcher; the settler, and once more for the execution's status event.
		{Item: "Lambda requests", PerRun: 3 + b, PerSkip: 1, UnitPriceUSD: lambdaRequest},
		{
			Item:   "Lambda GB-seconds",
			PerRun: functionGB * ((dispatchTime + settling + statusTime).Seconds() + b*beatTime.Seconds()), PerSkip: functionGB * skipTime.Seconds(),
			UnitPriceUSD: lambdaGBSecond,
		},
		// Two transactions of two items, each under 1 KB: two units an item. A beat is one plain
		// write. The skip's refused transaction costs as much as one that went through.
		{Item: "DynamoDB write units", PerRun: writes + b, PerSkip: 8, UnitPriceUSD: dynamoWriteUnit},
		{Item: "DynamoDB read units", PerRun: reads, PerMonth: sweepsPerMonth, UnitPriceUSD: dynamoReadUnit}, // the sentinel's look
		{Item: "DynamoDB storage, GB-months", PerRun: rowGBMonths, PerSkip: rowGBMonths, UnitPriceUSD: dynamoGBMonth},
		{Item: "Step Functions transitions", PerRun: float64(e.TransitionsPerRun), UnitPriceUSD: transition},
		{Item: "CloudWatch Logs, GB", PerRun: logsOfRun, PerSkip: logsOfSkip, PerMonth: logsOfMonth, UnitPriceUSD: logGB},
		{
			Item: "CloudWatch Logs stored, GB-months", PerRun: stored(logsOfRun), PerSkip: stored(logsOfSkip), PerMonth: stored(logsOfMonth),
			UnitPriceUSD: logGBMonth,
		},
		{Item: "CloudWatch custom metrics", PerMonth: metricMonths(e, j.RunTime), UnitPriceUSD: customMetric},
		{Item: "CloudWatch alarms", PerMonth: AlarmsPerJob, UnitPriceUSD: alarm},
	}
}

// metricMonths is how many metrics a job's come to that are charged for the hours in which they
// have a point: Overdue in every hour, Succeeded, Failed and RunTime where a run ends, Skipped
// where a tick comes, Ratio while runs go on. Of a job that goes well Missed and LeaseLost have
// none. Ticks and runs of the same hour are taken for as many hours: never too few of them.
func metricMonths(e Estimate, runTime time.Duration) float64 {
	share := func(hours float64) float64 { return min(1, hours/(24*daysPerMonth)) }
	ends, ticks := share(e.RunsPerMonth), share(e.RunsPerMonth+e.SkipsPerMonth)
	running := share(e.RunsPerMonth * float64(runTime/time.Hour+1))
	return 1 + 3*ends + ticks + running
}

func gb(bytes float64) float64 { return bytes / (1 << 30) }

// stored is how many GB-months logs come to that are kept for as long as the functions keep them.
func stored(gb float64) float64 { return gb * logCompressed * monthsKept }
