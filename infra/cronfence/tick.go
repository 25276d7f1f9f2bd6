package cronfence

import (
	"errors"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

var errNoSchedule = errors.New("schedule: none given: must be one of package schedule, such as schedule.Daily(2, 0, \"Europe/Berlin\")")

const (
	maxEventAge     = day // EventBridge Scheduler's limits
	deliveryRetries = 185
)

// newSchedule delivers the job's ticks to the dispatcher, each with the job's spec and
// with the context attributes that EventBridge Scheduler fills in. A tick past its start
// deadline would only be recorded as Expired, so it is not delivered any more.
func (j *Job) newSchedule(props *JobProps) {
	s := props.Scheduler
	input, err := tickInput(j.spec)
	if err != nil { // the spec was checked
		panic(err)
	}
	state := "ENABLED"
	if props.Disabled {
		state = "DISABLED"
	}
	j.schedule = awsscheduler.NewCfnSchedule(j, jsii.String("Schedule"), &awsscheduler.CfnScheduleProps{
		Name:                       jsii.String(schema.ScheduleName(s.name, j.name)),
		GroupName:                  s.groupName,
		Description:                jsii.String(description(props, j.name)),
		ScheduleExpression:         jsii.String(j.spec.Schedule),
		ScheduleExpressionTimezone: jsii.String(j.spec.Timezone),
		StartDate:                  optional(j.spec.Start),
		EndDate:                    optional(j.spec.End),
		State:                      jsii.String(state),
		FlexibleTimeWindow:         flexibleWindow(props.Spread),
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn:              s.dispatcher.FunctionArn(),
			RoleArn:          s.scheduleRole.RoleArn(),
			Input:            &input,
			DeadLetterConfig: &awsscheduler.CfnSchedule_DeadLetterConfigProperty{Arn: s.deadLetters.QueueArn()},
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{
				MaximumEventAgeInSeconds: jsii.Number(min(j.spec.StartDeadline(), maxEventAge).Seconds()),
				MaximumRetryAttempts:     jsii.Number(deliveryRetries),
			},
		},
	})
	// No tick may come before the role can invoke and the dispatcher can write.
	j.schedule.Node().AddDependency(s.scheduleRole, s.dispatcher)
}

func description(props *JobProps, job string) string {
	if props.Description != "" {
		return props.Description
	}
	return "Job " + job + " of Cronfence scheduler " + props.Scheduler.name
}

func flexibleWindow(spread time.Duration) *awsscheduler.CfnSchedule_FlexibleTimeWindowProperty {
	if spread == 0 {
		return &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")}
	}
	return &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{
		Mode: jsii.String("FLEXIBLE"), MaximumWindowInMinutes: jsii.Number(spread.Minutes()),
	}
}

// intervals are the distances of the schedule's next ticks, from a fixed day on: a template
// must not depend on when it is made.
func intervals(next func(time.Time) (time.Time, bool)) []time.Duration {
	const sample = 49
	var distances []time.Duration
	last, ok := next(time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC))
	for len(distances) < sample && ok {
		var tick time.Time
		if tick, ok = next(last); ok {
			distances = append(distances, tick.Sub(last))
			last = tick
		}
	}
	return distances
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
