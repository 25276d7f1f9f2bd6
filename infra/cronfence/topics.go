package cronfence

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"
)

type topic = awssns.ITopic

// topicOr returns the topic given, or makes one that the scheduler's alarms may publish to
// and everybody only over TLS. Requiring TLS replaces the policy that SNS gives a topic, so
// that the alarms must be named.
func (s *Scheduler) topicOr(given topic, id, is string) topic {
	if given != nil {
		return given
	}
	made := awssns.NewTopic(s, &id, &awssns.TopicProps{
		DisplayName: jsii.String("Cronfence " + s.name + ": " + is),
		EnforceSSL:  jsii.Bool(true),
		MasterKey:   s.key,
	})
	stack := awscdk.Stack_Of(s)
	alarms := *stack.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("cloudwatch"), Resource: jsii.String("alarm"),
		ResourceName: jsii.String(alarmName(s.name) + "/*"), ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
	made.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{servicePrincipal("cloudwatch.amazonaws.com", nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  jsii.Strings(*made.TopicArn()),
		Conditions: &map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": *stack.Account()},
			"ArnLike":      map[string]any{"aws:SourceArn": alarms},
		},
	}))
	return made
}
