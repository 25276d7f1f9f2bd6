// Command sentinel is the Lambda function that looks after what no event will.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/cronfence/cronfence/internal/awsscheduler"
	"github.com/cronfence/cronfence/internal/awssns"
	"github.com/cronfence/cronfence/internal/boot"
	"github.com/cronfence/cronfence/internal/sentinel"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func main() {
	env, err := boot.Load()
	if err != nil {
		log.Fatal(err)
	}
	h := &sentinel.Handler{
		Scheduler: env.Scheduler, Store: env.Store, Machines: env.Machines,
		Schedules: awsscheduler.New(scheduler.NewFromConfig(env.AWS), env.Scheduler),
		Now:       env.Now, NewToken: env.NewToken, Out: env.Out,
	}
	if topic := os.Getenv(schema.EnvNoticeTopic); topic != "" {
		h.Notices = awssns.New(sns.NewFromConfig(env.AWS), topic)
	}
	lambda.Start(h.Handle)
}
