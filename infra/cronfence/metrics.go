package cronfence

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// MetricNamespace is the CloudWatch namespace of every metric of Cronfence.
const MetricNamespace = "Cronfence"

// Names of a job's metrics, each with the one dimension set (Scheduler, Job).
const (
	// MetricSucceeded counts runs that succeeded.
	MetricSucceeded = "Succeeded"
	// MetricFailed counts runs that failed, timed out, were aborted or lost their lease; a
	// success publishes 0.
	MetricFailed = "Failed"
	// MetricSkipped counts ticks that started nothing because of a run, or a guard that was
	// lost; those of a paused job are on record but not counted. A tick that is let in publishes 0.
	MetricSkipped = "Skipped"
	// MetricMissed counts ticks that never came, came too late or were never started.
	MetricMissed = "Missed"
	// MetricRunTime is how long runs took that came to an end by themselves, in seconds.
	MetricRunTime = "RunTime"
	// MetricRatio is the run time divided by the job's interval at that tick, also while the
	// run goes on: at every beat, and every minute.
	MetricRatio = "Ratio"
	// MetricOverdue is how many seconds ago the next success should have been, every minute;
	// 0 while it is in time or the job is paused.
	MetricOverdue = "Overdue"
	// MetricLeaseLost counts runs that lost their lease.
	MetricLeaseLost = "LeaseLost"
)

// MetricStopDenied counts runs that could not be stopped, of a whole scheduler: its one
// dimension set is (Scheduler).
const MetricStopDenied = "StopDenied"

const (
	dimensionScheduler = "Scheduler"
	dimensionJob       = "Job"

	statisticSum     = "Sum"
	statisticMaximum = "Maximum"
	statisticMinimum = "Minimum"

	metricPeriod = 5 * time.Minute
)

// Metric is a metric of the job by name. Default of opts: the sum of counts and the maximum
// of anything else, over 5 minutes.
func (j *Job) Metric(name string, opts *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return newMetric(name, map[string]string{dimensionScheduler: j.spec.Scheduler, dimensionJob: j.name}, opts)
}

// MetricSucceeded counts the job's runs that succeeded. Default: sum over 5 minutes.
func (j *Job) MetricSucceeded(opts *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return j.Metric(MetricSucceeded, opts)
}

// MetricFailed counts the job's runs that failed. Default: sum over 5 minutes.
func (j *Job) MetricFailed(opts *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return j.Metric(MetricFailed, opts)
}

// MetricSkipped counts the job's ticks that were skipped. Default: sum over 5 minutes.
func (j *Job) MetricSkipped(opts *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return j.Metric(MetricSkipped, opts)
}

// MetricMissed counts the job's ticks that no run came of. Default: sum over 5 minutes.
func (j *Job) MetricMissed(opts *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return j.Metric(MetricMissed, opts)
}

// MetricRunTime is how many seconds the job's runs took. Default: maximum over 5 minutes.
func (j *Job) MetricRunTime(opts *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return j.Metric(MetricRunTime, opts)
}

// MetricRatio is run time by interval. Default: maximum over 5 minutes.
func (j *Job) MetricRatio(opts *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return j.Metric(MetricRatio, opts)
}

// MetricOverdue is how many seconds the job's next success is overdue. Default: maximum over
// 5 minutes.
func (j *Job) MetricOverdue(opts *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return j.Metric(MetricOverdue, opts)
}

// MetricLeaseLost counts the job's runs that lost their lease. Default: sum over 5 minutes.
func (j *Job) MetricLeaseLost(opts *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return j.Metric(MetricLeaseLost, opts)
}

// MetricStopDenied counts the scheduler's runs that could not be stopped. Default: sum over
// 5 minutes.
func (s *Scheduler) MetricStopDenied(opts *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return newMetric(MetricStopDenied, map[string]string{dimensionScheduler: s.name}, opts)
}

func newMetric(name string, dimensions map[string]string, opts *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	metric := awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace:     jsii.String(MetricNamespace),
		MetricName:    &name,
		DimensionsMap: stringMap(dimensions),
		Statistic:     jsii.String(statisticOf(name)),
		Period:        duration(metricPeriod),
	})
	if opts == nil {
		return metric
	}
	return metric.With(opts)
}

func statisticOf(metric string) string {
	switch metric {
	case MetricRunTime, MetricRatio, MetricOverdue:
		return statisticMaximum
	}
	return statisticSum
}

// every is the options of a metric that an alarm looks at in such steps.
func every(period time.Duration) *awscloudwatch.MetricOptions {
	return &awscloudwatch.MetricOptions{Period: duration(period)}
}
