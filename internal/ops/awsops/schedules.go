package awsops

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// liveSchedule is a schedule as it is: what of it can be compared.
type liveSchedule struct {
	Name                             string
	State, Expression, Timezone      string
	Start, End                       string // RFC 3339, UTC
	Target, Role, Input, DeadLetters string
	MaxAgeSeconds, Retries           int64
}

// looks is how many schedules are read side by side.
const looks = 8

// group reads all schedules of the scheduler's group, the sentinel's too.
func (a *around) group(ctx context.Context) ([]liveSchedule, error) {
	group := schema.GroupName(a.name)
	var names []string
	pages := scheduler.NewListSchedulesPaginator(a.schedules, &scheduler.ListSchedulesInput{GroupName: &group, MaxResults: aws.Int32(100)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range page.Schedules {
			names = append(names, aws.ToString(s.Name))
		}
	}
	live, errs := make([]liveSchedule, len(names)), make([]error, len(names))
	var wg sync.WaitGroup
	free := make(chan struct{}, looks)
	for i, name := range names {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			out, err := a.schedules.GetSchedule(ctx, &scheduler.GetScheduleInput{GroupName: &group, Name: &name})
			if errs[i] = err; err == nil {
				live[i] = liveOf(name, out)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return live, nil
}

func liveOf(name string, out *scheduler.GetScheduleOutput) liveSchedule {
	s := liveSchedule{
		Name: name, State: string(out.State), Expression: aws.ToString(out.ScheduleExpression),
		Timezone: aws.ToString(out.ScheduleExpressionTimezone), Start: instantOf(out.StartDate), End: instantOf(out.EndDate),
	}
	if t := out.Target; t != nil {
		s.Target, s.Role, s.Input = aws.ToString(t.Arn), aws.ToString(t.RoleArn), aws.ToString(t.Input)
		if t.DeadLetterConfig != nil {
			s.DeadLetters = aws.ToString(t.DeadLetterConfig.Arn)
		}
		if r := t.RetryPolicy; r != nil {
			s.MaxAgeSeconds, s.Retries = int64(aws.ToInt32(r.MaximumEventAgeInSeconds)), int64(aws.ToInt32(r.MaximumRetryAttempts))
		}
	}
	return s
}

func instantOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// examineSchedules compares schedules with the spec in their own input, and with the stacks
// that deployed them.
func (a *around) examineSchedules(ctx context.Context, x *ops.Diagnosis, live []liveSchedule) {
	stacks := deployments{around: a, byName: map[string]deployedSchedule{}}
	compared := map[string]bool{}
	for _, s := range live {
		deployed, err := stacks.of(ctx, s.Name)
		switch {
		case err != nil:
			x.Skip("schedules against the deployed stacks", reason(err))
		default:
			compared[s.Name] = true
			if wrong := differences(s, deployed); len(wrong) > 0 {
				x.Add(ops.FoundScheduleChanged, jobOf(s.Name), a.asDeployed(s, deployed),
					"schedule %s is not as stack %s deployed it: %s", s.Name, deployed.stack, strings.Join(wrong, "; "))
				continue
			}
		}
		if wrong := against(s); !compared[s.Name] && wrong != "" {
			x.Add(ops.FoundScheduleChanged, jobOf(s.Name), a.update(s.Name, ".ScheduleExpression=... to what its input says, or change the job and deploy"), "schedule %s: %s", s.Name, wrong)
		}
	}
	for name, deployed := range stacks.byName {
		if !stacks.asked[name] {
			x.Add(ops.FoundScheduleMissing, jobOf(name), "change the job's description and deploy, which makes the schedule anew, or remove the job, deploy, add it, deploy",
				"stack %s deployed schedule %s, which is gone: the job does not tick", deployed.stack, name)
		}
	}
}

func jobOf(schedule string) string {
	if job := schema.JobOfSchedule(schedule); schema.CheckJob(job) == nil {
		return job
	}
	return ""
}

// against compares a job's schedule with the spec that its own input carries.
func against(s liveSchedule) string {
	job := jobOf(s.Name)
	if job == "" {
		return ""
	}
	var ev schema.TickEvent
	if err := json.Unmarshal([]byte(s.Input), &ev); err != nil {
		return fmt.Sprintf("its input is no tick: %v", err)
	}
	switch {
	case ev.Spec.Job != job:
		return fmt.Sprintf("its input is that of job %q", ev.Spec.Job)
	case ev.Spec.Schedule != s.Expression || zone(ev.Spec.Timezone) != zone(s.Timezone):
		return fmt.Sprintf("it ticks by %s in %s, and the job was deployed with %s in %s", s.Expression, zone(s.Timezone), ev.Spec.Schedule, zone(ev.Spec.Timezone))
	}
	return ""
}

func zone(name string) string {
	if name == "" {
		return "UTC"
	}
	return name
}

// differences says what of a schedule is not as deployed.
func differences(s liveSchedule, d deployedSchedule) []string {
	var wrong []string
	for _, c := range []struct{ what, is, deployed string }{
		{"state", s.State, d.State},
		{"expression", s.Expression, d.Expression},
		{"timezone", zone(s.Timezone), zone(d.Timezone)},
		{"start", s.Start, d.Start},
		{"end", s.End, d.End},
		{"target", s.Target, d.Target},
		{"role", s.Role, d.Role},
		{"dead letters", s.DeadLetters, d.DeadLetters},
	} {
		if c.is != c.deployed {
			wrong = append(wrong, fmt.Sprintf("its %s is %q, not %q", c.what, c.is, c.deployed))
		}
	}
	if s.MaxAgeSeconds != d.MaxAgeSeconds || s.Retries != d.Retries {
		wrong = append(wrong, fmt.Sprintf("it retries %d times in %d s, not %d in %d s", s.Retries, s.MaxAgeSeconds, d.Retries, d.MaxAgeSeconds))
	}
	if !sameJSON(s.Input, d.Input) {
		wrong = append(wrong, "its target's input is another")
	}
	return wrong
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	return reflect.DeepEqual(x, y)
}

// asDeployed is the command that makes a schedule what its stack says. CloudFormation itself
// sees no change, and UpdateSchedule replaces all fields.
func (a *around) asDeployed(s liveSchedule, d deployedSchedule) string {
	text := func(v any) string {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false) // the input has context attributes in <>
		_ = e.Encode(v)
		return strings.TrimSpace(b.String())
	}
	set := func(field, is, deployed string) string {
		switch {
		case is == deployed:
			return ""
		case deployed == "":
			return " | del(" + field + ")"
		}
		return " | " + field + "=" + text(deployed)
	}
	change := set(".State", s.State, d.State) + set(".ScheduleExpression", s.Expression, d.Expression) +
		set(".ScheduleExpressionTimezone", zone(s.Timezone), zone(d.Timezone)) + set(".StartDate", s.Start, d.Start) + set(".EndDate", s.End, d.End) +
		set(".Target.Arn", s.Target, d.Target) + set(".Target.RoleArn", s.Role, d.Role) + set(".Target.DeadLetterConfig.Arn", s.DeadLetters, d.DeadLetters)
	if !sameJSON(s.Input, d.Input) {
		change += set(".Target.Input", s.Input, d.Input)
	}
	if s.MaxAgeSeconds != d.MaxAgeSeconds || s.Retries != d.Retries {
		change += fmt.Sprintf(" | .Target.RetryPolicy={MaximumEventAgeInSeconds: %d, MaximumRetryAttempts: %d}", d.MaxAgeSeconds, d.Retries)
	}
	return a.update(s.Name, strings.TrimPrefix(change, " | "))
}

func (a *around) update(name, change string) string {
	return fmt.Sprintf("aws scheduler get-schedule --group-name %s --name %s | jq %s | aws scheduler update-schedule --cli-input-json file:///dev/stdin",
		schema.GroupName(a.name), name, quote("del(.Arn, .CreationDate, .LastModificationDate) | "+change))
}
