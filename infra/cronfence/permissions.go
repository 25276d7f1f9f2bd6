package cronfence

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/constructs-go/constructs/v10"
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

// runRole is the role of all of a scheduler's state machines in one stack. One for all
// stacks would have to know the jobs' functions, and so make the stacks depend on each
// other both ways.
type runRole struct {
	role   awsiam.Role
	invoke awsiam.PolicyStatement
}

func (s *Scheduler) runRole(scope constructs.Construct) *runRole {
	stack := awscdk.Stack_Of(scope)
	if r, ok := s.runRoles[*stack.Node().Addr()]; ok {
		return r
	}
	r := &runRole{
		role: awsiam.NewRole(stack, jsii.String("CronfenceRunRole-"+s.name), &awsiam.RoleProps{
			Description: jsii.String("State machines of Cronfence scheduler " + s.name),
			AssumedBy: servicePrincipal("states.amazonaws.com", map[string]any{
				"StringEquals": map[string]any{"aws:SourceAccount": *stack.Account()},
				"ArnLike":      map[string]any{"aws:SourceArn": s.statesARN("stateMachine", schema.MachinePrefix(s.name)+"*")},
			}),
		}),
		invoke: allow([]string{*s.heartbeat.FunctionArn(), *s.settler.FunctionArn()}, "lambda:InvokeFunction"),
	}
	r.role.AddToPolicy(r.invoke)
	stack.Node().AddValidation(&stackLimit{stack})
	s.runRoles[*stack.Node().Addr()] = r
	return r
}

// grant adds what one job's target needs.
func (r *runRole) grant(g grants) awsiam.Role {
	if len(g.invoke) > 0 {
		r.invoke.AddResources(*jsii.Strings(g.invoke...)...)
	}
	for _, s := range g.statements {
		r.role.AddToPolicy(s)
	}
	return r.role
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
