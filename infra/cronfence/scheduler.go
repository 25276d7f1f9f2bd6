package cronfence

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
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
	// LogRetention is how long the functions' logs are kept; CloudWatch has a list of
	// allowed values. Default: 90 days, as long as the ledger.
	LogRetention time.Duration
	// Build makes the functions' code. Default: [BuildGo], with the local Go.
	Build Builder
}

// Scheduler holds what a set of jobs shares: the table of guards and ledger rows, the
// functions that decide, renew and settle, the group of schedules and the dead letters.
type Scheduler struct {
	constructs.Construct

	name         string
	table        awsdynamodb.Table
	deadLetters  awssqs.Queue
	dispatcher   awslambda.Function
	heartbeat    awslambda.Function
	settler      awslambda.Function
	sentinel     awslambda.Function
	group        awsscheduler.CfnScheduleGroup
	sweeps       awsscheduler.CfnSchedule
	scheduleRole awsiam.Role
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
	props.check().check(*s.Node().Path())
	s.name = props.Name
	s.table = s.newTable(props)
	s.deadLetters = s.newDeadLetters()
	s.group = awsscheduler.NewCfnScheduleGroup(s, jsii.String("Group"), &awsscheduler.CfnScheduleGroupProps{
		Name: jsii.String(schema.GroupName(s.name)),
		// The command line finds the table by it.
		Tags: &[]*awscdk.CfnTag{{Key: jsii.String(schema.TagTable), Value: s.table.TableName()}},
	})
	s.newFunctions(props)
	s.newStatusRule()
	s.scheduleRole = s.newScheduleRole()
	s.sweeps = s.newSweeps()
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

// Table holds the guards and the ledger. Only the scheduler's functions write it.
func (s *Scheduler) Table() awsdynamodb.Table { return s.table }

// DeadLetters receives ticks that could not be delivered and events that the functions
// failed on for good, for 14 days.
func (s *Scheduler) DeadLetters() awssqs.Queue { return s.deadLetters }

// Dispatcher is the function that every schedule invokes.
func (s *Scheduler) Dispatcher() awslambda.Function { return s.dispatcher }

// Heartbeat is the function that runs with beats renew their lease through.
func (s *Scheduler) Heartbeat() awslambda.Function { return s.heartbeat }

// Settler is the function that records how runs ended.
func (s *Scheduler) Settler() awslambda.Function { return s.settler }

// Sentinel is the function that sees to what no event will: expired leases, lost starts,
// waiting runs, missed ticks. A schedule of its own invokes it every minute.
func (s *Scheduler) Sentinel() awslambda.Function { return s.sentinel }

// Sweeps is the sentinel's schedule. It is in the jobs' group, under a name that no job's
// schedule can have.
func (s *Scheduler) Sweeps() awsscheduler.CfnSchedule { return s.sweeps }

// Group is the group of the jobs' schedules and the sentinel's, called cronfence-NAME.
func (s *Scheduler) Group() awsscheduler.CfnScheduleGroup { return s.group }

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
