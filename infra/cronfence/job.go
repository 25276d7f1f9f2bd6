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
	// Overlap says what happens to a tick that finds the job running. Default: policy.Skip.
	Overlap policy.Overlap
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
	interval  time.Duration // the typical one; 0 for a single tick
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
	spec, payload, bad := props.settle(j.name)
	if props.Scheduler != nil {
		bad.add(props.Scheduler.register(j.name, path))
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
	role := s.runRole(j)
	role.invoke.AddResources(*jsii.Strings(props.Target.invoked()...)...)
	m := machine{
		spec:      j.spec,
		table:     *s.table.TableName(),
		payload:   payload,
		invoke:    "arn:" + *awscdk.Aws_PARTITION() + ":states:::lambda:invoke",
		heartbeat: *s.heartbeat.FunctionArn(),
		settler:   *s.settler.FunctionArn(),
	}
	m.task = props.Target.task(m)
	text, err := encode(m.definition())
	if err != nil { // the payload, the one part that is not the library's, was encoded before
		panic(err)
	}
	j.machine = awsstepfunctions.NewStateMachine(j, jsii.String("Machine"), &awsstepfunctions.StateMachineProps{
		StateMachineName: jsii.String(schema.MachineName(s.name, j.name)),
		StateMachineType: awsstepfunctions.StateMachineType_STANDARD,
		DefinitionBody:   awsstepfunctions.DefinitionBody_FromString(&text),
		Role:             role.role,
	})
	j.spec.Machine = *j.machine.StateMachineArn()
}
