package cronfence_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// versions are one stack before and after each change, made once for all tests: jobs of a
// scheduler that is another app's, so that nothing but theirs is in it.
var versions = sync.OnceValue(func() map[string]template {
	dir := filepath.Join(scratch, "versions.out")
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: &dir})
	made := map[string]template{}
	stacks := map[string]awscdk.Stack{}
	for name, change := range map[string]func(*cronfence.JobProps){
		"before":   func(*cronfence.JobProps) {},
		"removed":  nil,
		"renamed":  func(p *cronfence.JobProps) { p.Name = "billing-2" },
		"schedule": func(p *cronfence.JobProps) { p.Schedule = schedule.Daily(4, 0, "UTC") },
		"payload":  func(p *cronfence.JobProps) { p.Payload = "other" },
		"disabled": func(p *cronfence.JobProps) { p.Disabled = true },
		"spread": func(p *cronfence.JobProps) {
			p.Spread, p.StartDeadline, p.Description = 20*time.Minute, time.Hour, "Bills of the day"
		},
		"queue": func(p *cronfence.JobProps) {
			p.Overlap, p.KeepFirst, p.Retries, p.RetryWindow = policy.QueueOne, true, 2, 3*time.Hour
		},
		"replace": func(p *cronfence.JobProps) {
			p.Overlap, p.Fenced, p.CatchUp, p.CatchUpWindow = policy.Replace, true, policy.CatchUpAll, 48*time.Hour
		},
	} {
		stack := awscdk.NewStack(app, jsii.String("Version-"+name), nil)
		arn := func(service, name string) string { return "arn:aws:" + service + ":eu-central-1:111122223333:" + name }
		s := cronfence.SchedulerFromAttributes(stack, "Scheduler", &cronfence.SchedulerAttributes{
			Name: "shop", TableARN: arn("dynamodb", "table/t"), DeadLettersARN: arn("sqs", "q"), ScheduleRoleARN: "arn:aws:iam::111122223333:role/r",
			DispatcherARN: arn("lambda", "function:d"), HeartbeatARN: arn("lambda", "function:h"), SettlerARN: arn("lambda", "function:s"),
			PageTopicARN: arn("sns", "p"), NoticeTopicARN: arn("sns", "n"),
		})
		target := cronfence.LambdaTarget(awslambda.Function_FromFunctionArn(stack, jsii.String("Work"), jsii.String(arn("lambda", "function:w"))))
		s.AddJob("other", &cronfence.JobProps{Schedule: schedule.Daily(1, 0, "UTC"), Target: target})
		if change != nil {
			p := cronfence.JobProps{Schedule: schedule.Daily(2, 0, "UTC"), Target: target, Payload: "some"}
			change(&p)
			s.AddJob("billing", &p)
		}
		stacks[name] = stack
	}
	for name, stack := range stacks {
		made[name] = read(dir, stack)
	}
	return made
})

func version(t *testing.T, name string) template {
	t.Helper()
	infratest.RequireNode(t)
	return versions()[name]
}

// differences lists the resources of a type that a change makes, changes or removes, as
// "+ type id" and so on.
func differences(before, after template) (out []string) {
	ids := map[string]bool{}
	for id := range before.Resources {
		ids[id] = true
	}
	for id := range after.Resources {
		ids[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		x, had := before.Resources[id]
		y, has := after.Resources[id]
		switch {
		case !had:
			out = append(out, "+ "+y.Type+" "+id)
		case !has:
			out = append(out, "- "+x.Type+" "+id)
		case !reflect.DeepEqual(x.Properties, y.Properties):
			out = append(out, "~ "+x.Type+" "+id)
		}
	}
	return out
}

func count(all []string, prefix string) (n int) {
	for _, s := range all {
		if strings.HasPrefix(s, prefix) {
			n++
		}
	}
	return n
}

// A running execution keeps the definition it was started with, so that a change of the
// schedule must not touch the machine, and one of the payload not the schedule.
func TestChangeTouchesOnlyWhatItChanges(t *testing.T) {
	before := version(t, "before")
	for name, want := range map[string]string{
		"schedule": "AWS::Scheduler::Schedule", "payload": "AWS::StepFunctions::StateMachine",
		"disabled": "AWS::Scheduler::Schedule", "spread": "AWS::Scheduler::Schedule",
	} {
		for _, d := range differences(before, version(t, name)) {
			if !strings.HasPrefix(d, "~ "+want+" SchedulerJobsbilling") && !strings.Contains(d, " AWS::CloudWatch::") { // a disabled job has no overdue alarm
				t.Errorf("%s: %s: want only the job's %s changed, in place", name, d, want)
			}
		}
	}
}

// The table, and with it the job's guard and ledger, is nobody's but the scheduler's: a job
// that is added again goes on with the fences it had, under the same names.
func TestRemovedJobLeavesItsRecordsAndItsNamesFree(t *testing.T) {
	before, removed := version(t, "before"), version(t, "removed")
	got := differences(before, removed)
	for _, d := range got {
		gone := strings.HasPrefix(d, "- ") && strings.Contains(d, " SchedulerJobsbilling")
		shared := strings.HasPrefix(d, "~ AWS::CloudWatch::Dashboard") || strings.HasPrefix(d, "~ AWS::IAM::Policy")
		if !gone && !shared {
			t.Errorf("removing a job: %s", d)
		}
	}
	if count(got, "- AWS::Scheduler::Schedule ") != 1 || count(got, "- AWS::StepFunctions::StateMachine ") != 1 || count(got, "- AWS::CloudWatch::Alarm ") != 4 || count(got, "- ") != 6 {
		t.Errorf("removing a job removes %q: want its schedule, machine and four alarms", got)
	}
}

// A rename is another job: its machine and schedule are replaced, which their new names
// force, and its guard is a new one.
func TestRenameIsAnotherJob(t *testing.T) {
	renamed := version(t, "renamed")
	for kind, property := range map[string]string{"AWS::Scheduler::Schedule": "Name", "AWS::StepFunctions::StateMachine": "StateMachineName"} {
		for _, r := range renamed.all(kind) {
			if name := fmt.Sprint(r.Properties[property]); strings.Contains(name, "billing") && !strings.Contains(name, "billing-2") {
				t.Errorf("%s is still called %s", kind, name)
			}
		}
	}
	if renamed.specOf(t, "billing-2").Job != "billing-2" {
		t.Error("the dispatcher is not told of the new name")
	}
}

func (tpl template) specOf(t *testing.T, job string) schema.Spec {
	t.Helper()
	r := tpl.named(t, "AWS::Scheduler::Schedule", "Name", job+".shop")
	return decode[schema.TickEvent](t, []byte(infratest.Text(r.Properties["Target"].(map[string]any)["Input"]))).Spec
}

func TestOptionsReachTheSchedule(t *testing.T) {
	schedule := func(name string) map[string]any {
		return version(t, name).named(t, "AWS::Scheduler::Schedule", "Name", "billing.shop").Properties
	}
	if got := schedule("disabled"); got["State"] != "DISABLED" {
		t.Errorf("disabled: state %v", got["State"])
	}
	spread := schedule("spread")
	window := spread["FlexibleTimeWindow"].(map[string]any)
	if window["Mode"] != "FLEXIBLE" || window["MaximumWindowInMinutes"] != 20.0 || spread["Description"] != "Bills of the day" {
		t.Errorf("spread: %v, %v", window, spread["Description"])
	}
	if got := schedule("before")["Description"]; got != "Job billing of Cronfence scheduler shop" {
		t.Errorf("description %v by default", got)
	}
}

func TestOptionsReachTheSpec(t *testing.T) {
	if got := version(t, "queue").specOf(t, "billing"); got.Overlap != policy.QueueOne || !got.KeepFirst || got.Retries != 2 || got.RetrySeconds != 10800 || got.GraceSeconds != 0 {
		t.Errorf("queue: %+v", got)
	}
	got := version(t, "replace").specOf(t, "billing")
	if got.GraceSeconds != 30 || got.CatchUp != policy.CatchUpAll || got.CatchUpMax != schema.DefaultCatchUpMax || got.CatchUpSeconds != 172800 || !got.Fenced {
		t.Errorf("replace: %+v", got)
	}
	if got := version(t, "before").specOf(t, "billing"); got.CatchUpMax != 0 || got.CatchUpSeconds != 0 || got.RetrySeconds != 0 {
		t.Errorf("defaults: %+v", got)
	}
}
