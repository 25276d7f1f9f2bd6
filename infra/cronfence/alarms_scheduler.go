package cronfence

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// SchedulerAlarms are the alarms of a whole scheduler.
type SchedulerAlarms struct {
	// LeaseLost gives notice of a run that lost its lease.
	LeaseLost awscloudwatch.Alarm
	// StopDenied gives notice of a run that could not be stopped.
	StopDenied awscloudwatch.Alarm
	// DeadLetters pages for ticks and events that were given up.
	DeadLetters awscloudwatch.Alarm
	// SilentSentinel pages when no sweep has gone well for five minutes.
	SilentSentinel awscloudwatch.Alarm
	// Overdue, Failed, Ratio and Skips stand for those of the jobs; nil unless the scheduler
	// has shared alarms.
	Overdue, Failed, Ratio, Skips awscloudwatch.Alarm
}

const (
	// sharedSkips is the running ratio at which three ticks have found one run.
	sharedSkips = 3
	// sharedRatioPeriod is how far back the shared ratio alarms look, whatever the jobs' intervals:
	// long runs on end are one alarm for jobs that run every hour or more often.
	sharedRatioPeriod = time.Hour
)

func (s *Scheduler) newAlarms() {
	s.alarms = SchedulerAlarms{
		LeaseLost: s.contributors("LeaseLostAlarm", "lease-lost", s.notice, leaseLostText,
			MetricLeaseLost, metricPeriod, insights{threshold: 1}),
		StopDenied: s.alarm("StopDeniedAlarm", "stop-denied", s.notice, stopDeniedText, &awscloudwatch.AlarmProps{
			Metric: s.MetricStopDenied(nil), Threshold: jsii.Number(1), EvaluationPeriods: jsii.Number(1),
			TreatMissingData: awscloudwatch.TreatMissingData_NOT_BREACHING,
		}),
		DeadLetters: s.alarm("DeadLettersAlarm", "dead-letters", s.page, deadLettersText, &awscloudwatch.AlarmProps{
			Metric: s.deadLetters.MetricApproximateNumberOfMessagesVisible(nil), Threshold: jsii.Number(1), EvaluationPeriods: jsii.Number(1),
			// SQS says nothing of a queue that nobody used for hours.
			TreatMissingData: awscloudwatch.TreatMissingData_NOT_BREACHING,
		}),
		SilentSentinel: s.silentSentinel(),
	}
	if s.shared {
		s.sharedAlarms()
	}
}

// The texts of a scheduler's alarms.
const (
	leaseLostText   = "A run of the contributor's job lost its lease: its heartbeat did not come in time, and it was stopped."
	stopDeniedText  = "A run could not be stopped, so its job stays held: look for \"stop denied\" in the functions' logs."
	deadLettersText = "Ticks or events were given up and lie in the queue of dead letters."
	silentText      = "No sweep of the sentinel has gone well for five minutes: nobody finds dead holders, missed ticks and jobs that are overdue."
	overdueShared   = "No run of the contributor's job has succeeded when one should have: it is locked out, it fails again and again, or its ticks do not come."
	failedShared    = "A run of the contributor's job failed."
	ratioShared     = "A run of the contributor's job took 0.8 of its interval or more: the next tick is about to find it running."
	skipsShared     = "A run of the contributor's job took three of its intervals: three ticks in a row found it running."
)

// silentSentinel counts sweeps without an error: one that fails at once is as good as none.
func (s *Scheduler) silentSentinel() awscloudwatch.Alarm {
	return s.alarm("SilentSentinelAlarm", "silent-sentinel", s.page, silentText, &awscloudwatch.AlarmProps{
		Metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String("invocations - FILL(errors, 0)"),
			UsingMetrics: &map[string]awscloudwatch.IMetric{
				"invocations": s.sentinel.MetricInvocations(every(gaugePeriod)), "errors": s.sentinel.MetricErrors(every(gaugePeriod)),
			},
			Label:  jsii.String("sweeps that went well"),
			Period: duration(gaugePeriod),
		}),
		Threshold:          jsii.Number(1),
		ComparisonOperator: awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD,
		EvaluationPeriods:  jsii.Number(gaugePeriods),
		TreatMissingData:   awscloudwatch.TreatMissingData_BREACHING,
	})
}

// sharedAlarms makes one alarm a kind for all jobs. Metrics Insights sees three hours, so
// that a failure is told of but not kept in mind, and skips in a row are known by the ratio
// of the run that they found.
func (s *Scheduler) sharedAlarms() {
	s.alarms.Overdue = s.contributors("OverdueAlarm", kindOverdue, s.page, overdueShared, MetricOverdue, gaugePeriod,
		insights{threshold: 0, above: true, periods: gaugePeriods, missing: awscloudwatch.TreatMissingData_BREACHING})
	s.alarms.Failed = s.contributors("FailedAlarm", kindFailed, s.page, failedShared, MetricFailed, gaugePeriod,
		insights{threshold: 1, missing: awscloudwatch.TreatMissingData_IGNORE})
	s.alarms.Ratio = s.contributors("RatioAlarm", kindRatio, s.notice, ratioShared, MetricRatio, sharedRatioPeriod,
		insights{threshold: defaultRatio})
	s.alarms.Skips = s.contributors("SkipAlarm", kindSkips, s.notice, skipsShared, MetricRatio, sharedRatioPeriod,
		insights{threshold: sharedSkips})
}

// insights says when a Metrics Insights alarm goes off.
type insights struct {
	threshold float64
	above     bool // the threshold, instead of at it
	periods   int
	missing   awscloudwatch.TreatMissingData
}

// contributors makes an alarm over all jobs of the scheduler, each a contributor of its own
// from the moment its metric is there.
func (s *Scheduler) contributors(id, kind string, topic topic, text, metric string, period time.Duration, when insights) awscloudwatch.Alarm {
	function := "SUM"
	if statisticOf(metric) == statisticMaximum {
		function = "MAX"
	}
	props := &awscloudwatch.AlarmProps{
		Metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String(fmt.Sprintf(`SELECT %s(%s) FROM SCHEMA(%s, "%s", "%s") WHERE "%s" = '%s' GROUP BY "%s"`,
				function, metric, MetricNamespace, dimensionScheduler, dimensionJob, dimensionScheduler, s.name, dimensionJob)),
			UsingMetrics: &map[string]awscloudwatch.IMetric{},
			Label:        &metric,
			Period:       duration(period),
		}),
		Threshold:         &when.threshold,
		EvaluationPeriods: jsii.Number(float64(max(1, when.periods))),
		TreatMissingData:  when.missing,
	}
	if when.above {
		props.ComparisonOperator = awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD
	}
	if when.missing == "" {
		props.TreatMissingData = awscloudwatch.TreatMissingData_NOT_BREACHING
	}
	return s.alarm(id, kind, topic, text, props)
}

func (s *Scheduler) alarm(id, kind string, topic topic, text string, props *awscloudwatch.AlarmProps) awscloudwatch.Alarm {
	props.AlarmName = jsii.String(alarmName(s.name, kind))
	props.AlarmDescription = jsii.String(text + "\n" + commands(s.name, "JOB") + "\n" + playbook(kind))
	if props.ComparisonOperator == "" {
		props.ComparisonOperator = awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD
	}
	return newAlarm(s, id, topic, props)
}
