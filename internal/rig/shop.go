package rig

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Shop deploys ShopBase and ShopStack, marks the group of schedules with the table, and returns the
// stack's ARN. It is for Ministack.
func Shop(t testing.TB, c Cloud, table string) (stack string) {
	t.Helper()
	stacks, schedules := cloudformation.NewFromConfig(c.Config), scheduler.NewFromConfig(c.Config)
	for _, s := range []struct{ name, template string }{{"ShopBase", ShopBase}, {"Shop", ShopStack}} {
		out, err := stacks.CreateStack(t.Context(), &cloudformation.CreateStackInput{StackName: &s.name, TemplateBody: &s.template})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := stacks.DeleteStack(context.Background(), &cloudformation.DeleteStackInput{StackName: &s.name}); err != nil {
				t.Error(err)
			}
		})
		stack = *out.StackId
	}
	group, err := schedules.GetScheduleGroup(t.Context(), &scheduler.GetScheduleGroupInput{Name: aws.String(schema.GroupName("shop"))})
	if err == nil {
		_, err = schedules.TagResource(t.Context(), &scheduler.TagResourceInput{
			ResourceArn: group.Arn, Tags: []types.Tag{{Key: aws.String(schema.TagTable), Value: &table}},
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

// ShopBase is the template of a stack that ShopStack imports its dead letters from.
const ShopBase = `{"Resources": {"DeadLetters": {"Type": "AWS::SQS::Queue"}},
	"Outputs": {"Arn": {"Value": {"Fn::GetAtt": ["DeadLetters", "Arn"]}, "Export": {"Name": "shop-dead-letters"}}}}`

// ShopStack is a template with the schedule of job cleanup of scheduler shop as the
// constructs make it, and what it needs. Its machine waits for an hour and then would invoke
// function cleanup.
const ShopStack = `{"Resources": {
	"Group": {"Type": "AWS::Scheduler::ScheduleGroup", "Properties": {"Name": "cronfence-shop"}},
	"Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": []}}},
	"Letters": {"Type": "AWS::SQS::Queue"},
	"Machine": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"StateMachineName": "shop_cleanup",
		"RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
		"DefinitionString": "{\"StartAt\":\"Cronfence Wait\",\"States\":{\"Cronfence Wait\":{\"Type\":\"Wait\",\"Seconds\":3600,\"Next\":\"Run\"},\"Run\":{\"Type\":\"Task\",\"Resource\":\"arn:aws:states:::lambda:invoke\",\"Parameters\":{\"FunctionName\":\"cleanup\"},\"End\":true}}}"}},
	"Sweeps": {"Type": "AWS::Scheduler::Schedule", "DependsOn": "Group", "Properties": {
		"Name": "_sentinel.shop", "GroupName": "cronfence-shop", "FlexibleTimeWindow": {"Mode": "OFF"}, "ScheduleExpression": "rate(1 minute)",
		"Target": {"Arn": {"Fn::GetAtt": ["Letters", "Arn"]}, "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]}, "Input": "{}",
			"RetryPolicy": {"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 0}}}},
	"Schedule": {"Type": "AWS::Scheduler::Schedule", "DependsOn": "Group", "Properties": {
		"Name": "cleanup.shop", "GroupName": "cronfence-shop", "State": "ENABLED", "FlexibleTimeWindow": {"Mode": "OFF"},
		"ScheduleExpression": "cron(0 0 1 1 ? *)", "ScheduleExpressionTimezone": "UTC",
		"Target": {"Arn": {"Fn::GetAtt": ["Letters", "Arn"]}, "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
			"DeadLetterConfig": {"Arn": {"Fn::ImportValue": "shop-dead-letters"}},
			"RetryPolicy": {"MaximumEventAgeInSeconds": 900, "MaximumRetryAttempts": 185},
			"Input": {"Fn::Join": ["", ["{\"job\":\"cleanup\",\"spec\":{\"job\":\"cleanup\",\"schedule\":\"cron(0 0 1 1 ? *)\",\"machine\":\"", {"Ref": "Machine"}, "\"}}"]]}}}}
}}`
