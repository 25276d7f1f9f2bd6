package cronfence

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
)

const (
	// defaultFunctionTimeout is Lambda's own, for functions that name none.
	defaultFunctionTimeout = 3 * time.Second
	// maxFunctionTimeout is Lambda's limit: how long a function of unknown timeout may work.
	maxFunctionTimeout = 15 * time.Minute
)

// Target is the work of a job. Each receives one JSON object: scheduler, table, job,
// tick, run, fence, attempt, deadline, interval and payload.
type Target interface {
	// facts says what the job's times follow from; it is asked before anything is made.
	facts() targetFacts
	// task returns the state that does the work with the run object as its input.
	task(m machine) state
	// invoked are the ARNs that the run role must be allowed to invoke.
	invoked() []string
}

// targetFacts is what a target knows about its own end.
type targetFacts struct {
	timeout time.Duration // its own bound; 0 when it has none
	known   bool          // that the timeout is the target's own and no limit of AWS
	drain   time.Duration // how long work may go on after its execution was stopped
}

// LambdaTarget runs a function and waits for it. The job's default maximum run time is
// the function's own timeout, read from the function or the one behind a version or an
// alias. An imported function's timeout is unknown and taken as Lambda's limit of 15
// minutes. A stopped or timed-out run holds the guard until the function can no longer
// be working, unless the job is fenced: a running function cannot be stopped.
func LambdaTarget(fn awslambda.IFunction) Target {
	if fn == nil {
		return nil
	}
	return lambdaTarget{fn}
}

type lambdaTarget struct{ fn awslambda.IFunction }

func (t lambdaTarget) facts() targetFacts {
	timeout, known := functionTimeout(t.fn)
	return targetFacts{timeout: timeout, known: known, drain: timeout}
}

func (t lambdaTarget) task(m machine) state {
	return state{Type: "Task", Resource: m.invoke, Parameters: invocation(*t.fn.FunctionArn(), m.runObject())}
}

func (t lambdaTarget) invoked() []string { return []string{*t.fn.FunctionArn()} }

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
			return maxFunctionTimeout, false
		}
	}
	return maxFunctionTimeout, false
}
