// Command tick fires the schedules of an emulator until it is interrupted: package ticker says
// how. The emulator is where AWS_ENDPOINT_URL says, and must be: it never speaks to AWS.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"

	"github.com/cronfence/cronfence/internal/ticker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "tick:", err)
		os.Exit(1)
	}
}

// run begins with the ticks of the current minute, which may come at any second of it.
func run(ctx context.Context) error {
	if os.Getenv("AWS_ENDPOINT_URL") == "" {
		return errors.New("AWS_ENDPOINT_URL: not set: must be the emulator's address, such as http://127.0.0.1:4566")
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("load AWS configuration: %w", err)
	}
	t := ticker.Ticker{
		Schedules: scheduler.NewFromConfig(cfg), Functions: lambda.NewFromConfig(cfg),
		Fired: func(tick ticker.Tick) {
			fmt.Printf("%s  %s  %s\n", time.Now().Format(time.TimeOnly), tick.Schedule, tick.At.UTC().Format(time.RFC3339))
		},
	}
	return t.Run(ctx, time.Now().Truncate(time.Minute).Add(-time.Nanosecond))
}
