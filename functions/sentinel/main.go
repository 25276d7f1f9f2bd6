// Command sentinel is the Lambda function that looks after what no event will.
package main

import (
	"context"
	"log"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"

	"github.com/cronfence/cronfence/internal/awsscheduler"
	"github.com/cronfence/cronfence/internal/boot"
	"github.com/cronfence/cronfence/internal/sentinel"
)

func main() {
	env, err := boot.Load(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	h := &sentinel.Handler{
		Scheduler: env.Scheduler, Store: env.Store, Machines: env.Machines,
		Schedules: awsscheduler.New(scheduler.NewFromConfig(env.AWS), env.Scheduler),
		Now:       env.Now, NewToken: env.NewToken, Out: env.Out,
	}
	lambda.Start(h.Handle)
}
