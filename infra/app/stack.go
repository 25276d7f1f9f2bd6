package main

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/internal/example"
	"github.com/cronfence/cronfence/pkg/schedule"
)

const (
	stackName     = "CronfenceExample"
	schedulerName = "example"
	jobPackages   = "github.com/cronfence/cronfence/infra/app/jobs/"
)

type stackProps struct {
	architecture string            // of all functions; empty for the library's default
	build        cronfence.Builder // nil builds with the local Go
}

// newStack declares the example: everything in it goes when the stack is deleted.
func newStack(app awscdk.App, props stackProps) {
	stack := awscdk.NewStack(app, jsii.String(stackName), &awscdk.StackProps{
		Description: jsii.String("Cronfence example: three jobs that never overlap themselves"),
	})
	scheduler := cronfence.NewScheduler(stack, "Scheduler", &cronfence.SchedulerProps{
		Name:          schedulerName,
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
		Architecture:  props.architecture,
		Build:         props.build,
	})

	// What a job's author is given: its guard to watch and to check, and a place for notes.
	equip := func(job *cronfence.Job, fn awslambda.Function) {
		job.GrantFence(fn)
		job.GrantNotes(fn)
	}

	// Takes nearly three minutes: two of three ticks find it running and are skipped.
	cleanup := jobFunction(stack, "Cleanup", "cleanup", 5*time.Minute, nil, props)
	equip(scheduler.AddJob("cleanup", &cronfence.JobProps{
		Schedule: schedule.Every(time.Minute),
		Target:   cronfence.LambdaTarget(cleanup),
	}), cleanup)

	// Short enough for its lease, so that its runs need no heartbeat. All that it writes is
	// fenced: nobody waits for an old run.
	catalog := awsdynamodb.NewTable(stack, jsii.String("Catalog"), &awsdynamodb.TableProps{
		PartitionKey:  &awsdynamodb.Attribute{Name: jsii.String(example.CatalogKey), Type: awsdynamodb.AttributeType_STRING},
		BillingMode:   awsdynamodb.BillingMode_PAY_PER_REQUEST,
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	sync := jobFunction(stack, "Sync", "sync", 45*time.Second, map[string]string{example.EnvCatalog: *catalog.TableName()}, props)
	catalog.Grant(sync, jsii.String("dynamodb:UpdateItem"))
	equip(scheduler.AddJob("sync", &cronfence.JobProps{
		Schedule: schedule.Every(15 * time.Minute),
		Target:   cronfence.LambdaTarget(sync),
		Fenced:   true,
	}), sync)

	// In local time. EventBridge has no tick in the night in March in which 02:00 does not
	// exist; `cronfence next` shows such days.
	report := jobFunction(stack, "Report", "report", 15*time.Minute, nil, props)
	equip(scheduler.AddJob("report", &cronfence.JobProps{
		Schedule: schedule.Daily(2, 0, "Europe/Berlin"),
		Target:   cronfence.LambdaTarget(report),
		Payload:  map[string]any{"recipients": []string{"ops@example.com"}},
	}), report)
}

func jobFunction(scope constructs.Construct, id, name string, timeout time.Duration, environment map[string]string, props stackProps) awslambda.Function {
	return cronfence.NewGoFunction(scope, id, &cronfence.GoFunctionProps{
		Package:       jobPackages + name,
		Timeout:       timeout,
		Environment:   environment,
		Architecture:  props.architecture,
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
		Build:         props.build,
	})
}

// architectureOf reads -c architecture=arm64 or x86_64.
func architectureOf(app awscdk.App) string {
	if a := app.Node().TryGetContext(jsii.String("architecture")); a != nil {
		return fmt.Sprint(a)
	}
	return ""
}
