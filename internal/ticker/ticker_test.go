package ticker

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/google/go-cmp/cmp"
)

// fakeSchedules is EventBridge Scheduler with one schedule: its expression and zone.
type fakeSchedules struct{ expression, zone string }

func (fakeSchedules) ListSchedules(_ context.Context, in *scheduler.ListSchedulesInput, _ ...func(*scheduler.Options)) (*scheduler.ListSchedulesOutput, error) {
	if in.State != schedulertypes.ScheduleStateEnabled {
		return nil, context.Canceled
	}
	return &scheduler.ListSchedulesOutput{Schedules: []schedulertypes.ScheduleSummary{{GroupName: aws.String("g"), Name: aws.String("s")}}}, nil
}

func (f fakeSchedules) GetSchedule(context.Context, *scheduler.GetScheduleInput, ...func(*scheduler.Options)) (*scheduler.GetScheduleOutput, error) {
	return &scheduler.GetScheduleOutput{
		Arn: aws.String("arn:s"), ScheduleExpression: &f.expression, ScheduleExpressionTimezone: &f.zone,
		Target: &schedulertypes.Target{
			Arn:   aws.String("arn:f"),
			Input: aws.String(`{"tick":"<aws.scheduler.scheduled-time>","n":"<aws.scheduler.attempt-number>","arn":"<aws.scheduler.schedule-arn>","id":"<aws.scheduler.execution-id>"}`),
		},
	}, nil
}

// fakeFunctions remembers what was invoked.
type fakeFunctions struct{ calls []*lambda.InvokeInput }

func (f *fakeFunctions) Invoke(_ context.Context, in *lambda.InvokeInput, _ ...func(*lambda.Options)) (*lambda.InvokeOutput, error) {
	f.calls = append(f.calls, in)
	return &lambda.InvokeOutput{}, nil
}

func TestATickIsFiredOnceInTheIntervalThatHoldsIt(t *testing.T) {
	at := func(clock string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, "2026-09-07T"+clock+"Z")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct{ name, expression, zone, from, to, want string }{
		{"none is due", "cron(0/15 * * * ? *)", "UTC", "02:00:00.2", "02:14:59.9", ""},
		{"at the end", "cron(0/15 * * * ? *)", "UTC", "02:14:59.9", "02:15:00", "02:15:00"},
		{"not at the start again", "cron(0/15 * * * ? *)", "UTC", "02:15:00", "02:15:01", ""},
		{"the last of several", "cron(0/15 * * * ? *)", "UTC", "02:10:00", "02:59:00", "02:45:00"},
		{"in its zone", "cron(30 4 * * ? *)", "Europe/Berlin", "02:00:00", "02:45:00", "02:30:00"},
		{"a rate", "rate(1 minute)", "", "02:00:30", "02:01:00.1", "02:01:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ticker := Ticker{Schedules: fakeSchedules{c.expression, c.zone}}
			ticks, err := ticker.Between(t.Context(), at(c.from), at(c.to))
			if err != nil {
				t.Fatal(err)
			}
			var got string
			for _, tick := range ticks {
				got += tick.At.UTC().Format(time.TimeOnly)
			}
			if got != c.want {
				t.Errorf("fires %q, want %q", got, c.want)
			}
		})
	}
}

func TestContextAttributesAreFilledInAndEveryDeliveryHasAnIdOfItsOwn(t *testing.T) {
	functions := &fakeFunctions{}
	ticker := Ticker{Schedules: fakeSchedules{"rate(1 hour)", ""}, Functions: functions}
	to := time.Date(2026, time.September, 7, 2, 0, 0, 1, time.UTC)
	ticks, err := ticker.Between(t.Context(), to.Add(-time.Minute), to)
	if err != nil || len(ticks) != 1 {
		t.Fatalf("got %v (%v), want one tick", ticks, err)
	}
	ids := map[string]bool{}
	for range 2 {
		if err := ticker.Fire(t.Context(), ticks[0]); err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		if err := json.Unmarshal(functions.calls[len(functions.calls)-1].Payload, &got); err != nil {
			t.Fatal(err)
		}
		ids[got["id"]] = true
		delete(got, "id")
		if diff := cmp.Diff(map[string]string{"tick": "2026-09-07T02:00:00Z", "n": "1", "arn": "arn:s"}, got); diff != "" {
			t.Error(diff)
		}
	}
	if len(ids) != 2 {
		t.Errorf("ids %v, want two", ids)
	}
}
