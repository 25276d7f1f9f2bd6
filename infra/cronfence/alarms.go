package cronfence

import (
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/schedule"
)

const (
	ratioThreshold   = 0.8             // of the job's interval: a longer run will soon overlap
	ratioPeriod      = 5 * time.Minute // so that one long run is one alarm, not one a beat
	consecutiveSkips = 3               // two are usual for a run that overran once
)

func (j *Job) newAlarms(s schedule.Schedule) {
	j.ratioAlarm = awscloudwatch.NewAlarm(j, jsii.String("RatioAlarm"), &awscloudwatch.AlarmProps{
		AlarmName: jsii.String(j.alarmName("ratio")),
		AlarmDescription: jsii.String(fmt.Sprintf(
			"A run of job %s took %v of its interval or more: the next tick is about to find it running.", j.name, ratioThreshold)),
		Metric:             j.metric(metricRatio, "Maximum", ratioPeriod),
		Threshold:          jsii.Number(ratioThreshold),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		EvaluationPeriods:  jsii.Number(1),
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
	w := skipWindow(typicalInterval(s.Next))
	j.skipAlarm = awscloudwatch.NewAlarm(j, jsii.String("SkipAlarm"), &awscloudwatch.AlarmProps{
		AlarmName: jsii.String(j.alarmName("skips")),
		AlarmDescription: jsii.String(fmt.Sprintf(
			"%d ticks of job %s in a row were skipped: its runs take longer than its interval, or one hangs.", w.skips, j.name)),
		Metric:             j.metric(metricSkipped, "Sum", w.period),
		Threshold:          jsii.Number(1),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		EvaluationPeriods:  jsii.Number(float64(w.periods)),
		DatapointsToAlarm:  jsii.Number(float64(w.skips)),
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
}

// alarmName is unique in an account: neither a scheduler's name nor a job's has a slash.
func (j *Job) alarmName(kind string) string {
	return "cronfence/" + j.spec.Scheduler + "/" + j.name + "/" + kind
}

// Names that the functions publish metrics under.
const (
	metricNamespace = "Cronfence"
	metricRatio     = "Ratio"
	metricSkipped   = "Skipped"
)

func (j *Job) metric(name, statistic string, period time.Duration) awscloudwatch.Metric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace:     jsii.String(metricNamespace),
		MetricName:    &name,
		DimensionsMap: &map[string]*string{"Scheduler": jsii.String(j.spec.Scheduler), "Job": &j.name},
		Statistic:     &statistic,
		Period:        duration(period),
	})
}

// window is the look of an alarm back on a job's ticks.
type window struct {
	period         time.Duration
	periods, skips int
}

// skipWindow puts each tick into a period of its own and looks back on as many as hold
// the skips in a row. CloudWatch looks back a day with periods under an hour and seven
// days with longer ones, and no period is longer than a day: of a rare job fewer skips
// are enough.
func skipWindow(interval time.Duration) window {
	if interval <= 0 || interval > 7*day {
		return window{period: day, periods: 1, skips: 1}
	}
	period := (interval + time.Minute - 1).Truncate(time.Minute)
	if period <= day {
		limit := day
		if period >= time.Hour {
			limit = 7 * day
		}
		n := min(consecutiveSkips, int(limit/period))
		return window{period: period, periods: n, skips: n}
	}
	apart := int(interval.Round(day) / day)
	n := min(consecutiveSkips, 6/apart+1)
	return window{period: day, periods: (n-1)*apart + 1, skips: n}
}

// median is the middle of the values, the smaller one of two; 0 when there are none.
func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[(len(sorted)-1)/2]
}
