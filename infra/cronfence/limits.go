package cronfence

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
)

// maxResources is CloudFormation's limit of a stack.
const maxResources = 500

// stackLimit refuses a stack of jobs that CloudFormation would refuse, and says what to do.
// The CDK's own refusal comes after the constructs' and only counts.
type stackLimit struct{ stack awscdk.Stack }

// Validate is called by the CDK at synth.
func (l *stackLimit) Validate() *[]*string {
	n := 0
	for _, c := range *l.stack.Node().FindAll("") {
		if *awscdk.CfnResource_IsCfnResource(c) {
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
