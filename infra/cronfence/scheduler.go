package cronfence

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// SchedulerProps are the props of a [Scheduler].
type SchedulerProps struct {
	// Name is unique in an account and Region, since machines and the group of schedules
	// are called after it. It matches [A-Za-z0-9][A-Za-z0-9-]{0,30}. Required.
	Name string
	// RemovalPolicy says what becomes of the table and the logs when the stack is deleted:
	// RETAIN or DESTROY. Default: RETAIN, and the table is protected from deletion.
	RemovalPolicy awscdk.RemovalPolicy
	// Architecture of the functions: [ARM64] or [X86_64]. Default: [ARM64].
	Architecture string
	// Retention is how long ledger rows are kept once they are final, in whole days; DynamoDB
	// deletes them some days later. Rows that the command line itself closes, by its release
	// of a job, stay 90 days. Default: 90 days.
	Retention time.Duration
	// LogRetention is how long the functions' logs are kept; CloudWatch has a list of
	// allowed values. Default: 90 days, as long as the ledger.
	LogRetention time.Duration
	// LogLevel is [LogInfo], a line for every decision, or [LogError], lines for what went
	// wrong and those that carry metrics. Default: [LogInfo].
	LogLevel string
	// EncryptionKey encrypts the table, the dead letters, the topics and the functions' logs.
	// The policy of a key that was made in this app is added to; that of an imported key must
	// let the services in, see docs/jobs.md. Default: keys that AWS owns.
	EncryptionKey awskms.IKey
	// PageTopic is told of what must be seen to at once. Default: one is made.
	PageTopic awssns.ITopic
	// NoticeTopic is told of what may wait until morning, and on Mondays what the week came to.
	// Default: one is made.
	NoticeTopic awssns.ITopic
	// SharedAlarms makes one alarm a kind for all jobs, each job a contributor, instead of
	// four alarms a job: for more jobs in a stack and fewer alarms. Default: false.
	SharedAlarms bool
	// NoDashboard leaves the dashboard out. Default: false.
	NoDashboard bool
	// Build makes the functions' code. Default: [BuildGo], with the local Go.
	Build Builder
}

// Scheduler holds what a set of jobs shares: the table of guards and ledger rows, the
// functions that decide, renew and settle, the group of schedules and the dead letters.
type Scheduler struct {
	constructs.Construct

	name         string
	table        awsdynamodb.ITable
	deadLetters  awssqs.IQueue
	dispatcher   awslambda.IFunction
	heartbeat    awslambda.IFunction
	settler      awslambda.IFunction
	sentinel     awslambda.IFunction
	group        awsscheduler.CfnScheduleGroup
	groupName    *string
	sweeps       awsscheduler.CfnSchedule
	scheduleRole awsiam.IRole
	page         topic
	notice       topic
	key          awskms.IKey
	shared       bool // alarms
	alarms       SchedulerAlarms
	dashboard    *dashboard
	jobScope     constructs.Construct

	jobs     map[string]string   // a job's name to its construct path
	runRoles map[string]*runRole // by the stack's address
}

// NewScheduler makes a scheduler without jobs. It panics with a [PropsError] if the
// props are wrong.
func NewScheduler(scope constructs.Construct, id string, props *SchedulerProps) *Scheduler {
	s := &Scheduler{jobs: map[string]string{}, runRoles: map[string]*runRole{}}
	constructs.NewConstruct_Override(s, scope, &id)
	if props == nil {
		props = &SchedulerProps{}
	}
	bad := props.check()
	bad.add(s.takeName(props.Name))
	bad.check(*s.Node().Path())
	s.name = props.Name
	s.key, s.shared = props.EncryptionKey, props.SharedAlarms
	s.openKey()
	s.table = s.newTable(props)
	s.deadLetters = s.newDeadLetters()
	s.group = awsscheduler.NewCfnScheduleGroup(s, jsii.String("Group"), &awsscheduler.CfnScheduleGroupProps{
		Name: jsii.String(schema.GroupName(s.name)),
		// The command line finds the table by it.
		Tags: &[]*awscdk.CfnTag{{Key: jsii.String(schema.TagTable), Value: s.table.TableName()}},
	})
	s.groupName = s.group.Ref()
	s.page = s.topicOr(props.PageTopic, "PageTopic", "pages")
	s.notice = s.topicOr(props.NoticeTopic, "NoticeTopic", "notices")
	s.newFunctions(props)
	s.newStatusRule()
	s.scheduleRole = s.newScheduleRole()
	s.sweeps = s.newSweeps()
	s.newAlarms()
	if !props.NoDashboard {
		s.dashboard = s.newDashboard()
	}
	s.jobScope = constructs.NewConstruct(s, jsii.String("Jobs"))
	return s
}

// AddJob makes a job of this scheduler, in the scheduler's own stack. It is short for
// [NewJob] with Scheduler filled in; a scope of its own keeps job ids apart from the
// scheduler's other children.
func (s *Scheduler) AddJob(id string, props *JobProps) *Job {
	var p JobProps
	if props != nil {
		p = *props
	}
	p.Scheduler = s
	return NewJob(s.jobScope, id, &p)
}

// Name is the scheduler's name.
func (s *Scheduler) Name() string { return s.name }

func (p *SchedulerProps) check() problems {
	var bad problems
	bad.add(schema.CheckScheduler(p.Name))
	switch p.RemovalPolicy {
	case "", awscdk.RemovalPolicy_RETAIN, awscdk.RemovalPolicy_DESTROY:
	default:
		bad.addf("removal policy %q: must be RETAIN or DESTROY", p.RemovalPolicy)
	}
	bad.add(checkArchitecture(p.Architecture))
	_, err := logRetention(p.LogRetention)
	bad.add(err)
	p.checkKeeping(&bad)
	return bad
}

func (p *SchedulerProps) removalPolicy() awscdk.RemovalPolicy {
	if p.RemovalPolicy == "" {
		return awscdk.RemovalPolicy_RETAIN
	}
	return p.RemovalPolicy
}

// register refuses a second job of one name: both would share a guard.
func (s *Scheduler) register(job, path string) error {
	if other, taken := s.jobs[job]; taken {
		return fmt.Errorf("job name %q: must be the scheduler's only one, and is that of %q too", job, other)
	}
	s.jobs[job] = path
	return nil
}
