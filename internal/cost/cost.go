// Package cost says what a job costs on AWS: counted requests, transitions, invocations and
// bytes, times public prices. A test holds the counts against those of the local cloud; the
// times that Lambda bills are assumed.
package cost

import (
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Job is what costs depend on.
type Job struct {
	TicksPerMonth float64
	RunTime       time.Duration // of a run
	MaxRunTime    time.Duration // the job's own bound; it decides on the shape of the machine
	SkipShare     float64       // of the ticks: 0 to 1
	Chain         bool          // the work is a chain of the user's, whose own states are not counted
}

// Beats is how many beats a run sends, and whether its machine has a heartbeat at all.
func (j Job) Beats() (n int, beats bool) {
	if schema.FitsWithoutBeats(j.MaxRunTime, schema.DefaultLease) {
		return 0, false
	}
	return int(j.RunTime / schema.DefaultRenewal), true
}

// TransitionsPerRun counts the states that a run enters: the work and its settling; with a
// heartbeat also the Parallel around them, the first wait and the end of the job's branch, and
// two a beat. A chain has the same five around it, with a clock where it needs no heartbeat, and
// its own states come on top.
func (j Job) TransitionsPerRun() int {
	beats, withBeats := j.Beats()
	n := 2
	if withBeats || j.Chain {
		n = 5 + 2*beats
	}
	return n
}

// RequestsPerRun counts the requests to the table: a claim, a settling, one a beat.
func (j Job) RequestsPerRun() int {
	beats, _ := j.Beats()
	return 2 + beats
}

// RequestsPerSkip counts those of a skipped tick: the blind claim that is refused, and the skip.
const RequestsPerSkip = 2

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
	RunsPerMonth      float64 `json:"runsPerMonth"`
	SkipsPerMonth     float64 `json:"skipsPerMonth"`
	TransitionsPerRun int     `json:"transitionsPerRun"`
	RequestsPerRun    int     `json:"requestsPerRun"`
	RequestsPerSkip   int     `json:"requestsPerSkip"`
	USDPerMillionRuns float64 `json:"usdPerMillionRuns"` // without the monthly units, and without skips
	USDPerMonth       float64 `json:"usdPerMonth"`
	Lines             []Line  `json:"lines"`
	// Alternatives are what others ask for the same runs.
	Alternatives []Alternative `json:"alternatives"`
	PricesOf     string        `json:"pricesOf"`
	Region       string        `json:"region"`
}

// Of estimates.
func Of(j Job) Estimate {
	beats, _ := j.Beats()
	e := Estimate{
		SkipsPerMonth:     j.TicksPerMonth * j.SkipShare,
		TransitionsPerRun: j.TransitionsPerRun(),
		RequestsPerRun:    j.RequestsPerRun(),
		RequestsPerSkip:   RequestsPerSkip,
		Alternatives:      alternatives(j),
		PricesOf:          PricesOf,
		Region:            Region,
	}
	e.RunsPerMonth = j.TicksPerMonth - e.SkipsPerMonth
	b := float64(beats)
	for _, l := range []Line{
		{Item: "EventBridge Scheduler invocations", PerRun: 1, PerSkip: 1, UnitPriceUSD: schedulerInvocation},
		// The dispatcher; the settler, and once more for the execution's status event.
		{Item: "Lambda requests", PerRun: 3 + b, PerSkip: 1, UnitPriceUSD: lambdaRequest},
		{
			Item:   "Lambda GB-seconds",
			PerRun: functionGB * (dispatchTime + settleTime + statusTime + time.Duration(beats)*beatTime).Seconds(), PerSkip: functionGB * skipTime.Seconds(),
			UnitPriceUSD: lambdaGBSecond,
		},
		// Two transactions of two items, each under 1 KB: two units an item. A beat is one plain
		// write. The skip's refused transaction costs as much as one that went through.
		{Item: "DynamoDB write units", PerRun: 8 + b, PerSkip: 8, UnitPriceUSD: dynamoWriteUnit},
		{Item: "DynamoDB read units", PerMonth: sweepsPerMonth, UnitPriceUSD: dynamoReadUnit}, // the sentinel's look
		{Item: "DynamoDB storage, GB-months", PerRun: rowGBMonths, PerSkip: rowGBMonths, UnitPriceUSD: dynamoGBMonth},
		{Item: "Step Functions transitions", PerRun: float64(e.TransitionsPerRun), UnitPriceUSD: transition},
		{
			Item:    "CloudWatch Logs, GB",
			PerRun:  gb(DispatchLog + deliveryLog + SettleLog + 3*platformLog + b*(BeatLog+platformLog)),
			PerSkip: gb(SkipLog + deliveryLog + platformLog), PerMonth: gb(SweepLog * sweepsPerMonth),
			UnitPriceUSD: logGB,
		},
		{Item: "CloudWatch custom metrics", PerMonth: metricMonths(e, j.RunTime), UnitPriceUSD: customMetric},
		{Item: "CloudWatch alarms", PerMonth: AlarmsPerJob, UnitPriceUSD: alarm},
	} {
		l.USDPerMillionRuns = l.PerRun * 1e6 * l.UnitPriceUSD
		l.USDPerMonth = (l.PerRun*e.RunsPerMonth + l.PerSkip*e.SkipsPerMonth + l.PerMonth) * l.UnitPriceUSD
		e.USDPerMillionRuns += l.USDPerMillionRuns
		e.USDPerMonth += l.USDPerMonth
		e.Lines = append(e.Lines, l)
	}
	return e
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
