package cronfence_test

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// A stack with one scheduler and one guarded job. The function's timeout is the job's
// maximum run time.
func ExampleNewScheduler() {
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("Jobs"), nil)
	scheduler := cronfence.NewScheduler(stack, "Scheduler", &cronfence.SchedulerProps{Name: "shop"})

	fn := cronfence.NewGoFunction(stack, "Cleanup", &cronfence.GoFunctionProps{
		Package: "example.com/shop/jobs/cleanup",
		Timeout: 5 * time.Minute,
	})
	scheduler.AddJob("cleanup", &cronfence.JobProps{
		Schedule: schedule.Every(time.Minute),
		Target:   cronfence.LambdaTarget(fn),
	})
	app.Synth(nil)
}

// A job in a stack of its own, on the scheduler of another: a nightly report in local
// time that may start up to an hour late.
func ExampleNewJob() {
	app := awscdk.NewApp(nil)
	platform := awscdk.NewStack(app, jsii.String("Platform"), nil)
	scheduler := cronfence.NewScheduler(platform, "Scheduler", &cronfence.SchedulerProps{Name: "shop"})

	reports := awscdk.NewStack(app, jsii.String("Reports"), nil)
	fn := cronfence.NewGoFunction(reports, "Report", &cronfence.GoFunctionProps{
		Package: "example.com/shop/jobs/report",
		Timeout: 15 * time.Minute,
	})
	cronfence.NewJob(reports, "report", &cronfence.JobProps{
		Scheduler:     scheduler,
		Schedule:      schedule.Daily(3, 30, "Europe/Berlin"),
		Target:        cronfence.LambdaTarget(fn),
		StartDeadline: time.Hour,
		Payload:       map[string]string{"kind": "daily"},
	})
	app.Synth(nil)
}
