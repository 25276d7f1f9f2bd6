package cronfence

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
)

// maxResources is CloudFormation's limit of a stack.
const maxResources = 500

// stackLimit refuses a stack of jobs that CloudFormation would refuse, and says what to do.
// The CDK's own refusal comes after the constructs' and only counts.
type stackLimit struct{ stack awscdk.Stack }

// Validate is called by the CDK at synth.
func (l *stackLimit) Validate() *[]*string {
	resources := []constructs.IConstruct{}
	for _, c := range *l.stack.Node().FindAll("") {
		if *awscdk.CfnResource_IsCfnResource(c) {
			resources = append(resources, c)
		}
	}
	if len(resources) <= maxResources { // asking each for its stack takes its time
		return &[]*string{}
	}
	n, addr := 0, *l.stack.Node().Addr()
	for _, c := range resources {
		if *awscdk.Stack_Of(c).Node().Addr() == addr { // not those of nested stacks
			n++
		}
	}
	if n <= maxResources {
		return &[]*string{}
	}
	text := fmt.Sprintf("%d resources with the jobs of this stack: CloudFormation allows %d: a job with its four alarms is 6 and about 75 fit, "+
		"so put the others into more stacks with NewJob and the same scheduler, or set SharedAlarms on the scheduler for 2 a job", n, maxResources)
	return &[]*string{&text}
}
