package cronfence

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// IAM's limits in characters, white space apart, and the default quota of managed policies.
const (
	maxInline   = 10_240
	maxManaged  = 6_144
	maxPolicies = 10
)

// What is filled of them. The CDK splits an inline policy by its own estimate from 10,000 on,
// by whole statements: it must have no reason to, and be able to if a user's permissions are
// added.
const (
	inlineRoom    = 9_000
	managedRoom   = 6_000
	statementRoom = 2_000
	// statementFrame is the least of a statement besides its actions, conditions and resources.
	statementFrame = len(`{"Action":,"Effect":"Allow","Resource":[],"Condition":},`)
)

// unknownSize is taken for what CloudFormation alone knows: the CDK's own estimate of an ARN,
// which no function's and no role's ARN without a path passes.
const unknownSize = 150

// pseudoSizes are the longest values of CloudFormation's own parameters.
var pseudoSizes = map[string]int{"AWS::Partition": 10, "AWS::Region": 14, "AWS::AccountId": 12}

// policySize is how many characters a resolved part of a policy takes once it is deployed,
// with a comma behind it.
func policySize(v any) int {
	switch v := v.(type) {
	case map[string]any:
		if n, ok := referenceSize(v); ok {
			return n + len(`"",`)
		}
		n := len(`{},`)
		for key, value := range v {
			n += len(key) + len(`"":`) + policySize(value)
		}
		return n
	case []any:
		n := len(`[],`)
		for _, each := range v {
			n += policySize(each)
		}
		return n
	}
	b, _ := json.Marshal(v)
	return len(b) + 1
}

// referenceSize is the size of the text that one of CloudFormation's functions returns.
func referenceSize(v map[string]any) (n int, is bool) {
	if len(v) != 1 {
		return 0, false
	}
	if ref, ok := v["Ref"].(string); ok {
		if n, ok := pseudoSizes[ref]; ok {
			return n, true
		}
		return unknownSize, true
	}
	join, ok := v["Fn::Join"].([]any)
	if !ok {
		for key := range v {
			return unknownSize, strings.HasPrefix(key, "Fn::")
		}
	}
	parts, _ := join[1].([]any)
	for _, part := range parts {
		n += policySize(part) - len(`"",`)
	}
	return n, true
}

// roleLimit refuses a run role that IAM would refuse, and says what to do.
type roleLimit struct {
	role      awsiam.Role
	scheduler string
}

// Validate is called by the CDK at synth.
func (l *roleLimit) Validate() *[]*string {
	stack := awscdk.Stack_Of(l.role)
	inline, managed, fits := 0, 0, true
	for _, c := range *l.role.Node().FindAll("") {
		switch p := c.(type) {
		case awsiam.CfnPolicy:
			inline += policySize(stack.Resolve(p.PolicyDocument()))
		case awsiam.CfnManagedPolicy:
			managed++
			fits = fits && policySize(stack.Resolve(p.PolicyDocument())) <= maxManaged
		}
	}
	if fits && inline <= maxInline && managed <= maxPolicies {
		return &[]*string{}
	}
	text := fmt.Sprintf("run role of scheduler %q in this stack: its permissions take an inline policy of about %d characters and %d managed ones: "+
		"IAM allows %d, and %d of %d each: put jobs into more stacks with NewJob and the same scheduler, each stack has a run role of its own",
		l.scheduler, inline, managed, maxInline, maxPolicies, maxManaged)
	return &[]*string{jsii.String(text)}
}
