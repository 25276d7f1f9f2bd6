package awsscheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/cronfence/cronfence/internal/awsscheduler"
)

// group is a group of schedules in two pages.
type group struct{ input string }

func (group) ListSchedules(_ context.Context, in *scheduler.ListSchedulesInput, _ ...func(*scheduler.Options)) (*scheduler.ListSchedulesOutput, error) {
	entry := func(name string, state types.ScheduleState) types.ScheduleSummary {
		return types.ScheduleSummary{Name: &name, State: state, LastModificationDate: aws.Time(time.Unix(1, 0))}
	}
	if in.NextToken == nil {
		return &scheduler.ListSchedulesOutput{NextToken: aws.String("more"), Schedules: []types.ScheduleSummary{
			entry("cleanup.shop", types.ScheduleStateEnabled), entry("_sentinel.shop", types.ScheduleStateEnabled), entry("by-hand", types.ScheduleStateEnabled),
		}}, nil
	}
	return &scheduler.ListSchedulesOutput{Schedules: []types.ScheduleSummary{
		entry("asleep.shop", types.ScheduleStateDisabled), entry("sync.shop", types.ScheduleStateEnabled), entry("sync.other", types.ScheduleStateEnabled),
	}}, nil
}

func (g group) GetSchedule(context.Context, *scheduler.GetScheduleInput, ...func(*scheduler.Options)) (*scheduler.GetScheduleOutput, error) {
	return &scheduler.GetScheduleOutput{Target: &types.Target{Input: &g.input}}, nil
}

func TestListNamesTheJobsAndWhetherTheyTick(t *testing.T) {
	list, err := awsscheduler.New(group{}, "shop").List(t.Context())
	if err != nil || len(list) != 3 || list[0].Job != "cleanup" || !list[1].Disabled || list[1].Job != "asleep" || list[2].Job != "sync" {
		t.Errorf("%+v, %v: want cleanup, asleep, which is disabled, and sync", list, err)
	}
}

func TestSpecIsReadFromTheTargetInput(t *testing.T) {
	spec, err := awsscheduler.New(group{`{"job":"sync","spec":{"job":"sync","overlap":"skip","leaseSeconds":120}}`}, "shop").Spec(t.Context(), "sync.shop")
	if err != nil || spec.Job != "sync" || spec.LeaseSeconds != 120 {
		t.Errorf("%+v, %v", spec, err)
	}
	if _, err := awsscheduler.New(group{"no JSON"}, "shop").Spec(t.Context(), "sync.shop"); err == nil {
		t.Error("want an error of input that is no tick's")
	}
}
