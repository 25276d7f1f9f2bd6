// Command report is the Lambda function of the example app's job report.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/cronfence/cronfence/internal/example"
)

func main() { lambda.Start(example.Report.Handle) }
