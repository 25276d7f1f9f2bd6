package cronfence

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// JobAlarms says which alarms a job has, and when they go off. The zero value is all four
// with their defaults.
type JobAlarms struct {
	// Off leaves all four out. Default: false.
	Off bool
	// OverdueOff leaves out the page for a job that has not succeeded when it should have:
	// locked out, failing again and again, or without ticks. Default: false, but a disabled
	// job has none.
	OverdueOff bool
	// OverdueBy is how much later than expected a success may be, in whole seconds. It is
	// expected a maximum run time after the first planned tick behind the last success, and
	// two intervals later, at most the start deadline and 5 minutes. Default: 0.
	OverdueBy time.Duration
	// FailedOff leaves out the page for failed runs. Default: false.
	FailedOff bool
	// Failures in a row set the alarm off. A success ends it, silence does not. More than one are
	// so many stretches of time in a row with failures alone, each as long as the interval or, where
	// that is longer, as the maximum run time and the drain time in whole intervals: an alarm
	// cannot know how long a run takes. An alarm looks back seven days (a day, if a stretch is under
	// an hour): fewer are enough where more do not fit, one where runs make a stretch longer than a day. Default: 1.
	Failures int
	// RatioOff leaves out the notice of runs that come near their interval. Default: false.
	RatioOff bool
	// Ratio of run time to interval that sets the alarm off. Default: 0.8.
	Ratio float64
	// SkipsOff leaves out the notice of skipped ticks. Default: false.
	SkipsOff bool
	// Skips in a row set the alarm off, where the schedule's ticks lie close together. An alarm looks
	// back seven days (a day, if the interval is under an hour), so fewer are enough for jobs rarer than
	// every third day and for bunches of fewer ticks that far apart. Default: 3.
	Skips int
}

const (
	defaultRatio    = 0.8 // of the job's interval: a longer run will soon overlap
	defaultSkips    = 3   // two are usual for a run that overran once
	defaultFailures = 1
	maxInRow        = 60 // of periods of a minute to a day; more would say nothing

	// One long run is one alarm, and so are long runs on end and those around the threshold: the
	// alarm looks back three intervals, or three times so much at least.
	ratioPeriod  = 5 * time.Minute
	ratioPeriods = 3

	// A gauge is published by every sweep. Five points leave room for a sweep that is late;
	// they are also how long the sentinel may be silent.
	gaugePeriod  = time.Minute
	gaugePeriods = 5
)

// AlarmProps are the props of an alarm that is added to a job.
type AlarmProps struct {
	// Threshold is what the field of [JobAlarms] is: seconds for an overdue alarm, a count for
	// failed and skip alarms, a ratio. Default: that field's.
	Threshold float64
	// Topic is told when the alarm goes off. Default: the job's page topic for overdue and
	// failed alarms, its notice topic for the others.
	Topic awssns.ITopic
}

// Kinds of alarms, as their names have them and as the playbooks are called.
const (
	kindOverdue = "overdue"
	kindFailed  = "failed"
	kindRatio   = "ratio"
	kindSkips   = "skips"
)

// newAlarms makes the alarms of the job's props. Of a job without ticks no success is expected,
// and the sentinel publishes no gauge.
func (j *Job) newAlarms(a JobAlarms, disabled bool) {
	if a.Off {
		return
	}
	if !a.OverdueOff && !disabled {
		j.overdueAlarm = j.overdue("OverdueAlarm", kindOverdue, AlarmProps{Threshold: a.OverdueBy.Seconds()})
	}
	if !a.FailedOff {
		j.failedAlarm = j.failed("FailedAlarm", kindFailed, AlarmProps{Threshold: float64(a.Failures)})
	}
	if !a.RatioOff {
		j.ratioAlarm = j.ratio("RatioAlarm", kindRatio, AlarmProps{Threshold: a.Ratio})
	}
	if !a.SkipsOff {
		j.skipAlarm = j.skips("SkipAlarm", kindSkips, AlarmProps{Threshold: float64(a.Skips)})
	}
}

// AddOverdueAlarm adds an alarm for a success that is overdue by more than the threshold, in
// seconds, beside the one that the job has by default. Missing data sets it off: the gauge
// comes from the sentinel, which runs when the job does not.
func (j *Job) AddOverdueAlarm(id string, props *AlarmProps) awscloudwatch.Alarm {
	return j.overdue(id, id, j.added(id, kindOverdue, props))
}

// AddFailedAlarm adds an alarm for so many failed runs in a row. It stays until a run
// succeeds: missing data changes nothing.
func (j *Job) AddFailedAlarm(id string, props *AlarmProps) awscloudwatch.Alarm {
	return j.failed(id, id, j.added(id, kindFailed, props))
}

// AddRatioAlarm adds an alarm for runs that take so much of the job's interval or more, while
// they run or at their end.
func (j *Job) AddRatioAlarm(id string, props *AlarmProps) awscloudwatch.Alarm {
	return j.ratio(id, id, j.added(id, kindRatio, props))
}

// AddSkipAlarm adds an alarm for so many skipped ticks in a row.
func (j *Job) AddSkipAlarm(id string, props *AlarmProps) awscloudwatch.Alarm {
	return j.skips(id, id, j.added(id, kindSkips, props))
}

func (j *Job) overdue(id, name string, p AlarmProps) awscloudwatch.Alarm {
	return j.alarm(id, name, p, j.page, &awscloudwatch.AlarmProps{
		AlarmDescription:   jsii.String(j.alarmText(kindOverdue, overdueText(j.name))),
		Metric:             j.MetricOverdue(every(gaugePeriod)),
		Threshold:          jsii.Number(p.Threshold),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD,
		EvaluationPeriods:  jsii.Number(gaugePeriods),
		TreatMissingData:   awscloudwatch.TreatMissingData_BREACHING,
	})
}

func (j *Job) failed(id, name string, p AlarmProps) awscloudwatch.Alarm {
	look, w := every(time.Minute), window{period: time.Minute, periods: 1, inRow: 1}
	if n := int(orNumber(p.Threshold, defaultFailures)); n > 1 {
		w = failureWindow(j.interval, j.spec.MaxRun()+j.spec.Drain(), n)
		look = every(w.period)
		look.Statistic = jsii.String(statisticMinimum) // a success in a period ends the row: failures before it do not count
	}
	return j.alarm(id, name, p, j.page, &awscloudwatch.AlarmProps{
		AlarmDescription:   jsii.String(j.alarmText(kindFailed, failedText(j.name, w.inRow))),
		Metric:             j.MetricFailed(look),
		Threshold:          jsii.Number(1),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		EvaluationPeriods:  jsii.Number(float64(w.periods)),
		DatapointsToAlarm:  jsii.Number(float64(w.inRow)),
		TreatMissingData:   awscloudwatch.TreatMissingData_IGNORE,
	})
}

func (j *Job) ratio(id, name string, p AlarmProps) awscloudwatch.Alarm {
	threshold := orNumber(p.Threshold, defaultRatio)
	period := max(ratioPeriod, windowOf(evenly(j.interval, 1), 1).period)
	return j.alarm(id, name, p, j.notice, &awscloudwatch.AlarmProps{
		AlarmDescription:   jsii.String(j.alarmText(kindRatio, ratioText(j.name, threshold))),
		Metric:             j.MetricRatio(every(period)),
		Threshold:          &threshold,
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		EvaluationPeriods:  jsii.Number(ratioPeriods),
		DatapointsToAlarm:  jsii.Number(1),
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
}

func (j *Job) skips(id, name string, p AlarmProps) awscloudwatch.Alarm {
	w := windowOf(j.apart, int(orNumber(p.Threshold, defaultSkips)))
	return j.alarm(id, name, p, j.notice, &awscloudwatch.AlarmProps{
		AlarmDescription:   jsii.String(j.alarmText(kindSkips, skipsText(j.name, w.inRow))),
		Metric:             j.MetricSkipped(every(w.period)),
		Threshold:          jsii.Number(1),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		EvaluationPeriods:  jsii.Number(float64(w.periods)),
		DatapointsToAlarm:  jsii.Number(float64(w.inRow)),
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
}

// alarm makes an alarm of the job that tells p.Topic, or else the topic of its kind.
func (j *Job) alarm(id, name string, p AlarmProps, topic awssns.ITopic, props *awscloudwatch.AlarmProps) awscloudwatch.Alarm {
	if p.Topic != nil {
		topic = p.Topic
	}
	props.AlarmName = jsii.String(alarmName(j.spec.Scheduler, j.name, name))
	return newAlarm(j, id, topic, props)
}

func newAlarm(scope constructs.Construct, id string, topic awssns.ITopic, props *awscloudwatch.AlarmProps) awscloudwatch.Alarm {
	alarm := awscloudwatch.NewAlarm(scope, &id, props)
	if topic != nil {
		alarm.AddAlarmAction(awscloudwatchactions.NewSnsAction(topic))
	}
	return alarm
}

// alarmName is unique in an account: neither a scheduler's name nor a job's has a slash, and
// a scheduler's own alarms have a part less. The topics' policies match its beginning.
func alarmName(scheduler string, parts ...string) string {
	name := schema.AlarmPrefix + scheduler
	for _, part := range parts {
		name += "/" + part
	}
	return name
}

func orNumber(n, byDefault float64) float64 {
	if n == 0 {
		return byDefault
	}
	return n
}
