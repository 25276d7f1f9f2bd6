package cronfence

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// grantFunctions gives each function what its part of the protocol needs. Machines are
// named by prefix: their own ARNs would tie the scheduler's stack to the jobs' stacks,
// which depend on it already.
func (s *Scheduler) grantFunctions() {
	for _, f := range []awslambda.IFunction{s.dispatcher, s.settler} {
		f.AddToRolePolicy(allow([]string{*s.table.TableArn()},
			"dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem"))
		s.grantRuns(f)
	}
	s.heartbeat.AddToRolePolicy(allow([]string{*s.table.TableArn()}, "dynamodb:GetItem", "dynamodb:UpdateItem"))
	s.grantSentinel()
	for _, f := range []awslambda.IFunction{s.dispatcher, s.settler, s.heartbeat, s.sentinel} {
		s.grantKey(f, keyToWrite)
	}
}

// grantRuns lets f start, look at and stop runs: Start acts on a machine, the others on its
// executions.
func (s *Scheduler) grantRuns(f awslambda.IFunction) {
	f.AddToRolePolicy(allow([]string{s.statesARN("stateMachine", schema.MachinePrefix(s.name)+"*")},
		"states:StartExecution"))
	f.AddToRolePolicy(allow([]string{s.statesARN("execution", schema.MachinePrefix(s.name)+"*:*")},
		"states:DescribeExecution", "states:StopExecution"))
}

// newScheduleRole makes the role of all schedules. EventBridge Scheduler presents the
// ARN of the schedule's group as source; any other ARN would refuse every firing.
func (s *Scheduler) newScheduleRole() awsiam.Role {
	role := awsiam.NewRole(s, jsii.String("ScheduleRole"), &awsiam.RoleProps{
		Description: jsii.String("Schedules of Cronfence scheduler " + s.name),
		AssumedBy: servicePrincipal("scheduler.amazonaws.com", map[string]any{
			"StringEquals": map[string]any{
				"aws:SourceAccount": *awscdk.Stack_Of(s).Account(),
				"aws:SourceArn":     *s.group.AttrArn(),
			},
		}),
	})
	role.AddToPolicy(allow([]string{*s.dispatcher.FunctionArn(), *s.sentinel.FunctionArn()}, "lambda:InvokeFunction"))
	role.AddToPolicy(allow([]string{*s.deadLetters.QueueArn()}, "sqs:SendMessage"))
	s.grantKey(role, []string{"kms:Decrypt", "kms:GenerateDataKey"})
	return role
}

// statesARN is the ARN of a machine or its executions; name may end in a wildcard.
func (s *Scheduler) statesARN(kind, name string) string {
	return *awscdk.Stack_Of(s).FormatArn(&awscdk.ArnComponents{
		Service:      jsii.String("states"),
		Resource:     jsii.String(kind),
		ResourceName: jsii.String(name),
		ArnFormat:    awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
}

func allow(resources []string, actions ...string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions:   jsii.Strings(actions...),
		Resources: jsii.Strings(resources...),
	})
}

func servicePrincipal(service string, conditions map[string]any) awsiam.IPrincipal {
	return awsiam.NewServicePrincipal(jsii.String(service), &awsiam.ServicePrincipalOpts{Conditions: &conditions})
}
