package cronfence

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

const (
	// defaultFunctionTimeout is Lambda's own, for functions that name none.
	defaultFunctionTimeout = 3 * time.Second
	// throttled is the one error which proves that a function was never started.
	throttled = "Lambda.TooManyRequestsException"
)

// LambdaTarget runs a function with the run object as its event and waits for it. The job's
// default maximum run time is the function's own timeout, read from the function or the one
// behind a version or an alias. An imported function's timeout is unknown and taken as
// Lambda's limit of 15 minutes. A running function cannot be stopped: a stopped or timed-out
// run holds the guard until it can no longer be working, and policy.Replace is refused,
// unless the job is fenced.
func LambdaTarget(fn awslambda.IFunction) Target {
	if fn == nil {
		return nil
	}
	return lambdaTarget{fn}
}

type lambdaTarget struct{ fn awslambda.IFunction }

func (t lambdaTarget) facts(constructs.Construct) targetFacts {
	timeout, known := functionTimeout(t.fn)
	return targetFacts{timeout: timeout, known: known, drain: timeout, unstoppable: "a running function cannot be"}
}

func (t lambdaTarget) work(_ constructs.Construct, m machine) work {
	return work{
		task: state{
			Type: "Task", Resource: m.integration("lambda:invoke"), Parameters: invocation(*t.fn.FunctionArn(), m.runObject()),
		},
		neverStarted: []string{throttled},
	}
}

func (t lambdaTarget) grants(constructs.Construct) grants {
	return grants{permissions: []permission{permit([]string{*t.fn.FunctionArn()}, "lambda:InvokeFunction")}}
}

// functionTimeout looks through versions and aliases for the function itself.
func functionTimeout(fn awslambda.IFunction) (timeout time.Duration, known bool) {
	for range 3 { // an alias of a version of a function
		switch f := fn.(type) {
		case interface{ Timeout() awscdk.Duration }:
			if d := f.Timeout(); d != nil {
				return time.Duration(*d.ToSeconds(nil)) * time.Second, true
			}
			return defaultFunctionTimeout, true
		case interface{ Lambda() awslambda.IFunction }:
			fn = f.Lambda()
		default:
			return schema.MaxFunctionTimeout, false
		}
	}
	return schema.MaxFunctionTimeout, false
}
