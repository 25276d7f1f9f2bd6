package awsops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// deployedSchedule is a schedule as its stack's template has it.
type deployedSchedule struct {
	liveSchedule
	stack string
}

// deployments reads the stacks that deployed schedules, each once.
type deployments struct {
	around  *around
	byName  map[string]deployedSchedule
	asked   map[string]bool
	exports map[string]string
	failed  error // what could not be read once is not asked for again
}

// of finds a schedule in the template of its stack. To CloudFormation a schedule's id is its
// name, without the group.
func (d *deployments) of(ctx context.Context, name string) (deployedSchedule, error) {
	if d.asked == nil {
		d.asked = map[string]bool{}
	}
	d.asked[name] = true
	if s, known := d.byName[name]; known || d.failed != nil {
		return s, d.failed
	}
	out, err := d.around.stacks.DescribeStackResources(ctx, &cloudformation.DescribeStackResourcesInput{PhysicalResourceId: &name})
	if err == nil {
		err = fmt.Errorf("no stack has schedule %s", name)
		for _, r := range out.StackResources {
			if aws.ToString(r.PhysicalResourceId) == name {
				err = d.read(ctx, aws.ToString(r.StackId))
				break
			}
		}
	}
	if err != nil {
		var api smithy.APIError
		if !errors.As(err, &api) || api.ErrorCode() != "ValidationError" { // that is a schedule which no stack deployed
			d.failed = err
		}
		return deployedSchedule{}, err
	}
	s, known := d.byName[name]
	if !known {
		return s, fmt.Errorf("the template of the stack of schedule %s does not have it under that name", name)
	}
	return s, nil
}

// read reads all schedules of a stack.
func (d *deployments) read(ctx context.Context, stackID string) error {
	out, err := d.around.stacks.GetTemplate(ctx, &cloudformation.GetTemplateInput{StackName: &stackID, TemplateStage: types.TemplateStageOriginal})
	if err != nil {
		return err
	}
	t := stackTemplate{id: stackID, physical: map[string]string{}, exports: func(name string) (string, error) { return d.exported(ctx, name) }}
	if err := json.Unmarshal([]byte(aws.ToString(out.TemplateBody)), &t); err != nil {
		return fmt.Errorf("read the template of stack %s: %w", t.name(), err)
	}
	pages := cloudformation.NewListStackResourcesPaginator(d.around.stacks, &cloudformation.ListStackResourcesInput{StackName: &stackID})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, r := range page.StackResourceSummaries {
			t.physical[aws.ToString(r.LogicalResourceId)] = aws.ToString(r.PhysicalResourceId)
		}
	}
	for id, r := range t.Resources {
		if r.Type != "AWS::Scheduler::Schedule" || !d.around.owns(t.physical[id]) {
			continue
		}
		s, err := t.schedule(r.Properties)
		if err != nil {
			return fmt.Errorf("read schedule %s of stack %s: %w", id, t.name(), err)
		}
		d.byName[s.Name] = deployedSchedule{s, t.name()}
	}
	return nil
}

func (d *deployments) exported(ctx context.Context, name string) (string, error) {
	if d.exports == nil {
		d.exports = map[string]string{}
		pages := cloudformation.NewListExportsPaginator(d.around.stacks, &cloudformation.ListExportsInput{})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return "", err
			}
			for _, e := range page.Exports {
				d.exports[aws.ToString(e.Name)] = aws.ToString(e.Value)
			}
		}
	}
	value, there := d.exports[name]
	if !there {
		return "", fmt.Errorf("no stack exports %s", name)
	}
	return value, nil
}

// owns tells whether a schedule of this name is of the scheduler's group.
func (a *around) owns(schedule string) bool {
	return schedule == schema.SweepScheduleName(a.name) || schedule == schema.ScheduleName(a.name, schema.JobOfSchedule(schedule))
}
