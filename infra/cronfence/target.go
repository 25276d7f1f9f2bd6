package cronfence

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Target is the work of a job: one of [LambdaTarget], [ECSTarget], [BatchTarget],
// [GlueTarget], [StateMachineTarget], [TaskTokenTarget] and [ChainTarget]. Each receives one
// JSON object: scheduler, table, job, tick, run, fence, attempt, deadline, interval and
// payload.
type Target interface {
	// facts says what the job's settings follow from, before anything of it is made but
	// the construct itself.
	facts(scope constructs.Construct) targetFacts
	// work returns the job's part of its state machine; scope is the job.
	work(scope constructs.Construct, m machine) work
	// grants are what the run role must be allowed to do, stopping the work included.
	grants(scope constructs.Construct) grants
}

// grants are what a run role must be allowed; statements are those of a user's chain.
type grants struct {
	permissions []permission
	statements  []awsiam.PolicyStatement
}

// targetFacts is what a target knows about its work.
type targetFacts struct {
	bad problems // what is wrong with the target itself
	// timeout is the work's own bound, 0 when it has none; known says that it is the work's
	// own and no limit of AWS.
	timeout time.Duration
	known   bool
	// heartbeat is a bound on silence that must be shorter than the maximum run time.
	heartbeat time.Duration
	// drain is how long work may go on after its execution was stopped; untilDeadline says
	// that it may for as long as the maximum run time.
	drain         time.Duration
	untilDeadline bool
	// doubtful says that no error of the work proves that it ended.
	doubtful bool
	// unstoppable says why Replace cannot stop the work; empty when it can.
	unstoppable string
	// events of history besides those of a task that calls a function.
	events int64
	// maxPayload bounds the payload where AWS takes less than Step Functions, and
	// carrier names what does.
	maxPayload int
	carrier    string
}

// stopAllowance is how long it may take until a stopped run's task is told to stop: Step
// Functions cancels it in its own time.
const stopAllowance = 30 * time.Second

// lambdaLimit is the longest that any function works: what a chain's or another machine's
// work may take to end when nothing else is known.
const lambdaLimit = schema.MaxFunctionTimeout

// managedRule allows the rule through which Step Functions learns how a task of another
// service ended.
func managedRule(scope constructs.Construct, name string) permission {
	rule := awscdk.Stack_Of(scope).FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("events"), Resource: jsii.String("rule"), ResourceName: &name,
	})
	return permit([]string{*rule}, "events:PutTargets", "events:PutRule", "events:DescribeRule")
}

// arnPart is one of the parts of an ARN, which may be a token, between separators.
func arnPart(arn, separator string, i float64) string {
	parts := awscdk.Fn_Split(&separator, &arn, nil)
	return *awscdk.Fn_Select(&i, parts)
}

// runText is a task's parameter that holds the run object as JSON text.
const runText = "States.JsonToString($." + objectField + ")"
