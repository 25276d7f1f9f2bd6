package cronfence

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbatch"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// BatchTargetProps are the props of a [BatchTarget].
type BatchTargetProps struct {
	// JobDefinition is what runs: one container, on ECS or Fargate. Required.
	JobDefinition awsbatch.IJobDefinition
	// JobQueue is where it waits for its turn. Required.
	JobQueue awsbatch.IJobQueue
}

// BatchTarget submits an AWS Batch job and waits for it. Its container gets the run object as
// JSON in the environment variable CRONFENCE_RUN; exit status 0 is success. Batch takes 30 KiB
// a job, so the payload is 16 KiB at most. The time in Batch's queue counts to the maximum
// run time, which is also set as Batch's own timeout of an attempt. A stopped run's container
// gets SIGTERM, and SIGKILL 30 seconds later; for a minute the guard is held. Stopping is
// Step Functions' best effort.
func BatchTarget(props *BatchTargetProps) Target {
	if props == nil {
		props = &BatchTargetProps{}
	}
	return batchTarget{*props}
}

type batchTarget struct{ BatchTargetProps }

const (
	batchStopTimeout = 30 * time.Second // of Batch, as of ECS
	maxBatchPayload  = 16 * 1024
	minBatchTimeout  = 60 // seconds
)

func (t batchTarget) facts(constructs.Construct) targetFacts {
	f := targetFacts{
		doubtful: true, drain: batchStopTimeout + stopAllowance, events: schema.SyncEvents,
		maxPayload: maxBatchPayload, carrier: "Batch's overrides",
	}
	switch t.JobDefinition.(type) {
	case nil:
		f.bad.addf("target: no job definition given: must be the Batch job to submit")
	case awsbatch.EksJobDefinition, awsbatch.MultiNodeJobDefinition:
		f.bad.addf("target: job definition of %q: must be of one container on ECS or Fargate, whose environment a submission can set", *t.JobDefinition.Node().Path())
	}
	if t.JobQueue == nil {
		f.bad.addf("target: no job queue given: must be the Batch queue to submit to")
	}
	return f
}

func (t batchTarget) work(_ constructs.Construct, m machine) work {
	return work{
		task: state{Type: "Task", Resource: m.integration("batch:submitJob.sync"), Parameters: map[string]any{
			"JobName.$":          "$.run",
			"JobDefinition":      *t.JobDefinition.JobDefinitionArn(),
			"JobQueue":           *t.JobQueue.JobQueueArn(),
			"ContainerOverrides": runEnvironment(map[string]any{}),
			"Timeout":            map[string]any{"AttemptDurationSeconds": max(m.spec.MaxRunSeconds, minBatchTimeout)},
		}},
		cancelled: true, object: true,
	}
}

func (t batchTarget) grants(scope constructs.Construct) grants {
	stack := awscdk.Stack_Of(scope)
	arn := func(resource, name string) string {
		return *stack.FormatArn(&awscdk.ArnComponents{Service: jsii.String("batch"), Resource: &resource, ResourceName: &name})
	}
	definition := arnPart(arnPart(*t.JobDefinition.JobDefinitionArn(), "/", 1), ":", 0)
	return grants{permissions: []permission{
		permit([]string{arn("job-definition", definition), arn("job-definition", definition+":*"), *t.JobQueue.JobQueueArn()}, "batch:SubmitJob"),
		permit([]string{arn("job", "*")}, "batch:TerminateJob"), // its id is Batch's
		permit([]string{"*"}, "batch:DescribeJobs"),             // IAM knows no narrower one
		managedRule(scope, "StepFunctionsGetEventsForBatchJobsRule"),
	}}
}
