// Package boot gives a Lambda function what it runs on: the scheduler's table, Step
// Functions, a clock, standard output.
package boot

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/cronfence/cronfence/internal/awssfn"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/telemetry"
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
	AWS       aws.Config
}

// Load reads the function's environment, which the constructs set, and the AWS
// configuration.
func Load() (Env, error) {
	scheduler, table := os.Getenv(schema.EnvScheduler), os.Getenv(schema.EnvTable)
	if err := schema.CheckScheduler(scheduler); err != nil {
		return Env{}, fmt.Errorf("environment variable %s: %w", schema.EnvScheduler, err)
	}
	if table == "" {
		return Env{}, fmt.Errorf("environment variable %s: must name the scheduler's table", schema.EnvTable)
	}
	cfg, err := AWS()
	if err != nil {
		return Env{}, err
	}
	store, err := withRetention(dynamo.New(dynamodb.NewFromConfig(cfg), table), os.Getenv(schema.EnvRetention))
	if err != nil {
		return Env{}, err
	}
	return Env{
		Scheduler: scheduler,
		Store:     store,
		Machines:  awssfn.New(sfn.NewFromConfig(cfg)),
		Now:       time.Now,
		NewToken:  rand.Text,
		Out:       telemetry.AtLeast(os.Getenv(schema.EnvLogLevel), os.Stdout),
		AWS:       cfg,
	}, nil
}
