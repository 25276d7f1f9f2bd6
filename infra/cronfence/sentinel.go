package cronfence

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// grantSentinel gives the sentinel what a sweep over all guards and schedules needs.
func (s *Scheduler) grantSentinel() {
	table := *s.table.TableArn()
	s.sentinel.AddToRolePolicy(allow([]string{table},
		"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem"))
	s.sentinel.AddToRolePolicy(allow([]string{table + "/index/" + schema.GuardIndex}, "dynamodb:Query"))
	s.grantRuns(s.sentinel)
	// IAM knows no list of one group alone: the list needs every schedule, a look need not.
	s.sentinel.AddToRolePolicy(allow([]string{s.scheduleARN("*")}, "scheduler:ListSchedules"))
	s.sentinel.AddToRolePolicy(allow([]string{s.scheduleARN(schema.GroupName(s.name))}, "scheduler:GetSchedule"))
	s.sentinel.AddToRolePolicy(allow([]string{*s.notice.TopicArn()}, "sns:Publish")) // the weekly message
}

// scheduleARN matches all schedules of a group.
func (s *Scheduler) scheduleARN(group string) string {
	return *awscdk.Stack_Of(s).FormatArn(&awscdk.ArnComponents{
		Service:      jsii.String("scheduler"),
		Resource:     jsii.String("schedule"),
		ResourceName: jsii.String(group + "/*"),
	})
}

// newSweeps invokes the sentinel every minute. A sweep that could not be delivered is
// replaced by the next: it is neither tried again nor kept as a dead letter.
func (s *Scheduler) newSweeps() awsscheduler.CfnSchedule {
	sweeps := awsscheduler.NewCfnSchedule(s, jsii.String("Sweeps"), &awsscheduler.CfnScheduleProps{
		Name:               jsii.String(schema.SweepScheduleName(s.name)),
		GroupName:          s.groupName,
		Description:        jsii.String("Sentinel of Cronfence scheduler " + s.name),
		ScheduleExpression: jsii.String("rate(1 minute)"), // schema.Sweep
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn:     s.sentinel.FunctionArn(),
			RoleArn: s.scheduleRole.RoleArn(),
			Input:   jsii.String("{}"),
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{
				MaximumEventAgeInSeconds: jsii.Number(schema.Sweep.Seconds()),
				MaximumRetryAttempts:     jsii.Number(0),
			},
		},
	})
	sweeps.Node().AddDependency(s.scheduleRole, s.sentinel)
	return sweeps
}
