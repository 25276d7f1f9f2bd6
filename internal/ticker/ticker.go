// Package ticker stands for EventBridge Scheduler beside an emulator that fires schedules without
// filling in their context attributes, or not at all. It reads the deployed schedules and
// invokes the Lambda functions they name, asynchronously as AWS does, with the input as deployed and
// the attributes in it filled in. It retries nothing and fires every schedule at the second.
package ticker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// Schedules is what the ticker needs of EventBridge Scheduler.
type Schedules interface {
	ListSchedules(context.Context, *scheduler.ListSchedulesInput, ...func(*scheduler.Options)) (*scheduler.ListSchedulesOutput, error)
	GetSchedule(context.Context, *scheduler.GetScheduleInput, ...func(*scheduler.Options)) (*scheduler.GetScheduleOutput, error)
}

// Functions is what the ticker needs of Lambda.
type Functions interface {
	Invoke(context.Context, *lambda.InvokeInput, ...func(*lambda.Options)) (*lambda.InvokeOutput, error)
}

// Ticker fires schedules.
type Ticker struct {
	Schedules Schedules
	Functions Functions
	// Fired hears of every tick that a function took; it may be nil.
	Fired func(Tick)
}

// Tick is one planned time of one schedule.
type Tick struct {
	Schedule string // its name
	At       time.Time

	arn, function, input string
}

// Run fires every tick planned after from and up to now, and every later one at its time, until
// ctx ends. Schedules that come and go meanwhile are seen within a second.
func (t *Ticker) Run(ctx context.Context, from time.Time) error {
	for ctx.Err() == nil {
		now := time.Now()
		ticks, err := t.Between(ctx, from, now)
		if err != nil {
			return err
		}
		for _, tick := range ticks {
			if err := t.Fire(ctx, tick); err != nil {
				return err
			}
		}
		from = now
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(now.Truncate(time.Second).Add(time.Second))):
		}
	}
	return ctx.Err()
}

// Between returns the last tick of each enabled schedule that is planned after from and not
// after to. Earlier ones are left out: what comes late on AWS comes late, not in heaps.
func (t *Ticker) Between(ctx context.Context, from, to time.Time) ([]Tick, error) {
	var ticks []Tick
	pages := scheduler.NewListSchedulesPaginator(t.Schedules, &scheduler.ListSchedulesInput{State: schedulertypes.ScheduleStateEnabled})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list schedules: %w", err)
		}
		for _, s := range page.Schedules {
			tick, due, err := t.last(ctx, s, from, to)
			if err != nil {
				return nil, err
			}
			if due {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks, nil
}

// last is the schedule's last tick planned after from and not after to.
func (t *Ticker) last(ctx context.Context, s schedulertypes.ScheduleSummary, from, to time.Time) (tick Tick, due bool, err error) {
	deployed, err := t.Schedules.GetSchedule(ctx, &scheduler.GetScheduleInput{GroupName: s.GroupName, Name: s.Name})
	if gone := (*schedulertypes.ResourceNotFoundException)(nil); errors.As(err, &gone) {
		return Tick{}, false, nil
	}
	if err != nil {
		return Tick{}, false, fmt.Errorf("get schedule %s: %w", aws.ToString(s.Name), err)
	}
	plan, err := planOf(deployed)
	if err != nil {
		return Tick{}, false, fmt.Errorf("schedule %s: %w", aws.ToString(s.Name), err)
	}
	if deployed.Target == nil {
		return Tick{}, false, fmt.Errorf("schedule %s: has no target", aws.ToString(s.Name))
	}
	at, found := plan.Prev(to.Add(time.Second).Truncate(time.Second)) // to itself is within
	return Tick{
		Schedule: aws.ToString(s.Name), At: at, arn: aws.ToString(deployed.Arn),
		function: aws.ToString(deployed.Target.Arn), input: aws.ToString(deployed.Target.Input),
	}, found && at.After(from), nil
}

func planOf(s *scheduler.GetScheduleOutput) (schedule.Schedule, error) {
	var opts []schedule.Option
	if zone := aws.ToString(s.ScheduleExpressionTimezone); zone != "" {
		opts = append(opts, schedule.In(zone))
	}
	if s.StartDate != nil {
		opts = append(opts, schedule.Starting(*s.StartDate))
	}
	if s.EndDate != nil {
		opts = append(opts, schedule.Ending(*s.EndDate))
	}
	return schedule.Parse(aws.ToString(s.ScheduleExpression), opts...)
}

// Fire delivers a tick as EventBridge Scheduler does; again, it is a duplicate delivery.
func (t *Ticker) Fire(ctx context.Context, tick Tick) error {
	_, err := t.invoke(ctx, tick, types.InvocationTypeEvent)
	if err == nil && t.Fired != nil {
		t.Fired(tick)
	}
	return err
}

// Deliver delivers a tick and waits for the function's answer.
func (t *Ticker) Deliver(ctx context.Context, tick Tick) ([]byte, error) {
	return t.invoke(ctx, tick, types.InvocationTypeRequestResponse)
}

func (t *Ticker) invoke(ctx context.Context, tick Tick, kind types.InvocationType) ([]byte, error) {
	input := strings.NewReplacer(
		schema.AttrScheduledTime, schema.TickID(tick.At),
		schema.AttrExecutionID, rand.Text(),
		schema.AttrAttempt, "1",
		schema.AttrScheduleARN, tick.arn,
	).Replace(tick.input)
	out, err := t.Functions.Invoke(ctx, &lambda.InvokeInput{
		FunctionName: &tick.function, Payload: []byte(input), InvocationType: kind,
	})
	if err != nil {
		return nil, fmt.Errorf("fire schedule %s: %w", tick.Schedule, err)
	}
	if out.FunctionError != nil {
		return nil, fmt.Errorf("fire schedule %s: the function answers %s: %s", tick.Schedule, *out.FunctionError, out.Payload)
	}
	return out.Payload, nil
}
