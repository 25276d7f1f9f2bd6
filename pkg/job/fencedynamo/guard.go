package fencedynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job"
)

// Reader is what Guard needs of a *dynamodb.Client.
type Reader interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Guard reads the guard of a run's job, for job.WithGuard, consistently: one read unit each
// time. It needs dynamodb:GetItem on the scheduler's table for the leading key JOB.
func Guard(client Reader) job.Guard {
	return func(ctx context.Context, run job.Run) (job.GuardState, error) {
		out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName:            &run.Table,
			Key:                  guardKey(run),
			ConsistentRead:       aws.Bool(true),
			ProjectionExpression: aws.String("#run.#id, #fence, #leaseUntil, #mark, #stop, #stopDeadline"),
			ExpressionAttributeNames: map[string]string{
				"#run": "run", "#id": "id", "#fence": "fence", "#leaseUntil": "leaseUntil",
				"#mark": "mark", "#stop": "stop", "#stopDeadline": "stopDeadline",
			},
		})
		if err != nil {
			return job.GuardState{}, fmt.Errorf("read guard of job %q: %w", run.Job, err)
		}
		var row row
		if err := attributevalue.UnmarshalMap(out.Item, &row); err != nil {
			return job.GuardState{}, fmt.Errorf("read guard of job %q: %w", run.Job, err)
		}
		return row.state(run), nil
	}
}

// row is the part of a guard that its holder has to know. A test holds it equal to what the
// store writes.
type row struct {
	Run struct {
		ID string `dynamodbav:"id"`
	} `dynamodbav:"run"`
	Fence        int64          `dynamodbav:"fence"`
	LeaseUntil   schema.Millis  `dynamodbav:"leaseUntil"`
	Mark         map[string]any `dynamodbav:"mark"`
	StopDeadline schema.Millis  `dynamodbav:"stopDeadline"`
	Stop         *struct {
		ByTick string `dynamodbav:"byTick"`
	} `dynamodbav:"stop"`
}

func (r row) state(run job.Run) job.GuardState {
	s := job.GuardState{
		Held:       r.Run.ID == run.ID && r.Fence == run.Fence,
		Marked:     r.Mark != nil,
		LeaseUntil: r.LeaseUntil.Time(),
	}
	if r.Stop != nil {
		s.Stop = &job.StopError{ByTick: r.Stop.ByTick, Until: r.StopDeadline.Time()}
	}
	return s
}
