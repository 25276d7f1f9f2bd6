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

// Scheduler estimates what a scheduler costs a month however few jobs it has.
func Scheduler() (lines []Line, usdPerMonth float64) {
	for _, l := range []Line{
		{Item: "EventBridge Scheduler invocations", PerMonth: sweepsPerMonth, UnitPriceUSD: schedulerInvocation},
		{Item: "Lambda requests", PerMonth: sweepsPerMonth, UnitPriceUSD: lambdaRequest},
		{Item: "Lambda GB-seconds", PerMonth: sweepsPerMonth * functionGB * sweepTime.Seconds(), UnitPriceUSD: lambdaGBSecond},
		{Item: "DynamoDB read units", PerMonth: sweepsPerMonth * schedulerRead, UnitPriceUSD: dynamoReadUnit},
		{Item: "CloudWatch Logs, GB", PerMonth: gb((sweepOwnLog + platformLog) * sweepsPerMonth), UnitPriceUSD: logGB},
		{Item: "CloudWatch alarms", PerMonth: AlarmsPerScheduler + secondMetrics, UnitPriceUSD: alarm},
		{Item: "CloudWatch dashboard", PerMonth: 1, UnitPriceUSD: dashboard},
	} {
		l.USDPerMonth = l.PerMonth * l.UnitPriceUSD
		usdPerMonth += l.USDPerMonth
		lines = append(lines, l)
	}
	return lines, usdPerMonth
}
