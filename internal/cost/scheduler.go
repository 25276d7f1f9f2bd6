package cost

import "time"

// What a sweep takes, assumed for few jobs; a hundred more add a request of some 10 ms.
const (
	sweepTime     = 60 * time.Millisecond
	sweepOwnLog   = 130.0 // bytes of the line on the sweep itself
	dashboard     = 3.00
	schedulerRead = 1 // unit a sweep: the list of guards
)

// AlarmsPerScheduler are those of a scheduler with default alarms. Its one metric, StopDenied, has a
// point where a stop was denied: it costs next to nothing.
const AlarmsPerScheduler = 4

// secondMetrics are those beyond the first that an alarm looks at: each is charged as an alarm. The
// silent sentinel's is invocations less errors. Of the lease-lost alarm, a query, a metric that has
// no points costs nothing.
const secondMetrics = 1

// SchedulerCost is what a scheduler costs a month however few jobs it has.
type SchedulerCost struct {
	USDPerMonth float64 `json:"usdPerMonth"`
	// USDPerMonthWithoutDashboard leaves out the dashboard, which is free among an account's
	// first three.
	USDPerMonthWithoutDashboard float64 `json:"usdPerMonthWithoutDashboard"`
	Lines                       []Line  `json:"lines"`
}

// Scheduler estimates what a scheduler costs.
func Scheduler() SchedulerCost {
	var c SchedulerCost
	logs := gb((sweepOwnLog + platformLog) * sweepsPerMonth)
	for _, l := range []Line{
		{Item: "EventBridge Scheduler invocations", PerMonth: sweepsPerMonth, UnitPriceUSD: schedulerInvocation},
		{Item: "Lambda requests", PerMonth: sweepsPerMonth, UnitPriceUSD: lambdaRequest},
		{Item: "Lambda GB-seconds", PerMonth: sweepsPerMonth * functionGB * sweepTime.Seconds(), UnitPriceUSD: lambdaGBSecond},
		{Item: "DynamoDB read units", PerMonth: sweepsPerMonth * schedulerRead, UnitPriceUSD: dynamoReadUnit},
		{Item: "CloudWatch Logs, GB", PerMonth: logs, UnitPriceUSD: logGB},
		{Item: "CloudWatch Logs stored, GB-months", PerMonth: stored(logs), UnitPriceUSD: logGBMonth},
		{Item: "CloudWatch alarms", PerMonth: AlarmsPerScheduler + secondMetrics, UnitPriceUSD: alarm},
		{Item: "CloudWatch dashboard", PerMonth: 1, UnitPriceUSD: dashboard},
	} {
		l.USDPerMonth = l.PerMonth * l.UnitPriceUSD
		c.USDPerMonth += l.USDPerMonth
		c.Lines = append(c.Lines, l)
	}
	c.USDPerMonthWithoutDashboard = c.USDPerMonth - dashboard
	return c
}
