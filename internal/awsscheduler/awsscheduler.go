// Package awsscheduler reads the schedules of a scheduler's group from EventBridge Scheduler.
package awsscheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/cronfence/cronfence/internal/sentinel"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Client is what is needed of EventBridge Scheduler.
type Client interface {
	ListSchedules(context.Context, *scheduler.ListSchedulesInput, ...func(*scheduler.Options)) (*scheduler.ListSchedulesOutput, error)
	GetSchedule(context.Context, *scheduler.GetScheduleInput, ...func(*scheduler.Options)) (*scheduler.GetScheduleOutput, error)
}

// Group is the schedule group of one scheduler.
type Group struct {
	client    Client
	scheduler string
}

var _ sentinel.Schedules = (*Group)(nil)

// New returns the group of a scheduler, by the name that the constructs give it.
func New(client Client, name string) *Group { return &Group{client, name} }

// List implements sentinel.Schedules. Schedules in the group that are no job's are left out.
func (g *Group) List(ctx context.Context) ([]sentinel.Schedule, error) {
	group := schema.GroupName(g.scheduler)
	in := &scheduler.ListSchedulesInput{GroupName: &group, MaxResults: aws.Int32(100)}
	var found []sentinel.Schedule
	for {
		out, err := g.client.ListSchedules(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("list schedules of group %s: %w", group, err)
		}
		for _, s := range out.Schedules {
			name := aws.ToString(s.Name)
			job, _, _ := strings.Cut(name, ".") // no job's name has one
			if schema.CheckJob(job) != nil || schema.ScheduleName(g.scheduler, job) != name {
				continue
			}
			found = append(found, sentinel.Schedule{
				Name: name, Job: job, Modified: aws.ToTime(s.LastModificationDate), Disabled: s.State == types.ScheduleStateDisabled,
			})
		}
		if in.NextToken = out.NextToken; in.NextToken == nil {
			return found, nil
		}
	}
}

// Spec implements sentinel.Schedules.
func (g *Group) Spec(ctx context.Context, name string) (schema.Spec, error) {
	group := schema.GroupName(g.scheduler)
	out, err := g.client.GetSchedule(ctx, &scheduler.GetScheduleInput{GroupName: &group, Name: &name})
	if err != nil {
		return schema.Spec{}, fmt.Errorf("get schedule %s: %w", name, err)
	}
	if out.Target == nil {
		return schema.Spec{}, fmt.Errorf("schedule %s: has no target", name)
	}
	var ev schema.TickEvent
	if err := json.Unmarshal([]byte(aws.ToString(out.Target.Input)), &ev); err != nil {
		return schema.Spec{}, fmt.Errorf("schedule %s: read target input: %w", name, err)
	}
	return ev.Spec, nil
}
