package cronfence

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// SchedulerAttributes say where a scheduler is that another app deployed, in the same account
// and Region. [Scheduler.Attributes] returns them, to be put out by a stack or kept as
// parameters. All are required but the last two.
type SchedulerAttributes struct {
	Name            string
	TableARN        string
	DispatcherARN   string
	HeartbeatARN    string
	SettlerARN      string
	DeadLettersARN  string
	ScheduleRoleARN string
	PageTopicARN    string
	NoticeTopicARN  string
	// EncryptionKeyARN is the key's if the scheduler has one. Default: none.
	EncryptionKeyARN string
	// SharedAlarms is as in the scheduler's props. Default: false.
	SharedAlarms bool
}

// Attributes are what another app needs to know of the scheduler to add jobs to it; ARNs are
// known to CloudFormation only.
func (s *Scheduler) Attributes() SchedulerAttributes {
	a := SchedulerAttributes{
		Name:            s.name,
		TableARN:        *s.table.TableArn(),
		DispatcherARN:   *s.dispatcher.FunctionArn(),
		HeartbeatARN:    *s.heartbeat.FunctionArn(),
		SettlerARN:      *s.settler.FunctionArn(),
		DeadLettersARN:  *s.deadLetters.QueueArn(),
		ScheduleRoleARN: *s.scheduleRole.RoleArn(),
		PageTopicARN:    *s.page.TopicArn(),
		NoticeTopicARN:  *s.notice.TopicArn(),
		SharedAlarms:    s.shared,
	}
	if s.key != nil {
		a.EncryptionKeyARN = *s.key.KeyArn()
	}
	return a
}

// SchedulerFromAttributes is a scheduler of another app, to add jobs to from this one. It
// makes no resource. Its jobs are on the other app's dashboard but for their own graphs, and
// a name that the other app has taken is refused at deployment only, by their machines'
// names. It panics with a [PropsError] if an attribute is missing.
func SchedulerFromAttributes(scope constructs.Construct, id string, a *SchedulerAttributes) *Scheduler {
	s := &Scheduler{jobs: map[string]string{}, runRoles: map[string]*runRole{}}
	constructs.NewConstruct_Override(s, scope, &id)
	if a == nil {
		a = &SchedulerAttributes{}
	}
	a.check().check(*s.Node().Path())
	s.name, s.shared = a.Name, a.SharedAlarms
	s.groupName = jsii.String(schema.GroupName(s.name))
	s.table = awsdynamodb.Table_FromTableArn(s, jsii.String("Table"), &a.TableARN)
	s.dispatcher = awslambda.Function_FromFunctionArn(s, jsii.String("Dispatcher"), &a.DispatcherARN)
	s.heartbeat = awslambda.Function_FromFunctionArn(s, jsii.String("Heartbeat"), &a.HeartbeatARN)
	s.settler = awslambda.Function_FromFunctionArn(s, jsii.String("Settler"), &a.SettlerARN)
	s.deadLetters = awssqs.Queue_FromQueueArn(s, jsii.String("DeadLetters"), &a.DeadLettersARN)
	s.scheduleRole = awsiam.Role_FromRoleArn(s, jsii.String("ScheduleRole"), &a.ScheduleRoleARN, &awsiam.FromRoleArnOptions{
		Mutable: jsii.Bool(false), // its policy is the other app's
	})
	s.page = awssns.Topic_FromTopicArn(s, jsii.String("PageTopic"), &a.PageTopicARN)
	s.notice = awssns.Topic_FromTopicArn(s, jsii.String("NoticeTopic"), &a.NoticeTopicARN)
	if a.EncryptionKeyARN != "" {
		s.key = awskms.Key_FromKeyArn(s, jsii.String("Key"), &a.EncryptionKeyARN)
	}
	s.jobScope = constructs.NewConstruct(s, jsii.String("Jobs"))
	return s
}

func (a *SchedulerAttributes) check() problems {
	var bad problems
	bad.add(schema.CheckScheduler(a.Name))
	missing := []string{}
	for name, arn := range map[string]string{
		"TableARN": a.TableARN, "DispatcherARN": a.DispatcherARN, "HeartbeatARN": a.HeartbeatARN, "SettlerARN": a.SettlerARN,
		"DeadLettersARN": a.DeadLettersARN, "ScheduleRoleARN": a.ScheduleRoleARN, "PageTopicARN": a.PageTopicARN, "NoticeTopicARN": a.NoticeTopicARN,
	} {
		if arn == "" {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	for _, name := range missing {
		bad.addf("%s \"\": must be the ARN that Attributes returns", name)
	}
	return bad
}
