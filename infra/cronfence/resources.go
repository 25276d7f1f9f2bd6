package cronfence

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdadestinations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

const (
	// eventAge is Lambda's maximum for asynchronous events. A tick that is delivered late
	// is recorded as Expired; one that is dropped early leaves its record to others.
	eventAge     = 6 * time.Hour
	asyncRetries = 2

	deadLetterRetention = 14 * 24 * time.Hour // SQS's maximum
)

func (s *Scheduler) newTable(props *SchedulerProps) awsdynamodb.Table {
	removal := props.removalPolicy()
	table := awsdynamodb.NewTable(s, jsii.String("Table"), &awsdynamodb.TableProps{
		PartitionKey:        attribute(schema.PK),
		SortKey:             attribute(schema.SK),
		BillingMode:         awsdynamodb.BillingMode_PAY_PER_REQUEST,
		TimeToLiveAttribute: jsii.String(schema.TTL),
		RemovalPolicy:       removal,
		Encryption:          tableEncryption(props.EncryptionKey),
		EncryptionKey:       props.EncryptionKey,
		// With DESTROY the protection would only make the stack's deletion fail.
		DeletionProtection: jsii.Bool(removal == awscdk.RemovalPolicy_RETAIN),
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
	})
	table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
		IndexName:      jsii.String(schema.GuardIndex),
		PartitionKey:   attribute(schema.GuardIndexPK),
		SortKey:        attribute(schema.PK),
		ProjectionType: awsdynamodb.ProjectionType_KEYS_ONLY,
	})
	return table
}

func attribute(name string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
}

func (s *Scheduler) newDeadLetters() awssqs.IQueue {
	return awssqs.NewQueue(s, jsii.String("DeadLetters"), &awssqs.QueueProps{
		EnforceSSL:          jsii.Bool(true),
		EncryptionMasterKey: s.key,
		RetentionPeriod:     duration(deadLetterRetention),
	})
}

func (s *Scheduler) newFunctions(props *SchedulerProps) {
	make := func(id, name, does string, timeout time.Duration, environment map[string]string) awslambda.Function {
		return newGoFunction(s, id, &goFunction{
			pkg:          modulePath + "/functions/" + name,
			description:  "Cronfence scheduler " + s.name + ": " + does,
			timeout:      timeout,
			memoryMB:     functionMemoryMB,
			architecture: props.Architecture,
			logRetention: props.LogRetention,
			removal:      props.removalPolicy(),
			build:        props.Build,
			logKey:       s.key,
			environment:  environment,
		})
	}
	told, withTopic := s.environment(props), s.environment(props)
	withTopic[schema.EnvNoticeTopic] = *s.notice.TopicArn()
	s.dispatcher = make("Dispatcher", "dispatcher", "decides every tick and starts runs", schema.DispatcherTimeout, told)
	s.heartbeat = make("Heartbeat", "heartbeat", "renews the leases of runs", schema.HeartbeatTimeout, told)
	s.settler = make("Settler", "settler", "records how runs ended", schema.DispatcherTimeout, told)
	s.sentinel = make("Sentinel", "sentinel", "sees to what no event will", schema.SentinelTimeout, withTopic)
	// The heartbeat is only ever called and waited for by state machines. A sweep that failed
	// is not repeated: the next one is due before a retry would be.
	s.sentinel.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
		RetryAttempts: jsii.Number(0),
		MaxEventAge:   duration(schema.Sweep),
	})
	// Seen as another's, the queue shows no key: the CDK's grant would say ReEncrypt* on it.
	queue := awssqs.Queue_FromQueueArn(s, jsii.String("FailureDestination"), s.deadLetters.QueueArn())
	for _, f := range []awslambda.IFunction{s.dispatcher, s.settler} {
		f.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
			RetryAttempts: jsii.Number(asyncRetries),
			MaxEventAge:   duration(eventAge),
			OnFailure:     awslambdadestinations.NewSqsDestination(queue),
		})
	}
	s.grantFunctions()
}

// newStatusRule tells the settler of every execution that ended, for what a state
// machine cannot catch in itself: abort, its own timeout, errors of the service.
func (s *Scheduler) newStatusRule() {
	rule := awsevents.NewRule(s, jsii.String("StatusRule"), &awsevents.RuleProps{
		Description: jsii.String("Ended runs of Cronfence scheduler " + s.name),
		EventPattern: &awsevents.EventPattern{
			Source:     jsii.Strings("aws.states"),
			DetailType: jsii.Strings(schema.StatusDetailType),
			Detail: &map[string]any{
				"status": []string{"SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"},
				"executionArn": []any{
					map[string]any{"prefix": s.statesARN("execution", schema.MachinePrefix(s.name))},
				},
			},
		},
	})
	rule.AddTarget(awseventstargets.NewLambdaFunction(s.settler, &awseventstargets.LambdaFunctionProps{
		DeadLetterQueue: s.deadLetters,
		MaxEventAge:     duration(eventAge),
	}))
}

func duration(d time.Duration) awscdk.Duration {
	return awscdk.Duration_Seconds(jsii.Number(d.Seconds()))
}
