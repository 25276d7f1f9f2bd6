package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/internal/ticker"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// running is a ticker at work.
type running struct {
	ticker *ticker.Ticker
	fired  chan ticker.Tick
	stop   func()
}

// fire is a tick that was fired.
type fire struct {
	ticker.Tick
	by *ticker.Ticker
}

// startTicker fires the deployed schedules from the current minute's on.
func startTicker(t *testing.T, cloud rig.Cloud) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{fired: make(chan ticker.Tick, 1000)}
	r.ticker = &ticker.Ticker{
		Schedules: scheduler.NewFromConfig(cloud.Config), Functions: lambda.NewFromConfig(cloud.Config),
		Fired: func(tick ticker.Tick) { r.fired <- tick },
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := r.ticker.Run(ctx, time.Now().Truncate(time.Minute).Add(-time.Nanosecond)); !errors.Is(err, context.Canceled) {
			t.Errorf("ticker: %v", err)
		}
	}()
	r.stop = func() { cancel(); <-done }
	t.Cleanup(r.stop)
	return r
}

// next waits for the next tick of a schedule.
func (r *running) next(t *testing.T, schedule string) fire {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case tick := <-r.fired:
			if tick.Schedule == schedule {
				return fire{tick, r.ticker}
			}
		case <-timeout:
			t.Fatalf("schedule %s does not tick", schedule)
		}
	}
}

// again delivers the tick once more and returns what the dispatcher answers.
func (f fire) again(t *testing.T) dispatch.Reply {
	t.Helper()
	answer, err := f.by.Deliver(t.Context(), f.Tick)
	if err != nil {
		t.Fatal(err)
	}
	return parse[dispatch.Reply](t, answer)
}

// executionsOf are the ARNs of a job's executions, by name.
func executionsOf(t *testing.T, client *sfn.Client, job string) map[string]string {
	t.Helper()
	machine := "arn:aws:states:" + region + ":" + account + ":stateMachine:" + schema.MachineName(exampleScheduler, job)
	out, err := client.ListExecutions(t.Context(), &sfn.ListExecutionsInput{StateMachineArn: &machine})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, x := range out.Executions {
		found[aws.ToString(x.Name)] = aws.ToString(x.ExecutionArn)
	}
	return found
}
