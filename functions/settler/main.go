// Command settler is the Lambda function that records how a run ended and releases its guard.
package main

import (
	"log"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/cronfence/cronfence/internal/boot"
	"github.com/cronfence/cronfence/internal/settle"
)

func main() {
	env, err := boot.Load()
	if err != nil {
		log.Fatal(err)
	}
	h := &settle.Handler{
		Scheduler: env.Scheduler, Store: env.Store, Machines: env.Machines,
		Now: env.Now, NewToken: env.NewToken, Out: env.Out,
	}
	lambda.Start(h.Handle)
}
