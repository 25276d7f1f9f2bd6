package cronfence_test

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctionstasks"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/pkg/policy"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// A container that runs for hours on Fargate. A newer tick asks it to stop, waits a minute,
// and then stops it.
func ExampleECSTarget() {
	stack := awscdk.NewStack(awscdk.NewApp(nil), jsii.String("Jobs"), nil)
	scheduler := cronfence.NewScheduler(stack, "Scheduler", &cronfence.SchedulerProps{Name: "shop"})
	vpc := awsec2.NewVpc(stack, jsii.String("Network"), nil)
	task := awsecs.NewFargateTaskDefinition(stack, jsii.String("Task"), nil)
	task.AddContainer(jsii.String("index"), &awsecs.ContainerDefinitionOptions{
		Image:       awsecs.ContainerImage_FromRegistry(jsii.String("example.com/shop/index:1"), nil),
		StopTimeout: awscdk.Duration_Seconds(jsii.Number(90)),
	})
	scheduler.AddJob("index", &cronfence.JobProps{
		Schedule: schedule.Every(4 * time.Hour),
		Target: cronfence.ECSTarget(&cronfence.ECSTargetProps{
			Cluster:        awsecs.NewCluster(stack, jsii.String("Cluster"), &awsecs.ClusterProps{Vpc: vpc}),
			TaskDefinition: task,
		}),
		MaxRun:  8 * time.Hour,
		Overlap: policy.Replace,
		Grace:   time.Minute,
	})
}

// A Batch job whose wait in the queue counts to its maximum run time.
func ExampleBatchTarget() {
	stack := awscdk.NewStack(awscdk.NewApp(nil), jsii.String("Jobs"), nil)
	scheduler := cronfence.NewScheduler(stack, "Scheduler", &cronfence.SchedulerProps{Name: "shop"})
	var definition awsbatch.EcsJobDefinition
	var queue awsbatch.JobQueue
	scheduler.AddJob("render", &cronfence.JobProps{
		Schedule: schedule.Daily(1, 0, "Europe/Berlin"),
		Target:   cronfence.BatchTarget(&cronfence.BatchTargetProps{JobDefinition: definition, JobQueue: queue}),
		MaxRun:   6 * time.Hour,
	})
}

// A Glue job by its name. One night missed is caught up with, if it still helps by noon.
func ExampleGlueTarget() {
	stack := awscdk.NewStack(awscdk.NewApp(nil), jsii.String("Jobs"), nil)
	scheduler := cronfence.NewScheduler(stack, "Scheduler", &cronfence.SchedulerProps{Name: "shop"})
	scheduler.AddJob("warehouse", &cronfence.JobProps{
		Schedule:      schedule.Daily(3, 0, "UTC"),
		Target:        cronfence.GlueTarget("nightly-warehouse"),
		MaxRun:        2 * time.Hour,
		CatchUp:       policy.CatchUpLatest,
		CatchUpWindow: 9 * time.Hour,
	})
}

// A state machine that is there already. Its functions end within five minutes, so that a
// stopped run needs no longer to drain.
func ExampleStateMachineTarget() {
	stack := awscdk.NewStack(awscdk.NewApp(nil), jsii.String("Jobs"), nil)
	scheduler := cronfence.NewScheduler(stack, "Scheduler", &cronfence.SchedulerProps{Name: "shop"})
	existing := awsstepfunctions.StateMachine_FromStateMachineArn(stack, jsii.String("Existing"),
		jsii.String("arn:aws:states:eu-central-1:111122223333:stateMachine:import"))
	scheduler.AddJob("import", &cronfence.JobProps{
		Schedule: schedule.Every(30 * time.Minute),
		Target:   cronfence.StateMachineTarget(existing, &cronfence.StateMachineTargetProps{Drain: 5 * time.Minute}),
	})
}

// A worker anywhere that reads a queue: it takes the message, sends heartbeats while it works,
// and answers with the token. While one run goes on, the newest tick waits.
func ExampleTaskTokenTarget() {
	stack := awscdk.NewStack(awscdk.NewApp(nil), jsii.String("Jobs"), nil)
	scheduler := cronfence.NewScheduler(stack, "Scheduler", &cronfence.SchedulerProps{Name: "shop"})
	queue := awssqs.NewQueue(stack, jsii.String("Work"), &awssqs.QueueProps{EnforceSSL: jsii.Bool(true)})
	scheduler.AddJob("print", &cronfence.JobProps{
		Schedule: schedule.Every(10 * time.Minute),
		Target:   cronfence.TaskTokenTarget(queue, &cronfence.TaskTokenTargetProps{Heartbeat: time.Minute}),
		Overlap:  policy.QueueOne,
	})
}

// Two functions one after the other. The CDK's retries of the service's own errors are left
// out: they could start a function that is still working.
func ExampleChainTarget() {
	stack := awscdk.NewStack(awscdk.NewApp(nil), jsii.String("Jobs"), nil)
	scheduler := cronfence.NewScheduler(stack, "Scheduler", &cronfence.SchedulerProps{Name: "shop"})
	step := func(id string, fn awslambda.IFunction) awsstepfunctionstasks.LambdaInvoke {
		return awsstepfunctionstasks.NewLambdaInvoke(stack, &id, &awsstepfunctionstasks.LambdaInvokeProps{
			LambdaFunction:           fn,
			RetryOnServiceExceptions: jsii.Bool(false),
			ResultPath:               awsstepfunctions.JsonPath_DISCARD(),
		})
	}
	var extract, load awslambda.Function
	scheduler.AddJob("etl", &cronfence.JobProps{
		Schedule: schedule.Daily(2, 30, "America/New_York"),
		Target: cronfence.ChainTarget(step("Extract", extract).Next(step("Load", load)),
			&cronfence.ChainTargetProps{Drain: 15 * time.Minute}),
		MaxRun: 45 * time.Minute,
	})
}
