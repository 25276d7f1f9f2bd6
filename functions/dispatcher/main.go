// Command dispatcher is the Lambda function that decides on one delivered tick of a job and starts its run.
package main

import (
	"log"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/cronfence/cronfence/internal/boot"
	"github.com/cronfence/cronfence/internal/dispatch"
)

func main() {
	env, err := boot.Load()
	if err != nil {
		log.Fatal(err)
	}
	h := &dispatch.Handler{
		Scheduler: env.Scheduler, Store: env.Store, Machines: env.Machines,
		Now: env.Now, NewToken: env.NewToken, Out: env.Out,
	}
	lambda.Start(h.Handle)
}
