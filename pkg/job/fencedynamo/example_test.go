package fencedynamo_test

import (
	"context"
	"errors"
	"log"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencedynamo"
)

// A Lambda function whose run ends when it has lost its guard, and whose writes are refused
// when it has not noticed.
func Example() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	client := dynamodb.NewFromConfig(cfg)
	work := func(ctx context.Context, run job.Run) error {
		db := fencedynamo.New(client, run)
		_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                 aws.String("accounts"),
			Key:                       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "a"}},
			UpdateExpression:          aws.String("SET #status = :closed"),
			ExpressionAttributeNames:  map[string]string{"#status": "status"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":closed": &types.AttributeValueMemberS{Value: "closed"}},
		})
		if errors.Is(err, job.ErrFenced) {
			log.Print("a newer run is at work: nothing was written")
		}
		return err
	}
	lambda.Start(job.Handler(work, job.WithGuard(fencedynamo.Guard(client))))
}

// A transaction of the author's own, held to the guard.
func ExampleGuardCheck() {
	var client *dynamodb.Client
	var put types.Put
	write := func(ctx context.Context, run job.Run) error {
		_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{{Put: &put}, fencedynamo.GuardCheck(ctx, run)},
		})
		job.Point(ctx) // a drill may hold the run here
		return err
	}
	_ = write
}
