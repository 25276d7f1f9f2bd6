package awsops

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cloudwatchtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func (a *around) examineTable(ctx context.Context, x *ops.Diagnosis) {
	ttl, err := a.tables.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &a.table})
	switch {
	case err != nil:
		x.Skip("the table's TTL", reason(err))
	case !ttlOn(ttl.TimeToLiveDescription):
		x.Add(ops.FoundNoTTL, "", "aws dynamodb update-time-to-live --table-name "+a.table+" --time-to-live-specification Enabled=true,AttributeName="+schema.TTL,
			"table %s has no TTL on attribute %s: its ledger grows for ever", a.table, schema.TTL)
	}
	backups, err := a.tables.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &a.table})
	switch {
	case err != nil:
		x.Skip("the table's point-in-time recovery", reason(err))
	case !recoveryOn(backups.ContinuousBackupsDescription):
		x.Add(ops.FoundNoRecovery, "", "aws dynamodb update-continuous-backups --table-name "+a.table+" --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true",
			"table %s has no point-in-time recovery: what is deleted by mistake is gone", a.table)
	}
}

func ttlOn(d *dynamodbtypes.TimeToLiveDescription) bool {
	return d != nil && aws.ToString(d.AttributeName) == schema.TTL &&
		(d.TimeToLiveStatus == dynamodbtypes.TimeToLiveStatusEnabled || d.TimeToLiveStatus == dynamodbtypes.TimeToLiveStatusEnabling)
}

func recoveryOn(d *dynamodbtypes.ContinuousBackupsDescription) bool {
	return d != nil && d.PointInTimeRecoveryDescription != nil &&
		d.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus == dynamodbtypes.PointInTimeRecoveryStatusEnabled
}

// examineAlarms looks at the alarms that the constructs named, and at whom they tell.
func (a *around) examineAlarms(ctx context.Context, x *ops.Diagnosis) {
	topics := map[string]bool{}
	pages := cloudwatch.NewDescribeAlarmsPaginator(a.alarms, &cloudwatch.DescribeAlarmsInput{
		AlarmNamePrefix: aws.String(schema.AlarmPrefix + a.name + "/"), AlarmTypes: []cloudwatchtypes.AlarmType{cloudwatchtypes.AlarmTypeMetricAlarm},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			x.Skip("alarms", reason(err))
			return
		}
		for _, alarm := range page.MetricAlarms {
			a.examineAlarm(x, alarm)
			for _, action := range alarm.AlarmActions {
				if strings.HasPrefix(action, "arn:") && strings.Split(action, ":")[2] == "sns" {
					topics[action] = true
				}
			}
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		a.examineTopic(ctx, x, topic)
	}
}

func (a *around) examineAlarm(x *ops.Diagnosis, alarm cloudwatchtypes.MetricAlarm) {
	name := aws.ToString(alarm.AlarmName)
	job := ""
	if parts := strings.Split(strings.TrimPrefix(name, schema.AlarmPrefix), "/"); len(parts) == 3 {
		job = parts[1]
	}
	switch {
	case len(alarm.AlarmActions) == 0:
		x.Add(ops.FoundSilentAlarm, job, "give the scheduler or the job a PageTopic and a NoticeTopic and deploy", "alarm %s has no action: it tells nobody", name)
	case !aws.ToBool(alarm.ActionsEnabled):
		x.Add(ops.FoundSilentAlarm, job, "aws cloudwatch enable-alarm-actions --alarm-names "+name, "alarm %s has its actions turned off: it tells nobody", name)
	}
}

func (a *around) examineTopic(ctx context.Context, x *ops.Diagnosis, topic string) {
	out, err := a.topics.GetTopicAttributes(ctx, &sns.GetTopicAttributesInput{TopicArn: &topic})
	switch {
	case err != nil:
		x.Skip("subscriptions of topic "+topic, reason(err))
	case out.Attributes["SubscriptionsConfirmed"] == "0":
		x.Add(ops.FoundSilentAlarm, "", "aws sns subscribe --topic-arn "+topic+" --protocol email --notification-endpoint YOU@EXAMPLE.COM",
			"nobody has subscribed to topic %s: its alarms tell nobody", topic)
	}
}

// examineDeadLetters looks into the queues that the schedules name.
func (a *around) examineDeadLetters(ctx context.Context, x *ops.Diagnosis, live []liveSchedule) {
	queues := map[string]bool{}
	for _, s := range live {
		if s.DeadLetters != "" {
			queues[s.DeadLetters] = true
		}
	}
	if len(queues) == 0 {
		x.Skip("dead letters", "no schedule of the group names a queue of dead letters")
	}
	for _, queue := range slices.Sorted(maps.Keys(queues)) {
		parts := strings.Split(queue, ":")
		url, err := a.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(parts[len(parts)-1])})
		if err != nil {
			x.Skip("dead letters in "+queue, reason(err))
			continue
		}
		out, err := a.queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: url.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameApproximateNumberOfMessages},
		})
		if err != nil {
			x.Skip("dead letters in "+queue, reason(err))
			continue
		}
		if n := out.Attributes[string(sqstypes.QueueAttributeNameApproximateNumberOfMessages)]; n != "0" && n != "" {
			u := aws.ToString(url.QueueUrl)
			x.Add(ops.FoundDeadLetters, "", "see what they are: aws sqs receive-message --queue-url "+u+" --max-number-of-messages 10 --visibility-timeout 0; "+
				"once their cause is mended, run what is missing with cronfence backfill and empty the queue: aws sqs purge-queue --queue-url "+u,
				"%s ticks or events were given up and lie in queue %s", n, parts[len(parts)-1])
		}
	}
}
