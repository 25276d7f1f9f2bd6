package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cloudwatchtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	logstypes "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/cronfence/cronfence/internal/awssfn"
	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// shop deploys a whole scheduler on an emulator: stacks, a schedule, a machine whose runs wait
// for an hour, the job's function with a log, an alarm and its topic.
func shop(t *testing.T) (deployed, *rig.Front) {
	t.Helper()
	cloud, ctx := rig.Ministack(t), t.Context()
	table := cloud.Table(t)
	stack := rig.Shop(t, cloud, table)
	tables := dynamodb.NewFromConfig(cloud.Config)
	must(tables.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &table, TimeToLiveSpecification: &dynamodbtypes.TimeToLiveSpecification{AttributeName: aws.String(schema.TTL), Enabled: aws.Bool(true)},
	}))
	must(tables.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
		TableName: &table, PointInTimeRecoverySpecification: &dynamodbtypes.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
	}))
	zip := []byte("PK\x05\x06" + strings.Repeat("\x00", 18)) // an archive without files: the function never runs
	functions := lambda.NewFromConfig(cloud.Config)
	must(functions.CreateFunction(ctx, &lambda.CreateFunctionInput{
		FunctionName: aws.String("cleanup"), Role: aws.String("arn:aws:iam::000000000000:role/r"), Runtime: lambdatypes.RuntimeProvidedal2023,
		Handler: aws.String("bootstrap"), Code: &lambdatypes.FunctionCode{ZipFile: zip},
	}))
	topic := must(sns.NewFromConfig(cloud.Config).CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("pages")}))
	must(cloudwatch.NewFromConfig(cloud.Config).PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{
		AlarmName: aws.String("cronfence/shop/cleanup/failed"), Namespace: aws.String("Cronfence"), MetricName: aws.String("Failed"),
		EvaluationPeriods: aws.Int32(1), Period: aws.Int32(60), Statistic: cloudwatchtypes.StatisticSum, Threshold: aws.Float64(1),
		ComparisonOperator: cloudwatchtypes.ComparisonOperatorGreaterThanOrEqualToThreshold, AlarmActions: []string{*topic.TopicArn},
	}))
	machine := "arn:aws:states:" + cloud.Config.Region + ":000000000000:stateMachine:" + schema.MachineName("shop", "cleanup")
	d := deployed{
		engine: &engine.Engine{
			Store: dynamo.New(tables, table), Machines: awssfn.New(sfn.NewFromConfig(cloud.Config)),
			Now: time.Now, NewToken: rand.Text, Timeout: engine.CommandLineTimeout,
		},
		spec: schema.Spec{
			Version: schema.SpecVersion, Scheduler: "shop", Job: "cleanup", Schedule: "cron(0 0 1 1 ? *)", Machine: machine,
			Beats: true, LeaseSeconds: 120, RenewalSeconds: 30, MaxRunSeconds: 3600, MachineTimeoutSeconds: 3700, StartDeadlineSeconds: 900,
		},
	}
	if err := d.engine.Introduce(ctx, d.spec); err != nil {
		t.Fatal(err)
	}
	front := rig.NewFront(t, cloud)
	front.Stack = stack
	useAWS(t, front.URL, cloud.Config.Region, "ministack")
	return d, front
}

// wrote puts a line into a function's log.
func wrote(t *testing.T, function, text string) {
	t.Helper()
	logs, ctx := cloudwatchlogs.NewFromConfig(rig.Ministack(t).Config), t.Context()
	group, stream := aws.String("/aws/lambda/"+function), aws.String("s")
	_, _ = logs.CreateLogGroup(ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: group}) // the function may have one
	must(logs.CreateLogStream(ctx, &cloudwatchlogs.CreateLogStreamInput{LogGroupName: group, LogStreamName: stream}))
	must(logs.PutLogEvents(ctx, &cloudwatchlogs.PutLogEventsInput{
		LogGroupName: group, LogStreamName: stream,
		LogEvents: []logstypes.InputLogEvent{{Message: &text, Timestamp: aws.Int64(time.Now().UnixMilli())}},
	}))
}

// Every verb against an emulator, through an endpoint that notes the IAM actions: those of the
// verbs that look are the read-only policy, those of all the operator's.
func TestEveryVerbAgainstAWSAndWhatItNeeds(t *testing.T) {
	d, front := shop(t)

	expect(t, "jobs", 0, "cleanup  free", "")
	expect(t, "doctor", 1, "nobody has subscribed to topic", "1 finding")
	expect(t, "report", 0, "nothing is on record yet", "")
	looking := front.Actions()

	started := document[ran](t, "run cleanup --by alice@laptop --json", 0)
	acting := front.Actions()
	wrote(t, "cleanup", "deleted 4711 rows")

	expect(t, "status cleanup", 0, "held by       "+started.Run, "")
	expect(t, "history cleanup", 0, "Running", "")
	expect(t, "why cleanup "+started.Tick, 0, "Asked for by alice@laptop.", "")
	expect(t, "logs cleanup", 0, "deleted 4711 rows", "log group /aws/lambda/cleanup: https://console.aws.amazon.com/cloudwatch/home?region=eu-west-1#logsV2")
	expect(t, "doctor", 1, "nobody has subscribed", "")
	expect(t, "report", 0, "cleanup:", "")
	expect(t, "run cleanup --dry-run", 3, "", "holds the guard since")
	expect(t, "release cleanup --reason hangs --dry-run", 0, "is marked, renews no lease and is stopped", "")
	expect(t, "pause cleanup --reason rebuild --dry-run", 0, "cleanup is paused", "")
	looking = append(looking, front.Actions()...)

	expect(t, "run cleanup", 3, "", "run "+started.Run+" holds the guard since")
	expect(t, "pause cleanup --reason rebuild", 0, "cleanup is paused", "")
	expect(t, "resume cleanup", 0, "its next tick is", "")
	expect(t, "release cleanup --reason hangs --yes", 0, started.Run, "")
	const past = " --from 2020-01-01T00:00:00Z --to 2022-01-01T00:00:00Z"
	expect(t, "backfill cleanup --dry-run"+past, 0, "3 ticks of cleanup, from 2020-01-01T00:00:00Z", "")
	expect(t, "backfill cleanup"+past, 0, "it goes on by itself", "")
	expect(t, "backfill cleanup"+past, 3, "", "has a backfill under way")
	settleBackfill(t, d)
	if b := document[backfilled](t, "backfill cleanup --json --from 2023-01-01T00:00:00Z --to 2023-01-01T00:00:00Z", 0); b.Ticks != 1 {
		t.Errorf("backfill: got %+v", b)
	}
	expect(t, "backfill cleanup --cancel --reason hasty --dry-run", 0, "the backfill of cleanup is ended", "")
	expect(t, "backfill cleanup --cancel --reason hasty", 0, "the backfill of cleanup is ended", "")
	expect(t, "status cleanup", 0, "not run: hasty", "")
	acting = append(acting, front.Actions()...)

	for _, action := range looking {
		_, verb, _ := strings.Cut(action, ":")
		if !slices.ContainsFunc([]string{"Get", "List", "Describe", "Query", "BatchGet", "Filter"}, func(p string) bool { return strings.HasPrefix(verb, p) }) {
			t.Errorf("a verb that looks needs %s", action)
		}
	}
	checkPolicy(t, "read-only.json", looking)
	checkPolicy(t, "operator.json", slices.Concat(looking, acting))
}

// settleBackfill ends the runs of a backfill as they come.
func settleBackfill(t *testing.T, d deployed) {
	t.Helper()
	op := &ops.Direct{Name: "shop", Engine: d.engine}
	b := ops.BackfillResult{Job: "cleanup", Ticks: 3, First: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), Last: time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)}
	outcomes, err := ops.WaitBackfill(t.Context(), op, b, func(ops.BackfillProgress) {}, func(ctx context.Context, _ time.Duration) error {
		s, err := op.Status(ctx, "cleanup")
		if err != nil {
			return err
		}
		if h := s.Holder; h != nil {
			d.succeed(t, ops.RunResult{Job: "cleanup", Tick: h.Tick, Run: h.Run, Fence: h.Fence})
			return nil
		}
		g, err := d.engine.Store.Guard(ctx, "cleanup")
		if err != nil {
			return err
		}
		return d.engine.SweepGuard(ctx, *g)
	})
	if err != nil || outcomes[guard.Succeeded] != 3 {
		t.Errorf("got %v, %v", outcomes, err)
	}
}

// statement is one of a policy.
type statement struct {
	Effect   string
	Action   []string
	Resource []string
}

type policyDocument struct {
	Version   string
	Statement []statement
}

// resourcesOf are what an action is allowed on, least first. Names that the constructs do not
// choose - of queues, topics, functions and their logs - are left open.
var resourcesOf = map[string][]string{
	"dynamodb":                      {"arn:aws:dynamodb:REGION:ACCOUNT:table/TABLE"},
	"dynamodb:Query":                {"arn:aws:dynamodb:REGION:ACCOUNT:table/TABLE", "arn:aws:dynamodb:REGION:ACCOUNT:table/TABLE/index/" + schema.GuardIndex},
	"scheduler:ListScheduleGroups":  {"arn:aws:scheduler:REGION:ACCOUNT:schedule-group/*"},
	"scheduler:ListTagsForResource": {"arn:aws:scheduler:REGION:ACCOUNT:schedule-group/" + schema.GroupPrefix + "SCHEDULER"},
	"scheduler:ListSchedules":       {"arn:aws:scheduler:REGION:ACCOUNT:schedule/*/*"},
	"scheduler:GetSchedule":         {"arn:aws:scheduler:REGION:ACCOUNT:schedule/" + schema.GroupPrefix + "SCHEDULER/*"},
	"states:StartExecution":         {"arn:aws:states:REGION:ACCOUNT:stateMachine:SCHEDULER_*"},
	"states:DescribeStateMachine":   {"arn:aws:states:REGION:ACCOUNT:stateMachine:SCHEDULER_*"},
	"states:DescribeExecution":      {"arn:aws:states:REGION:ACCOUNT:execution:SCHEDULER_*:*"},
	"states:StopExecution":          {"arn:aws:states:REGION:ACCOUNT:execution:SCHEDULER_*:*"},
	"states:GetExecutionHistory":    {"arn:aws:states:REGION:ACCOUNT:execution:SCHEDULER_*:*"},
	"logs":                          {"arn:aws:logs:REGION:ACCOUNT:log-group:*"},
	"lambda":                        {"arn:aws:lambda:REGION:ACCOUNT:function:*"},
	"sqs":                           {"arn:aws:sqs:REGION:ACCOUNT:*"},
	"sns":                           {"arn:aws:sns:REGION:ACCOUNT:*"},
	"cloudwatch":                    {"arn:aws:cloudwatch:REGION:ACCOUNT:alarm:*"},
	"cloudformation":                {"arn:aws:cloudformation:REGION:ACCOUNT:stack/*/*"},
	"cloudformation:ListExports":    {"*"}, // it knows no resource
}

// checkPolicy holds a policy of the documentation against the actions that were needed.
func checkPolicy(t *testing.T, name string, needed []string) {
	t.Helper()
	needed = slices.Sorted(slices.Values(needed))
	var want policyDocument
	want.Version = "2012-10-17"
	for _, action := range slices.Compact(needed) {
		service, _, _ := strings.Cut(action, ":")
		resources := resourcesOf[action]
		if resources == nil {
			resources = resourcesOf[service]
		}
		if resources == nil || service == "states" && resourcesOf[action] == nil || service == "scheduler" && resourcesOf[action] == nil {
			t.Errorf("%s: say on what it is allowed", action)
		}
		if i := slices.IndexFunc(want.Statement, func(s statement) bool { return slices.Equal(s.Resource, resources) }); i >= 0 {
			want.Statement[i].Action = append(want.Statement[i].Action, action)
			continue
		}
		want.Statement = append(want.Statement, statement{"Allow", []string{action}, resources})
	}
	text, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	file := filepath.Join("..", "..", "docs", "iam", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != string(text) {
		t.Errorf("%s is not what the verbs need, %v (-update writes it); they need\n%s", file, err, text)
	}
}
