package cronfence_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/schedule"
)

func TestScheduleDeliversTicksToTheDispatcher(t *testing.T) {
	f := synth(t)
	for _, want := range []struct {
		tpl                        template
		job, expression, zone      string
		start, end                 any
		eventAge                   float64
		dispatcher, queue, roleArn string
	}{
		{f.main, "cleanup", "cron(* * * * ? *)", "UTC", nil, nil, 900, "<SchedulerDispatcher", "<SchedulerDeadLetters", "<SchedulerScheduleRole"},
		{f.main, "beside", "rate(7 minutes)", "UTC", nil, nil, 900, "<SchedulerDispatcher", "<SchedulerDeadLetters", "<SchedulerScheduleRole"},
		// A start deadline of 48 h is more than the day that EventBridge Scheduler tries for.
		{f.more, "audit", "cron(0 9-17 ? * MON-FRI *)", "Europe/Berlin", "2026-09-07T00:00:00Z", "2027-09-07T00:00:00Z", 86400, "<import Main:", "<import Main:", "<import Main:"},
	} {
		p := want.tpl.named(t, "AWS::Scheduler::Schedule", "Name", want.job+".shop").Properties
		if p["ScheduleExpression"] != want.expression || p["ScheduleExpressionTimezone"] != want.zone || p["StartDate"] != want.start || p["EndDate"] != want.end {
			t.Errorf("%s: expression %v, zone %v, start %v, end %v", want.job, p["ScheduleExpression"], p["ScheduleExpressionTimezone"], p["StartDate"], p["EndDate"])
		}
		if p["State"] != "ENABLED" || p["FlexibleTimeWindow"].(map[string]any)["Mode"] != "OFF" {
			t.Errorf("%s: state %v, window %v", want.job, p["State"], p["FlexibleTimeWindow"])
		}
		target := p["Target"].(map[string]any)
		retry := target["RetryPolicy"].(map[string]any)
		if retry["MaximumEventAgeInSeconds"] != want.eventAge || retry["MaximumRetryAttempts"] != 185.0 {
			t.Errorf("%s: retry policy %v: want an event age of %v", want.job, retry, want.eventAge)
		}
		for got, prefix := range map[string]string{
			infratest.Text(target["Arn"]): want.dispatcher, infratest.Text(target["RoleArn"]): want.roleArn,
			infratest.Text(target["DeadLetterConfig"].(map[string]any)["Arn"]): want.queue,
		} {
			if !strings.HasPrefix(got, prefix) {
				t.Errorf("%s: target refers to %s: want %s...", want.job, got, prefix)
			}
		}
	}
	group := f.main.named(t, "AWS::Scheduler::ScheduleGroup", "Name", "cronfence-shop")
	if tags := fmt.Sprint(group.Properties["Tags"]); !strings.Contains(tags, schema.TagTable) || !strings.Contains(tags, "SchedulerTable") {
		t.Errorf("tags %s: want %s to name the table", tags, schema.TagTable)
	}
}

func TestSchedulesWaitForWhatTheyInvoke(t *testing.T) {
	f := synth(t)
	deps := strings.Join(f.main.named(t, "AWS::Scheduler::Schedule", "Name", "cleanup.shop").DependsOn, " ")
	for _, want := range []string{"SchedulerDispatcher", "SchedulerScheduleRoleDefaultPolicy"} {
		if !strings.Contains(deps, want) {
			t.Errorf("schedule depends on %s: want %s too", deps, want)
		}
	}
}

// twoSchedulers is a stack with one job of the same id on each of two schedulers, and a
// second job; the order of the jobs is the caller's.
func twoSchedulers(t *testing.T, jobs ...string) template {
	t.Helper()
	infratest.RequireNode(t)
	dir := t.TempDir()
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: &dir})
	stack := awscdk.NewStack(app, jsii.String("Two"), nil)
	fn := function(stack, "Work", time.Minute)
	for _, name := range []string{"shop-1", "shop1"} { // alike but for what logical ids drop
		s := cronfence.NewScheduler(stack, name, &cronfence.SchedulerProps{Name: name, Build: cronfence.BuildPlaceholder})
		for _, job := range jobs {
			s.AddJob(job, &cronfence.JobProps{Schedule: schedule.Every(time.Hour), Target: cronfence.LambdaTarget(fn)})
		}
	}
	return read(dir, stack)
}

func TestNamesNeverCollideAndSurviveReordering(t *testing.T) {
	tpl := twoSchedulers(t, "a-b", "ab", "a_b")
	seen := map[string]string{}
	for id, r := range tpl.Resources {
		for _, property := range []string{"StateMachineName", "Name", "AlarmName", "DashboardName", "TableName", "FunctionName", "QueueName", "RoleName", "LogGroupName"} {
			name := infratest.Text(r.Properties[property])
			if fixed := name != "null" && !strings.HasPrefix(name, "<"); fixed && r.Type != "AWS::Lambda::EventInvokeConfig" && r.Type != "AWS::Lambda::Permission" {
				if other, taken := seen[r.Type+name]; taken {
					t.Errorf("%s and %s are both called %q", id, other, name)
				}
				seen[r.Type+name] = id
			}
		}
	}
	if machines := len(tpl.all("AWS::StepFunctions::StateMachine")); machines != 6 || len(seen) != 50 {
		t.Errorf("%d machines, %d fixed names: want 6, and 50 with schedules, groups, sweeps, dashboards, four alarms a job and four a scheduler", machines, len(seen))
	}
	ids := func(tpl template) []string {
		return slices.Sorted(maps.Keys(tpl.Resources))
	}
	if got, want := ids(twoSchedulers(t, "a_b", "ab", "a-b")), ids(tpl); !slices.Equal(got, want) {
		t.Errorf("logical ids depend on the order of the jobs:\n got %v\nwant %v", got, want)
	}
}

func TestNamesFitTheirLimits(t *testing.T) {
	scheduler, job := strings.Repeat("s", 31), strings.Repeat("j", 48)
	if err := schema.CheckScheduler(scheduler); err != nil {
		t.Fatal(err)
	}
	if err := schema.CheckJob(job); err != nil {
		t.Fatal(err)
	}
	if n := len(schema.MachineName(scheduler, job)); n > 80 {
		t.Errorf("machine name of %d characters: Step Functions allows 80", n)
	}
	allowed := regexp.MustCompile(`^[0-9a-zA-Z-_.]{1,64}$`)
	for _, name := range []string{schema.ScheduleName(scheduler, job), schema.GroupName(scheduler)} {
		if !allowed.MatchString(name) {
			t.Errorf("schedule or group name %q: EventBridge Scheduler refuses it", name)
		}
	}
	if run := schema.RunID(job, "2026-03-08T07:00:00Z", 10); len(run) > 80 || strings.Contains(run, ":") {
		t.Errorf("run id %q: Step Functions refuses it", run)
	}
}

func TestNothingIsBuiltForAStackThatIsNotAskedFor(t *testing.T) {
	infratest.RequireNode(t)
	app := awscdk.NewApp(&awscdk.AppProps{
		Outdir: jsii.String(t.TempDir()), Context: &map[string]any{"aws:cdk:bundling-stacks": []string{}}, // as `cdk list` says it
	})
	cronfence.NewScheduler(awscdk.NewStack(app, jsii.String("Main"), nil), "Scheduler", &cronfence.SchedulerProps{
		Name: "shop", Build: func(b cronfence.GoBuild) error { t.Errorf("built %s", b.Package); return nil },
	})
}
