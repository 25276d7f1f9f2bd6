// Package boot gives a Lambda function what it runs on: the scheduler's table, Step
// Functions, a clock, standard output.
package boot

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/cronfence/cronfence/internal/awssfn"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Env is what a handler runs on.
type Env struct {
	Scheduler string
	Store     guard.Store
	Machines  machine.Runner
	Now       func() time.Time
	NewToken  func() string
	Out       io.Writer
}

// Load reads the function's environment: CRONFENCE_SCHEDULER and CRONFENCE_TABLE, which the
// constructs set, and the AWS configuration.
func Load(ctx context.Context) (Env, error) {
	scheduler, table := os.Getenv("CRONFENCE_SCHEDULER"), os.Getenv("CRONFENCE_TABLE")
	if err := schema.CheckScheduler(scheduler); err != nil {
		return Env{}, fmt.Errorf("environment variable CRONFENCE_SCHEDULER: %w", err)
	}
	if table == "" {
		return Env{}, fmt.Errorf("environment variable CRONFENCE_TABLE: must name the scheduler's table")
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return Env{}, fmt.Errorf("load AWS configuration: %w", err)
	}
	return Env{
		Scheduler: scheduler,
		Store:     dynamo.New(dynamodb.NewFromConfig(cfg), table),
		Machines:  awssfn.New(sfn.NewFromConfig(cfg)),
		Now:       time.Now,
		NewToken:  rand.Text,
		Out:       os.Stdout,
	}, nil
}
