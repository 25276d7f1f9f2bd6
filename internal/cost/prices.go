package cost

import (
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// PricesOf and Region say which prices these are: public, on demand, beyond the free tiers.
// docs/cost.md names the page of each.
const (
	PricesOf = "2026-11"
	Region   = "us-east-1"
)

// Prices in US dollars of one unit.
const (
	schedulerInvocation = 1.00e-6
	lambdaRequest       = 0.20e-6
	lambdaGBSecond      = 0.0000133334 // arm64
	dynamoWriteUnit     = 0.625e-6
	dynamoReadUnit      = 0.125e-6
	dynamoGBMonth       = 0.25 + 0.20 // storage, and point-in-time recovery
	transition          = 25e-6
	logGB               = 0.50
	logGBMonth          = 0.03
	customMetric        = 0.30
	alarm               = 0.10
)

// AlarmsPerJob come with a job that keeps its default alarms.
const AlarmsPerJob = 4

// functionGB is the memory of Cronfence's functions.
const functionGB = 256.0 / 1024

// What Lambda bills, assumed: a transaction of DynamoDB takes about 25 ms, a write 8 ms. Cold starts
// are left out.
const (
	dispatchTime = 70 * time.Millisecond // a transaction and StartExecution
	skipTime     = 60 * time.Millisecond // two transactions
	beatTime     = 15 * time.Millisecond
	settleTime   = 35 * time.Millisecond
	statusTime   = 2 * time.Millisecond // asks nobody
)

// Bytes of log lines, as the functions write them for a job with a name of 20 letters; a test
// holds them against what was written. SweepLog is the sentinel's line on a job.
const (
	DispatchLog = 480.0
	SkipLog     = 480.0
	BeatLog     = 415.0
	SettleLog   = 620.0
	SweepLog    = 400.0
	deliveryLog = 160.0 // ids of the schedule and of its attempt in a line of the dispatcher; assumed
	platformLog = 700.0 // what Lambda writes itself around an invocation, in JSON; assumed
)

// sweepsPerMonth is how often the sentinel looks at every guard.
const sweepsPerMonth = daysPerMonth * float64(24*time.Hour/schema.Sweep)

// monthsKept is how long rows of the ledger and, by default, logs are kept.
const monthsKept = float64(schema.Retention/(24*time.Hour)) / daysPerMonth

// rowGBMonths is a row of the ledger for as long as it is kept.
const rowGBMonths = 450.0 / (1 << 30) * monthsKept

// logCompressed is what is left of a log's bytes in storage, as AWS's own calculator assumes.
const logCompressed = 0.15
