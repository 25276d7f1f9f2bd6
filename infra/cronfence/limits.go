package cronfence

import (
	"bytes"
	"encoding/json"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// CloudFormation's limits of a stack and of its template.
const (
	maxResources = 500
	maxTemplate  = 1_000_000 // bytes
)

// noIndentation is the CDK's own flag for templates without white space.
const noIndentation = "@aws-cdk/core:suppressTemplateIndentation"

// crowded is how many resources, and bytes of machines, a stack has before its template is
// measured, which takes its time: no template of fewer comes near the limit by jobs.
const (
	crowdedResources = 300
	crowdedMachines  = 200_000
)

// stackLimit refuses a stack of jobs that CloudFormation would refuse, and says what to do.
// The CDK's own refusal comes after the constructs' and only counts.
type stackLimit struct {
	stack    awscdk.Stack
	machines int // bytes of their definitions
}

// Validate is called by the CDK at synth.
func (l *stackLimit) Validate() *[]*string {
	resources, nested := []awscdk.CfnResource{}, false
	for _, c := range *l.stack.Node().FindAll("") {
		if r, ok := c.(awscdk.CfnResource); ok {
			resources = append(resources, r)
		}
		_, isNested := c.(awscdk.NestedStack)
		nested = nested || isNested
	}
	if len(resources) <= crowdedResources && l.machines <= crowdedMachines {
		return &[]*string{}
	}
	n, size, addr := 0, 0, *l.stack.Node().Addr()
	for _, r := range resources {
		if !nested || *awscdk.Stack_Of(r).Node().Addr() == addr { // asking each takes its time
			n++
			size += l.size(r)
		}
	}
	var problems []*string
	if n > maxResources {
		problems = append(problems, jsii.Sprintf("%d resources with the jobs of this stack: CloudFormation allows %d: a job with its four alarms is 6 and about 75 fit, "+
			"so put the others into more stacks with NewJob and the same scheduler, or set SharedAlarms on the scheduler for 2 a job", n, maxResources))
	}
	if size > maxTemplate {
		problems = append(problems, jsii.Sprintf("a template of about %d bytes with the jobs of this stack: CloudFormation takes %d: "+
			"put jobs into more stacks with NewJob and the same scheduler, set \"%s\": true in the context of cdk.json, or make payloads shorter", size, maxTemplate, noIndentation))
	}
	return &problems
}

// size is about what a resource takes of the template.
func (l *stackLimit) size(r awscdk.CfnResource) int {
	const around = 150 // its id, type and dependencies
	properties, err := json.Marshal(l.stack.Resolve(r.CfnProperties()))
	if err != nil { // the CDK will say what it is
		return around
	}
	if l.stack.Node().TryGetContext(jsii.String(noIndentation)) == true {
		return len(properties) + around
	}
	var indented bytes.Buffer
	_ = json.Indent(&indented, properties, "   ", " ") // what was encoded can be indented
	return indented.Len() + around
}
