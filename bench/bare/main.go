// Command bare is hello with the dispatcher's own configuration of the SDK: what is left between
// the two is the dispatcher's.
package main

import (
	"context"
	"log"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cronfence/cronfence/internal/boot"
)

func main() {
	cfg, err := boot.AWS()
	if err != nil {
		log.Fatal(err)
	}
	client := dynamodb.NewFromConfig(cfg)
	lambda.Start(func(context.Context) (string, error) { return client.Options().Region, nil })
}
