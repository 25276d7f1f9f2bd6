// Command report is the Lambda function of the example app's job report.
package main

import (
	"context"
	"log"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/cronfence/cronfence/internal/example"
)

func main() {
	app, err := example.Deployed(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(example.Report(app))
}
