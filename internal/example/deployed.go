package example

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Deployed is the app in a Lambda function.
func Deployed(ctx context.Context) (App, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return App{}, fmt.Errorf("load AWS configuration: %w", err)
	}
	return App{Tables: dynamodb.NewFromConfig(cfg), Catalog: os.Getenv(EnvCatalog), Clock: realTime{}}, nil
}

type realTime struct{}

func (realTime) Now() time.Time { return time.Now() }

func (realTime) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
