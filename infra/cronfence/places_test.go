package cronfence_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// stackIn is a stack of the app, in a Region or, without one, wherever it is deployed to.
func stackIn(app awscdk.App, id, region string) awscdk.Stack {
	if region == "" {
		return awscdk.NewStack(app, &id, nil)
	}
	return awscdk.NewStack(app, &id, &awscdk.StackProps{Env: &awscdk.Environment{Account: jsii.String("111122223333"), Region: &region}})
}

func newApp(t *testing.T) awscdk.App {
	t.Helper()
	infratest.RequireNode(t)
	return awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir())})
}

func TestSchedulersOfOneNameShareNoAccountAndRegion(t *testing.T) {
	app := newApp(t)
	newScheduler(stackIn(app, "Dev", ""))
	newScheduler(stackIn(app, "Prod", "")) // an account each: the app does not say
	frankfurt := stackIn(app, "Frankfurt", "eu-central-1")
	newScheduler(frankfurt)
	newScheduler(stackIn(app, "Dublin", "eu-west-1"))
	err := propsError(t, func() { newScheduler(stackIn(app, "Again", "eu-central-1")) })
	for _, want := range []string{"Again/Scheduler", `"shop"`, "unique in an account and Region", "aws://111122223333/eu-central-1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %q", err, want)
		}
	}
}

func TestJobIsWhereItsSchedulerIs(t *testing.T) {
	app := newApp(t)
	s := newScheduler(stackIn(app, "Frankfurt", "eu-central-1"))
	for id, region := range map[string]string{"Dublin": "eu-west-1", "Anywhere": ""} {
		stack := stackIn(app, id, region)
		err := propsError(t, func() {
			cronfence.NewJob(stack, "bills", &cronfence.JobProps{Scheduler: s, Schedule: schedule.Every(time.Hour), Target: cronfence.LambdaTarget(function(stack, "Work", time.Minute))})
		})
		for _, want := range []string{id + "/bills", *stack.Environment(), "must be in the scheduler's account and Region, aws://111122223333/eu-central-1"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v\ndoes not say %q", err, want)
			}
		}
	}
}

// Two constructs for one scheduler would each allow what is the other's, and not see a name
// that is taken.
func TestSchedulerIsImportedOnceAStack(t *testing.T) {
	stack := newStack(t)
	target := cronfence.LambdaTarget(function(stack, "Work", time.Minute))
	add := func(id, job string) {
		cronfence.SchedulerFromAttributes(stack, id, attributes()).AddJob(job, &cronfence.JobProps{Schedule: schedule.Every(time.Hour), Target: target})
	}
	add("First", "bills")
	err := propsError(t, func() { add("Second", "bills") })
	for _, want := range []string{"Main/Second/Jobs/bills", `scheduler "platform"`, "one construct for all jobs"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %q", err, want)
		}
	}
}
