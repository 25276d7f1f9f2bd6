package awsops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/cronfence/cronfence/internal/awsscheduler"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// around is a deployed scheduler's surroundings.
type around struct {
	name, table, region string

	schedules *scheduler.Client
	states    *sfn.Client
	tables    *dynamodb.Client
	alarms    *cloudwatch.Client
	logs      *cloudwatchlogs.Client
	queues    *sqs.Client
	topics    *sns.Client
	functions *lambda.Client
	stacks    *cloudformation.Client
}

var _ ops.Surroundings = (*around)(nil)

func newAround(cfg aws.Config, found Found) *around {
	return &around{
		name: found.Name, table: found.Table, region: cfg.Region,
		schedules: scheduler.NewFromConfig(cfg), states: sfn.NewFromConfig(cfg), tables: dynamodb.NewFromConfig(cfg),
		alarms: cloudwatch.NewFromConfig(cfg), logs: cloudwatchlogs.NewFromConfig(cfg), queues: sqs.NewFromConfig(cfg),
		topics: sns.NewFromConfig(cfg), functions: lambda.NewFromConfig(cfg), stacks: cloudformation.NewFromConfig(cfg),
	}
}

// Deployed implements ops.Surroundings.
func (a *around) Deployed(ctx context.Context) (ops.Deployed, error) {
	list, err := awsscheduler.New(a.schedules, a.name).List(ctx)
	if err != nil {
		return ops.Deployed{}, err
	}
	d := ops.Deployed{Ticks: map[string]bool{}, Changed: map[string]time.Time{}, Forget: func(job string) string {
		key, _ := json.Marshal(map[string]any{schema.PK: map[string]string{"S": job}, schema.SK: map[string]string{"S": schema.GuardSK}})
		return fmt.Sprintf("aws dynamodb delete-item --table-name %s --key %s", a.table, quote(string(key)))
	}}
	for _, s := range list {
		d.Ticks[s.Job], d.Changed[s.Job] = !s.Disabled, s.Modified
	}
	return d, nil
}

// Events implements ops.Surroundings: the newest event's number is how many there are.
func (a *around) Events(ctx context.Context, executionARN string) (int64, error) {
	out, err := a.states.GetExecutionHistory(ctx, &sfn.GetExecutionHistoryInput{
		ExecutionArn: &executionARN, ReverseOrder: true, MaxResults: 1, IncludeExecutionData: aws.Bool(false),
	})
	if err != nil {
		return 0, fmt.Errorf("get execution history: %w", err)
	}
	if len(out.Events) == 0 {
		return 0, nil
	}
	return out.Events[0].Id, nil
}

// Examine implements ops.Surroundings.
func (a *around) Examine(ctx context.Context, x *ops.Diagnosis) {
	a.examineTable(ctx, x)
	a.examineAlarms(ctx, x)
	live, err := a.group(ctx)
	if err != nil {
		x.Skip("schedules", reason(err))
		return
	}
	a.examineSchedules(ctx, x, live)
	a.examineDeadLetters(ctx, x, live)
}

// reason is an error as a person reads it: the service's own word, or why it was not reached.
func reason(err error) string {
	var api smithy.APIError
	var op *smithy.OperationError
	if errors.As(err, &op) && errors.As(err, &api) {
		return fmt.Sprintf("%s %s: %s", op.Service(), op.Operation(), strings.TrimSpace(api.ErrorCode()+" "+api.ErrorMessage()))
	}
	return err.Error()
}

// quote makes a word of a shell's command line.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
