package cronfence_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctionstasks"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/policy"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// world is what targets run in.
type world struct {
	stack   awscdk.Stack
	vpc     awsec2.Vpc
	cluster awsecs.Cluster
	fn      awslambda.Function
}

func newWorld(stack awscdk.Stack) world {
	vpc := awsec2.NewVpc(stack, jsii.String("Net"), &awsec2.VpcProps{MaxAzs: jsii.Number(1), NatGateways: jsii.Number(1)})
	return world{
		stack: stack, vpc: vpc, fn: function(stack, "Work", time.Minute),
		cluster: awsecs.NewCluster(stack, jsii.String("Cluster"), &awsecs.ClusterProps{Vpc: vpc}),
	}
}

func (w world) fargate(id string, stop time.Duration) awsecs.FargateTaskDefinition {
	task := awsecs.NewFargateTaskDefinition(w.stack, &id, nil)
	for _, name := range []string{"app", "sidecar"} {
		options := &awsecs.ContainerDefinitionOptions{
			ContainerName: &name, Image: awsecs.ContainerImage_FromRegistry(jsii.String("example"), nil), Essential: jsii.Bool(name == "app"),
			Logging: awsecs.LogDrivers_AwsLogs(&awsecs.AwsLogDriverProps{StreamPrefix: &name}),
		}
		if stop > 0 && name == "sidecar" {
			options.StopTimeout = awscdk.Duration_Seconds(jsii.Number(stop.Seconds()))
		}
		task.AddContainer(&name, options)
	}
	return task
}

func (w world) batch() *cronfence.BatchTargetProps {
	definition := awsbatch.NewEcsJobDefinition(w.stack, jsii.String("Definition"), &awsbatch.EcsJobDefinitionProps{
		Container: awsbatch.NewEcsFargateContainerDefinition(w.stack, jsii.String("Container"), &awsbatch.EcsFargateContainerDefinitionProps{
			Image: awsecs.ContainerImage_FromRegistry(jsii.String("example"), nil),
			Cpu:   jsii.Number(1), Memory: awscdk.Size_Gibibytes(jsii.Number(2)),
		}),
	})
	queue := awsbatch.NewJobQueue(w.stack, jsii.String("Queue"), &awsbatch.JobQueueProps{
		ComputeEnvironments: &[]*awsbatch.OrderedComputeEnvironment{{
			Order: jsii.Number(1),
			ComputeEnvironment: awsbatch.NewFargateComputeEnvironment(w.stack, jsii.String("Capacity"),
				&awsbatch.FargateComputeEnvironmentProps{Vpc: w.vpc}),
		}},
	})
	return &cronfence.BatchTargetProps{JobDefinition: definition, JobQueue: queue}
}

// chain is a user's own: a choice, a call with the CDK's retries, a wait.
func (w world) chain(id string) awsstepfunctions.IChainable {
	scope := constructs.NewConstruct(w.stack, &id)
	call := awsstepfunctionstasks.NewLambdaInvoke(scope, jsii.String("Call"), &awsstepfunctionstasks.LambdaInvokeProps{
		LambdaFunction: w.fn, ResultPath: awsstepfunctions.JsonPath_DISCARD(),
	})
	pause := awsstepfunctions.NewWait(scope, jsii.String("Pause"), &awsstepfunctions.WaitProps{
		Time: awsstepfunctions.WaitTime_Duration(awscdk.Duration_Seconds(jsii.Number(20))),
	})
	done := awsstepfunctions.NewSucceed(scope, jsii.String("Done"), nil)
	first := awsstepfunctions.NewChoice(scope, jsii.String("First attempt?"), nil)
	return first.
		When(awsstepfunctions.Condition_NumberEquals(jsii.String("$.attempt"), jsii.Number(1)), call.Next(pause).Next(done), nil).
		Otherwise(awsstepfunctions.NewFail(scope, jsii.String("Give up"), &awsstepfunctions.FailProps{Error: jsii.String("GivenUp")}))
}

func (w world) nested(id string, kind awsstepfunctions.StateMachineType) awsstepfunctions.StateMachine {
	return awsstepfunctions.NewStateMachine(w.stack, &id, &awsstepfunctions.StateMachineProps{
		StateMachineType: kind,
		DefinitionBody:   awsstepfunctions.DefinitionBody_FromChainable(awsstepfunctions.NewPass(w.stack, jsii.String(id+"Pass"), nil)),
	})
}

// targetsTemplate is a stack with a job on each kind of target, made once for all tests.
var targetsTemplate = sync.OnceValue(func() template {
	dir := filepath.Join(scratch, "targets.out")
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: &dir})
	w := newWorld(awscdk.NewStack(app, jsii.String("Targets"), nil))
	w.addTargets(newScheduler(w.stack))
	return read(dir, w.stack)
})

// addTargets gives the scheduler a job on each kind of target.
func (w world) addTargets(s *cronfence.Scheduler) {
	add := func(name string, target cronfence.Target, change ...func(*cronfence.JobProps)) {
		p := cronfence.JobProps{
			Schedule: schedule.Every(time.Hour), Target: target, Payload: map[string]any{"q": "a<b'&\\\"c"},
		}
		for _, f := range change {
			f(&p)
		}
		s.AddJob(name, &p)
	}
	short := func(p *cronfence.JobProps) { p.MaxRun = 40 * time.Second }
	add("ecs", cronfence.ECSTarget(&cronfence.ECSTargetProps{Cluster: w.cluster, TaskDefinition: w.fargate("Task", 2*time.Minute)}),
		func(p *cronfence.JobProps) { p.Overlap, p.Grace = policy.Replace, time.Minute })
	add("ecs-short", cronfence.ECSTarget(&cronfence.ECSTargetProps{
		Cluster: w.cluster, TaskDefinition: w.fargate("Public", 0), Container: "sidecar", AssignPublicIP: true,
		SecurityGroups: []awsec2.ISecurityGroup{awsec2.NewSecurityGroup(w.stack, jsii.String("Group"), &awsec2.SecurityGroupProps{Vpc: w.vpc})},
	}), short, func(p *cronfence.JobProps) { p.Overlap = policy.Allow })
	instances := awsecs.NewEc2TaskDefinition(w.stack, jsii.String("OnInstances"), nil)
	instances.AddContainer(jsii.String("app"), &awsecs.ContainerDefinitionOptions{
		Image: awsecs.ContainerImage_FromRegistry(jsii.String("example"), nil), MemoryLimitMiB: jsii.Number(64),
	})
	add("ecs-instances", cronfence.ECSTarget(&cronfence.ECSTargetProps{Cluster: w.cluster, TaskDefinition: instances}))
	add("batch", cronfence.BatchTarget(w.batch()))
	add("glue", cronfence.GlueTarget("nightly-etl"), func(p *cronfence.JobProps) { p.MaxRun = 90 * time.Minute })
	add("nested", cronfence.StateMachineTarget(w.nested("Nested", awsstepfunctions.StateMachineType_STANDARD), nil))
	queue := awssqs.NewQueue(w.stack, jsii.String("Work queue"), &awssqs.QueueProps{
		Fifo: jsii.Bool(true), EnforceSSL: jsii.Bool(true), EncryptionMasterKey: awskms.NewKey(w.stack, jsii.String("Key"), nil),
	})
	add("token", cronfence.TaskTokenTarget(queue, &cronfence.TaskTokenTargetProps{Heartbeat: time.Minute}))
	add("token-plain", cronfence.TaskTokenTarget(awssqs.NewQueue(w.stack, jsii.String("Plain queue"), nil), nil), short)
	add("chain", cronfence.ChainTarget(w.chain("Long chain"), &cronfence.ChainTargetProps{Drain: time.Minute}))
	add("chain-short", cronfence.ChainTarget(w.chain("Short chain"), nil), short)
}

func targets(t *testing.T) template {
	t.Helper()
	infratest.RequireNode(t)
	return targetsTemplate()
}
