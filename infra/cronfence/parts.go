package cronfence

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
)

// The parts of a scheduler are the CDK's own constructs, to do with what its props do not
// know. Of a scheduler made with [SchedulerFromAttributes] they are nil, but for the topics.

// as returns v as what it is, or nil for an imported one.
func as[T any](v any) T {
	part, _ := v.(T)
	return part
}

// Table holds the guards and the ledger. Only the scheduler's functions write it, and people
// whom [Scheduler.GrantOperate] lets.
func (s *Scheduler) Table() awsdynamodb.Table { return as[awsdynamodb.Table](s.table) }

// DeadLetters receives ticks that could not be delivered and events that the functions
// failed on for good, for 14 days.
func (s *Scheduler) DeadLetters() awssqs.Queue { return as[awssqs.Queue](s.deadLetters) }

// Dispatcher is the function that every schedule invokes.
func (s *Scheduler) Dispatcher() awslambda.Function { return as[awslambda.Function](s.dispatcher) }

// Heartbeat is the function that runs with beats renew their lease through.
func (s *Scheduler) Heartbeat() awslambda.Function { return as[awslambda.Function](s.heartbeat) }

// Settler is the function that records how runs ended.
func (s *Scheduler) Settler() awslambda.Function { return as[awslambda.Function](s.settler) }

// Sentinel is the function that sees to what no event will: expired leases, lost starts,
// waiting runs, missed ticks. A schedule of its own invokes it every minute.
func (s *Scheduler) Sentinel() awslambda.Function { return as[awslambda.Function](s.sentinel) }

// Sweeps is the sentinel's schedule. It is in the jobs' group, under a name that no job's
// schedule can have.
func (s *Scheduler) Sweeps() awsscheduler.CfnSchedule { return s.sweeps }

// Group is the group of the jobs' schedules and the sentinel's, called cronfence-NAME.
func (s *Scheduler) Group() awsscheduler.CfnScheduleGroup { return s.group }

// PageTopic is told of what must be seen to at once: the one of the props, or one made
// without subscriptions.
func (s *Scheduler) PageTopic() awssns.ITopic { return s.page }

// NoticeTopic is told of what may wait until morning: the one of the props, or one made
// without subscriptions.
func (s *Scheduler) NoticeTopic() awssns.ITopic { return s.notice }

// Alarms are the alarms of the whole scheduler.
func (s *Scheduler) Alarms() SchedulerAlarms { return s.alarms }

// Dashboard shows all jobs of the scheduler. It is nil if the props leave it out.
func (s *Scheduler) Dashboard() awscloudwatch.Dashboard {
	if s.dashboard == nil {
		return nil
	}
	return s.dashboard.Dashboard
}
