package awsops_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cloudwatchtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/ops/awsops"
	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func useEndpoint(t *testing.T, cloud rig.Cloud, key string) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": cloud.Endpoint, "AWS_REGION": cloud.Config.Region, "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_CONFIG_FILE": filepath.Join(t.TempDir(), "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(t.TempDir(), "none"),
	} {
		t.Setenv(name, value)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// findings are a scheduler's, and what could not be looked at.
func findings(t *testing.T) (map[string]string, ops.Diagnosis) {
	t.Helper()
	op, err := awsops.Open(t.Context(), "shop", nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := op.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, known := op.Clock(); !known {
		t.Error("no answer of the table showed this machine's clock")
	}
	found := map[string]string{}
	for _, f := range x.Findings {
		found[f.Kind] += f.What + " / " + f.Fix + "\n"
	}
	return found, x
}

func TestDoctorComparesADeployedSchedulerWithItsStack(t *testing.T) {
	cloud, ctx := rig.Ministack(t), t.Context()
	schedules, table := scheduler.NewFromConfig(cloud.Config), cloud.Table(t)
	stack := rig.Shop(t, cloud, table)
	useEndpoint(t, cloud, "ministack")
	front := rig.NewFront(t, cloud)
	front.Stack = stack
	t.Setenv("AWS_ENDPOINT_URL", front.URL)

	found, x := findings(t)
	if found[ops.FoundScheduleChanged] != "" || found[ops.FoundScheduleMissing] != "" || found[ops.FoundDeadLetters] != "" || found[ops.FoundUnknownJob] != "" {
		t.Errorf("as deployed: got %v, not looked at %v", found, x.Unchecked)
	}

	// Somebody turns the schedule off in the console, and points it elsewhere.
	now := must(schedules.GetSchedule(ctx, &scheduler.GetScheduleInput{GroupName: aws.String("cronfence-shop"), Name: aws.String("cleanup.shop")}))
	now.Target.Input = aws.String(strings.Replace(*now.Target.Input, "shop_cleanup", "shop_other", 1))
	must(schedules.UpdateSchedule(ctx, &scheduler.UpdateScheduleInput{
		GroupName: now.GroupName, Name: now.Name, ScheduleExpression: now.ScheduleExpression, ScheduleExpressionTimezone: now.ScheduleExpressionTimezone,
		FlexibleTimeWindow: now.FlexibleTimeWindow, Target: now.Target, State: types.ScheduleStateDisabled,
	}))
	found, _ = findings(t)
	got := found[ops.FoundScheduleChanged]
	for _, want := range []string{"not as stack Shop deployed it", `its state is "DISABLED", not "ENABLED"`, "its target's input is another", `| .State="ENABLED"`, "aws scheduler update-schedule", "shop_cleanup"} {
		if !strings.Contains(got, want) {
			t.Errorf("turned off: got %s, want %s", got, want)
		}
	}
	must(schedules.DeleteSchedule(ctx, &scheduler.DeleteScheduleInput{GroupName: aws.String("cronfence-shop"), Name: aws.String("cleanup.shop")}))
	if found, _ = findings(t); !strings.Contains(found[ops.FoundScheduleMissing], "stack Shop deployed schedule cleanup.shop, which is gone") || found[ops.FoundScheduleChanged] != "" {
		t.Errorf("deleted: got %v", found)
	}
}

func TestDoctorLooksAtTableAlarmsAndDeadLetters(t *testing.T) {
	cloud, ctx := rig.Ministack(t), t.Context()
	table, schedules := cloud.Table(t), scheduler.NewFromConfig(cloud.Config)
	group := "cronfence-shop"
	must(schedules.CreateScheduleGroup(ctx, &scheduler.CreateScheduleGroupInput{Name: &group, Tags: []types.Tag{{Key: aws.String(schema.TagTable), Value: &table}}}))
	t.Cleanup(func() {
		if _, err := schedules.DeleteScheduleGroup(context.Background(), &scheduler.DeleteScheduleGroupInput{Name: &group}); err != nil {
			t.Error(err)
		}
	})
	queues := sqs.NewFromConfig(cloud.Config)
	queue := must(queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("shop-letters")}))
	topic := must(sns.NewFromConfig(cloud.Config).CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("pages")}))
	input := must(json.Marshal(schema.TickEvent{Job: "cleanup", Spec: schema.Spec{Job: "cleanup", Schedule: "cron(0 0 1 1 ? *)"}}))
	make := func(expression string) {
		must(schedules.CreateSchedule(ctx, &scheduler.CreateScheduleInput{
			GroupName: &group, Name: aws.String(schema.ScheduleName("shop", "cleanup")), ScheduleExpression: &expression,
			FlexibleTimeWindow: &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff},
			Target: &types.Target{
				Arn: aws.String("arn:aws:lambda:eu-west-1:000000000000:function:d"), RoleArn: aws.String("arn:aws:iam::000000000000:role/r"), Input: aws.String(string(input)),
				DeadLetterConfig: &types.DeadLetterConfig{Arn: aws.String("arn:aws:sqs:eu-west-1:000000000000:shop-letters")},
			},
		}))
	}
	make("cron(0 0 1 1 ? *)")
	alarms := cloudwatch.NewFromConfig(cloud.Config)
	alarm := func(name string, enabled bool, actions ...string) {
		must(alarms.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{
			AlarmName: &name, Namespace: aws.String("Cronfence"), MetricName: aws.String("Failed"), EvaluationPeriods: aws.Int32(1), Period: aws.Int32(60),
			Statistic: cloudwatchtypes.StatisticSum, Threshold: aws.Float64(1), ActionsEnabled: &enabled, AlarmActions: actions,
			ComparisonOperator: cloudwatchtypes.ComparisonOperatorGreaterThanOrEqualToThreshold,
		}))
	}
	alarm("cronfence/shop/cleanup/failed", true)
	alarm("cronfence/shop/cleanup/ratio", false, *topic.TopicArn)
	alarm("cronfence/shopping/cleanup/failed", true) // another scheduler's
	useEndpoint(t, cloud, "ministack")

	found, x := findings(t)
	for kind, want := range map[string]string{
		ops.FoundNoTTL:       "aws dynamodb update-time-to-live --table-name " + table,
		ops.FoundNoRecovery:  "aws dynamodb update-continuous-backups --table-name " + table,
		ops.FoundSilentAlarm: "alarm cronfence/shop/cleanup/failed has no action",
	} {
		if !strings.Contains(found[kind], want) {
			t.Errorf("%s: got %q, want %q", kind, found[kind], want)
		}
	}
	if got := found[ops.FoundSilentAlarm]; strings.Contains(got, "shopping") || !strings.Contains(got, "enable-alarm-actions --alarm-names cronfence/shop/cleanup/ratio") || !strings.Contains(got, "aws sns subscribe --topic-arn "+*topic.TopicArn) {
		t.Errorf("silent alarms: got %s", got)
	}
	if len(x.Unchecked) != 1 || x.Unchecked[0].What != "schedules against the deployed stacks" || !strings.Contains(x.Unchecked[0].Why, "CloudFormation DescribeStackResources") {
		t.Errorf("not looked at: got %+v", x.Unchecked)
	}

	must(queues.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: aws.String("{}")}))
	must(dynamodb.NewFromConfig(cloud.Config).UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &table, TimeToLiveSpecification: &dynamodbtypes.TimeToLiveSpecification{AttributeName: aws.String(schema.TTL), Enabled: aws.Bool(true)},
	}))
	must(dynamodb.NewFromConfig(cloud.Config).UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
		TableName: &table, PointInTimeRecoverySpecification: &dynamodbtypes.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
	}))
	must(schedules.DeleteSchedule(ctx, &scheduler.DeleteScheduleInput{GroupName: &group, Name: aws.String(schema.ScheduleName("shop", "cleanup"))}))
	make("rate(1 hour)")
	found, _ = findings(t)
	if found[ops.FoundNoTTL] != "" || found[ops.FoundNoRecovery] != "" {
		t.Errorf("mended: got %v", found)
	}
	if !strings.Contains(found[ops.FoundDeadLetters], "1 ticks or events were given up") || !strings.Contains(found[ops.FoundScheduleChanged], "it ticks by rate(1 hour) in UTC") {
		t.Errorf("got %v", found)
	}
}
