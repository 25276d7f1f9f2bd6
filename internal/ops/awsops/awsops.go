// Package awsops finds a deployed scheduler, its records and what stands around them, with
// reading calls alone.
//
// A scheduler's group of schedules is called after it and carries the name of its table in a
// tag, so the command line needs scheduler:ListScheduleGroups and, on that group,
// scheduler:ListTagsForResource.
package awsops

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/cronfence/cronfence/internal/awssfn"
	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job/notes"
)

// Client is what finding a scheduler needs of EventBridge Scheduler.
type Client interface {
	ListScheduleGroups(context.Context, *scheduler.ListScheduleGroupsInput, ...func(*scheduler.Options)) (*scheduler.ListScheduleGroupsOutput, error)
	ListTagsForResource(context.Context, *scheduler.ListTagsForResourceInput, ...func(*scheduler.Options)) (*scheduler.ListTagsForResourceOutput, error)
}

// Open finds a scheduler with the caller's credentials; an empty name means the only one in
// the account and Region. observe hears what needs a person although no call failed; it may
// be nil.
func Open(ctx context.Context, name string, observe engine.Observer) (*ops.Direct, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		return nil, fmt.Errorf("no AWS Region: set AWS_REGION or a region in the AWS configuration, or name a local cloud with --dev")
	}
	found, err := Find(ctx, scheduler.NewFromConfig(cfg), name, cfg.Region)
	if err != nil {
		return nil, err
	}
	watched := &clock{now: time.Now}
	table := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, watched.watch) })
	return &ops.Direct{Name: found.Name, Clock: watched.Ahead, Notes: notesIn(table, found.Table), Around: newAround(cfg, found), Engine: &engine.Engine{
		Store:    dynamo.New(table, found.Table),
		Machines: awssfn.New(sfn.NewFromConfig(cfg)),
		Now:      time.Now, NewToken: rand.Text, Timeout: engine.CommandLineTimeout, Observe: observe,
	}}, nil
}

// notesIn reads the notes that jobs keep in a scheduler's table.
func notesIn(client notes.Reader, table string) ops.Notes {
	return func(ctx context.Context, job, tick string) ([]notes.Note, error) {
		return notes.List(ctx, client, table, job, tick)
	}
}

// Found is a scheduler and its table.
type Found struct{ Name, Table string }

// Find finds a scheduler by its group of schedules.
func Find(ctx context.Context, client Client, name, region string) (Found, error) {
	groups, err := groupsOf(ctx, client)
	if err != nil {
		return Found{}, err
	}
	var names []string
	for n := range groups {
		names = append(names, n)
	}
	slices.Sort(names)
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	arn, there := groups[name]
	if !there {
		return Found{}, &ops.SchedulerError{Name: name, Known: names, Where: "this account in " + region}
	}
	table, err := tableOf(ctx, client, name, arn)
	return Found{name, table}, err
}

// groupsOf lists the schedulers' groups: ARNs by scheduler.
func groupsOf(ctx context.Context, client Client) (map[string]string, error) {
	groups := map[string]string{}
	pages := scheduler.NewListScheduleGroupsPaginator(client, &scheduler.ListScheduleGroupsInput{NamePrefix: aws.String(schema.GroupPrefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list schedule groups: %w", err)
		}
		for _, g := range page.ScheduleGroups {
			name, ok := strings.CutPrefix(aws.ToString(g.Name), schema.GroupPrefix)
			if ok && schema.CheckScheduler(name) == nil {
				groups[name] = aws.ToString(g.Arn)
			}
		}
	}
	return groups, nil
}

func tableOf(ctx context.Context, client Client, name, arn string) (string, error) {
	out, err := client.ListTagsForResource(ctx, &scheduler.ListTagsForResourceInput{ResourceArn: &arn})
	if err != nil {
		return "", fmt.Errorf("read the tags of schedule group %s: %w", schema.GroupName(name), err)
	}
	for _, tag := range out.Tags {
		if aws.ToString(tag.Key) == schema.TagTable {
			return aws.ToString(tag.Value), nil
		}
	}
	return "", fmt.Errorf("schedule group %s has no tag %s, which names the scheduler's table: deploy its stack with this version of the constructs", schema.GroupName(name), schema.TagTable)
}
