package cronfence

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// StateMachineTargetProps are the props of a [StateMachineTarget].
type StateMachineTargetProps struct {
	// Drain is how long work of the machine may go on after its execution was stopped: the
	// longest timeout of its functions, the stop timeout of its containers. To state it also
	// states that stopping the machine stops its work, which policy.Replace needs. Default:
	// 15 minutes, Lambda's limit.
	Drain time.Duration
}

// StateMachineTarget starts an execution of a Standard state machine with the run object as
// its input and waits for it. The execution is called like the run. A stopped run stops it,
// as Step Functions' best effort. props may be nil.
func StateMachineTarget(machine awsstepfunctions.IStateMachine, props *StateMachineTargetProps) Target {
	if machine == nil {
		return nil
	}
	if props == nil {
		props = &StateMachineTargetProps{}
	}
	return machineTarget{machine, props.Drain}
}

type machineTarget struct {
	machine awsstepfunctions.IStateMachine
	drain   time.Duration
}

func (t machineTarget) facts(constructs.Construct) targetFacts {
	f := targetFacts{doubtful: true, events: schema.SyncEvents}
	f.drainOf("a state machine", t.drain)
	if m, ok := t.machine.(awsstepfunctions.StateMachine); ok && m.StateMachineType() == awsstepfunctions.StateMachineType_EXPRESS {
		f.bad.addf("target: state machine %q of type EXPRESS: must be STANDARD, which alone can be waited for", *t.machine.Node().Path())
	}
	return f
}

// drainOf takes a drain time that only the user can know.
func (f *targetFacts) drainOf(what string, drain time.Duration) {
	f.drain = orDefault("target: drain", drain, lambdaLimit, &f.bad)
	if drain == 0 {
		f.unstoppable = "of " + what + " that is known only once its drain is given"
	}
}

func (t machineTarget) work(_ constructs.Construct, m machine) work {
	return work{
		task: state{Type: "Task", Resource: m.integration("states:startExecution.sync:2"), Parameters: map[string]any{
			"StateMachineArn": *t.machine.StateMachineArn(),
			"Name.$":          "$.run",
			"Input":           m.runObject(),
		}},
		cancelled: true,
	}
}

func (t machineTarget) grants(scope constructs.Construct) grants {
	executions := awscdk.Stack_Of(scope).FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("states"), Resource: jsii.String("execution"), ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
		ResourceName: jsii.String(arnPart(*t.machine.StateMachineArn(), ":", 6) + ":*"),
	})
	return grants{permissions: []permission{
		permit([]string{*t.machine.StateMachineArn()}, "states:StartExecution"),
		permit([]string{*executions}, "states:DescribeExecution", "states:StopExecution"),
		managedRule(scope, "StepFunctionsGetEventsForStepFunctionsExecutionRule"),
	}}
}
