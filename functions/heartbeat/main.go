// Command heartbeat is the Lambda function that renews the lease of a running run, or tells it to end.
package main

import (
	"log"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/cronfence/cronfence/internal/boot"
	"github.com/cronfence/cronfence/internal/heartbeat"
)

func main() {
	env, err := boot.Load()
	if err != nil {
		log.Fatal(err)
	}
	h := &heartbeat.Handler{Scheduler: env.Scheduler, Store: env.Store, Now: env.Now, Out: env.Out}
	lambda.Start(h.Handle)
}
