package cronfence

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// JobProps are the props of a [Job]. Durations are whole seconds.
type JobProps struct {
	// Scheduler is the job's. Required in [NewJob]; [Scheduler.AddJob] fills it in.
	Scheduler *Scheduler
	// Name is the job's in tables, metrics and commands, and unique in its scheduler. It
	// matches [A-Za-z0-9][A-Za-z0-9_-]{0,47}. Default: the construct's id.
	Name string
	// Schedule says when, in which zone. A rate that divides the hour or the day is
	// deployed as cron, so that its phase is known. Required.
	Schedule schedule.Schedule
	// Target is the work. Required.
	Target Target
	// Payload is a constant that the target receives as "payload": anything that
	// encoding/json writes, up to 200 KiB. Default: null.
	Payload any
	// Description of the schedule, up to 512 characters. Default: the names of job and scheduler.
	Description string
	// Disabled deploys the schedule without ticks: none is expected, and none is missed. The
	// job can still be run by hand. Default: false.
	Disabled bool
	// Spread lets each tick come at any time within so many minutes of its planned instant,
	// so that jobs planned for the same instant do not all start in it: EventBridge
	// Scheduler's flexible time window. Shorter than the interval, and the start deadline
	// must cover it. Default: none; a tick comes within its minute.
	Spread time.Duration
	// Overlap says what happens to a tick that finds the job running. policy.Replace needs
	// a fenced job or a target that can be stopped. Default: policy.Skip.
	Overlap policy.Overlap
	// KeepFirst lets the first tick that waits keep its place under policy.QueueOne.
	// Default: false, the newest takes it.
	KeepFirst bool
	// Grace is how long a run that policy.Replace asked to stop may go on by itself, if it
	// has beats. Default: 30 s.
	Grace time.Duration
	// Fenced promises that every write of the job checks its fence: an old run that cannot
	// be stopped at once is then not waited for. Default: false.
	Fenced bool
	// MaxRun bounds a run. Default: the target's own timeout, else an hour.
	MaxRun time.Duration
	// Lease is how long a run is trusted after its last beat. A run whose maximum run time
	// and start delay (75 s) fit it needs no beats. Default: 2 minutes.
	Lease time.Duration
	// Renewal is the time between two beats, for runs that need them. Default: 30 s.
	Renewal time.Duration
	// StartDeadline is how late a tick may still start, a minute or more. Default: 15 minutes.
	StartDeadline time.Duration
	// Retries is how often a run whose lease was lost, or which was never started, is tried
	// again, up to 10. A run that failed by itself is not. Default: 0.
	Retries int
	// RetryWindow bounds retries, from when the work of the first attempt is over: its end and, where
	// work may outlive that, the drain time. Default: one interval, or the start deadline of a tick
	// that none follows.
	RetryWindow time.Duration
	// CatchUp says which missed ticks run later. Default: policy.CatchUpNone.
	CatchUp policy.CatchUp
	// CatchUpMax bounds policy.CatchUpAll, up to 1000. Default: 10.
	CatchUpMax int
	// CatchUpWindow is how long missed ticks may wait to be caught up with. Default: a day.
	CatchUpWindow time.Duration
	// Alarms says which alarms the job has and when they go off. With shared alarms on the
	// scheduler it must be left out. Default: all four.
	Alarms JobAlarms
	// PageTopic is told of what must be seen to at once. Default: the scheduler's.
	PageTopic awssns.ITopic
	// NoticeTopic is told of what may wait until morning. Default: the scheduler's.
	NoticeTopic awssns.ITopic
	// Owner is named in the alarms' texts: a team, a channel; up to 128 bytes. Default: none.
	Owner string
	// Runbook stands in the alarms' texts: a link, up to 256 bytes. Default: none.
	Runbook string
}

// Job is one scheduled piece of work: a schedule, a state machine that guards the work, and
// four alarms.
type Job struct {
	constructs.Construct

	name      string
	spec      schema.Spec
	machine   awsstepfunctions.StateMachine
	schedule  awsscheduler.CfnSchedule
	apart     []time.Duration // distances of its next ticks
	interval  time.Duration   // the typical one; 0 for a single tick
	owner     string
	runbook   string
	scheduler *Scheduler
	page      topic
	notice    topic

	overdueAlarm awscloudwatch.Alarm
	failedAlarm  awscloudwatch.Alarm
	ratioAlarm   awscloudwatch.Alarm
	skipAlarm    awscloudwatch.Alarm
}

// NewJob makes a job of props.Scheduler in any stack. It panics with a [PropsError] if
// the props are wrong.
func NewJob(scope constructs.Construct, id string, props *JobProps) *Job {
	j := &Job{}
	constructs.NewConstruct_Override(j, scope, &id)
	if props == nil {
		props = &JobProps{}
	}
	j.name = props.Name
	if j.name == "" {
		j.name = id
	}
	path := *j.Node().Path()
	spec, payload, bad := props.settle(j, j.name)
	if props.Scheduler != nil {
		bad.add(props.Scheduler.register(j.name, path))
		bad.add(props.Scheduler.checkPlace(j))
	}
	bad.check(path)
	j.spec = spec
	j.newMachine(props, payload)
	j.newSchedule(props)
	j.observe(props)
	return j
}

// Name is the job's name.
func (j *Job) Name() string { return j.name }

// Spec is what the dispatcher is told of the job with every tick; the machine's ARN is
// known to CloudFormation only.
func (j *Job) Spec() schema.Spec { return j.spec }

// StateMachine runs and guards the work. It is called SCHEDULER_JOB.
func (j *Job) StateMachine() awsstepfunctions.StateMachine { return j.machine }

// Schedule delivers the job's ticks. It is called JOB.SCHEDULER, in its scheduler's group.
func (j *Job) Schedule() awsscheduler.CfnSchedule { return j.schedule }

func (j *Job) newMachine(props *JobProps, payload []byte) {
	s := props.Scheduler
	m := machine{
		spec:      j.spec,
		table:     *s.table.TableName(),
		payload:   payload,
		partition: *awscdk.Aws_PARTITION(),
		heartbeat: *s.heartbeat.FunctionArn(),
		settler:   *s.settler.FunctionArn(),
	}
	m.work = props.Target.work(j, m)
	text, err := encode(m.definition())
	if err != nil { // the payload, the one part that is not the library's, was encoded before
		panic(err)
	}
	chain, isChain := props.Target.(*chainTarget)
	if isChain {
		text = chain.fill(text)
	}
	role := s.runRole(j)
	role.limit.machines += len(text)
	j.machine = awsstepfunctions.NewStateMachine(j, jsii.String("Machine"), &awsstepfunctions.StateMachineProps{
		StateMachineName: jsii.String(schema.MachineName(s.name, j.name)),
		StateMachineType: awsstepfunctions.StateMachineType_STANDARD,
		DefinitionBody:   awsstepfunctions.DefinitionBody_FromString(&text),
		Role:             role.grant(props.Target.grants(j)),
	})
	if isChain {
		chain.bind(j.machine)
	}
	j.spec.Machine = *j.machine.StateMachineArn()
}
