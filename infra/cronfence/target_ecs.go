package cronfence

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// ECSTargetProps are the props of an [ECSTarget].
type ECSTargetProps struct {
	// Cluster is where the task runs. Required.
	Cluster awsecs.ICluster
	// TaskDefinition is what runs, with its containers added. On Fargate where it can, else
	// on EC2 instances of the cluster. Required.
	TaskDefinition awsecs.TaskDefinition
	// Container is the name of the one that gets the run object. Default: the task
	// definition's default container, which is its first essential one.
	Container string
	// Subnets of the cluster's VPC, for tasks with a network interface of their own.
	// Default: private ones with a way out, public ones with AssignPublicIP.
	Subnets *awsec2.SubnetSelection
	// SecurityGroups of such tasks. Default: a new one a job, open to nobody.
	SecurityGroups []awsec2.ISecurityGroup
	// AssignPublicIP gives such tasks a public address. Default: false.
	AssignPublicIP bool
}

// ECSTarget runs an ECS task and waits for it to stop. A container gets the run object as JSON
// in the environment variable CRONFENCE_RUN; its exit status 0 is success. ECS takes
// 8,192 characters of such overrides, so the payload is 6 KiB at most. A stopped run's
// containers get SIGTERM, and SIGKILL after their stop timeout, which is read from the task
// definition as it is when the job is made; for so long and half a minute more the guard is
// held. Stopping is Step Functions' best effort.
func ECSTarget(props *ECSTargetProps) Target {
	if props == nil {
		props = &ECSTargetProps{}
	}
	return ecsTarget{*props}
}

type ecsTarget struct{ ECSTargetProps }

const (
	// defaultStopTimeout is ECS's own.
	defaultStopTimeout = 30 * time.Second
	// maxOverrides is what ECS takes of overrides, less what surrounds the payload there:
	// names of table, job and run.
	maxOverrides = 6 * 1024
)

func (t ecsTarget) facts(scope constructs.Construct) targetFacts {
	f := targetFacts{doubtful: true, events: schema.SyncEvents, maxPayload: maxOverrides, carrier: "ECS's overrides"}
	if t.Cluster == nil {
		f.bad.addf("target: no cluster given: must be the one to run the ECS task in")
	}
	if t.TaskDefinition == nil {
		f.bad.addf("target: no task definition given: must be the ECS task to run")
		return f
	}
	known := *t.TaskDefinition.Containers()
	switch {
	case len(known) == 0:
		f.bad.addf("target: task definition %q has no container: must have its containers before the job is made", *t.TaskDefinition.Node().Path())
	case t.Container != "" && t.TaskDefinition.FindContainer(&t.Container) == nil:
		f.bad.addf("target: container %q: must be one of the task definition's: %q", t.Container, containerNames(known))
	case t.Container == "" && t.TaskDefinition.DefaultContainer() == nil:
		f.bad.addf("target: no container given and none is essential: must be one of the task definition's: %q", containerNames(known))
	}
	f.drain = t.stopTimeout(scope) + stopAllowance
	return f
}

func containerNames(all []awsecs.ContainerDefinition) (names []string) {
	for _, c := range all {
		names = append(names, *c.ContainerName())
	}
	return names
}

// stopTimeout is the longest of the containers'; the L2 construct does not tell.
func (t ecsTarget) stopTimeout(scope constructs.Construct) time.Duration {
	longest := defaultStopTimeout
	definition, ok := t.TaskDefinition.Node().DefaultChild().(awsecs.CfnTaskDefinition)
	if !ok {
		return longest
	}
	containers, _ := awscdk.Stack_Of(scope).Resolve(definition.ContainerDefinitions()).([]any)
	for _, c := range containers {
		c, _ := c.(map[string]any)
		if seconds, ok := c["stopTimeout"].(float64); ok {
			longest = max(longest, time.Duration(seconds)*time.Second)
		}
	}
	return longest
}

func (t ecsTarget) work(scope constructs.Construct, m machine) work {
	container := t.Container
	if container == "" {
		container = *t.TaskDefinition.DefaultContainer().ContainerName()
	}
	launch := "EC2"
	if *t.TaskDefinition.IsFargateCompatible() {
		launch = "FARGATE"
	}
	params := map[string]any{
		"Cluster":        *t.Cluster.ClusterArn(),
		"TaskDefinition": *t.TaskDefinition.TaskDefinitionArn(),
		"LaunchType":     launch,
		"Overrides":      map[string]any{"ContainerOverrides": []any{runEnvironment(map[string]any{"Name": container})}},
	}
	if t.TaskDefinition.NetworkMode() == awsecs.NetworkMode_AWS_VPC {
		params["NetworkConfiguration"] = t.network(scope)
	}
	return work{
		task:      state{Type: "Task", Resource: m.integration("ecs:runTask.sync"), Parameters: params},
		cancelled: true, object: true,
	}
}

// runEnvironment adds the run object to a container's overrides.
func runEnvironment(overrides map[string]any) map[string]any {
	overrides["Environment"] = []any{map[string]any{"Name": schema.RunVariable, "Value.$": runText}}
	return overrides
}

func (t ecsTarget) network(scope constructs.Construct) map[string]any {
	groups := t.SecurityGroups
	if len(groups) == 0 {
		groups = []awsec2.ISecurityGroup{awsec2.NewSecurityGroup(scope, jsii.String("SecurityGroup"), &awsec2.SecurityGroupProps{
			Vpc: t.Cluster.Vpc(), Description: jsii.String("Runs of " + *scope.Node().Path()),
		})}
	}
	ids := make([]string, len(groups))
	for i, g := range groups {
		ids[i] = *g.SecurityGroupId()
	}
	subnets, public := t.Subnets, "DISABLED"
	if t.AssignPublicIP {
		public = "ENABLED"
	}
	if subnets == nil {
		subnets = &awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_WITH_EGRESS}
		if t.AssignPublicIP {
			subnets.SubnetType = awsec2.SubnetType_PUBLIC
		}
	}
	return map[string]any{"AwsvpcConfiguration": map[string]any{
		"Subnets": *t.Cluster.Vpc().SelectSubnets(subnets).SubnetIds, "SecurityGroups": ids, "AssignPublicIp": public,
	}}
}

func (t ecsTarget) grants(scope constructs.Construct) grants {
	stack := awscdk.Stack_Of(scope)
	arn := func(resource, name string) string {
		return *stack.FormatArn(&awscdk.ArnComponents{Service: jsii.String("ecs"), Resource: &resource, ResourceName: &name})
	}
	roles := []string{*t.TaskDefinition.TaskRole().RoleArn()}
	if r := t.TaskDefinition.ExecutionRole(); r != nil {
		roles = append(roles, *r.RoleArn())
	}
	pass := permit(roles, "iam:PassRole")
	pass.conditions = map[string]any{"StringEquals": map[string]any{"iam:PassedToService": "ecs-tasks.amazonaws.com"}}
	// Every revision: a run that is live while the next one is deployed starts its own.
	run := permit([]string{arn("task-definition", *t.TaskDefinition.Family()+":*")}, "ecs:RunTask")
	run.conditions = map[string]any{"ArnEquals": map[string]any{"ecs:cluster": *t.Cluster.ClusterArn()}}
	return grants{permissions: []permission{
		run,
		permit([]string{arn("task", *t.Cluster.ClusterName()+"/*")}, "ecs:StopTask", "ecs:DescribeTasks"),
		pass,
		managedRule(scope, "StepFunctionsGetEventsForECSTaskRule"),
	}}
}
