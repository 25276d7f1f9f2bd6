package cronfence

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
)

// TaskTokenTargetProps are the props of a [TaskTokenTarget].
type TaskTokenTargetProps struct {
	// Heartbeat is the longest that the worker may be silent: it calls SendTaskHeartbeat more
	// often and stops working when that is refused. A silent run is TimedOut. Default: none.
	Heartbeat time.Duration
	// Drain is how long the worker may go on working after its run was stopped. Default: the
	// heartbeat; without one the maximum run time, for a worker that ends at the run
	// object's deadline.
	Drain time.Duration
}

// TaskTokenTarget sends a message to a queue and waits for a worker, wherever it is, to call
// SendTaskSuccess or SendTaskFailure with the token. The message is the run object with a
// field taskToken. The worker must not begin or go on after the run object's deadline: a
// message may be received long after its run was given up. policy.Replace can stop such a run
// only with a heartbeat. A FIFO queue gets the job as group and the run as deduplication id.
// props may be nil.
func TaskTokenTarget(queue awssqs.IQueue, props *TaskTokenTargetProps) Target {
	if queue == nil {
		return nil
	}
	if props == nil {
		props = &TaskTokenTargetProps{}
	}
	return tokenTarget{queue, *props}
}

type tokenTarget struct {
	queue awssqs.IQueue
	props TaskTokenTargetProps
}

func (t tokenTarget) facts(constructs.Construct) targetFacts {
	var f targetFacts
	f.heartbeat = orDefault("target: heartbeat", t.props.Heartbeat, 0, &f.bad)
	f.drain = orDefault("target: drain", t.props.Drain, f.heartbeat, &f.bad)
	f.untilDeadline = f.drain == 0
	if f.heartbeat == 0 {
		f.unstoppable = "a worker learns of it by its heartbeat only, and none is given"
	}
	return f
}

func (t tokenTarget) work(_ constructs.Construct, m machine) work {
	body := m.runObject()
	body["taskToken.$"] = "$$.Task.Token"
	params := map[string]any{"QueueUrl": *t.queue.QueueUrl(), "MessageBody": body}
	if *t.queue.Fifo() {
		params["MessageGroupId"] = m.spec.Job
		params["MessageDeduplicationId.$"] = "$.run"
	}
	return work{task: state{
		Type: "Task", Resource: m.integration("sqs:sendMessage.waitForTaskToken"), Parameters: params,
		HeartbeatSeconds: wholeSeconds(t.props.Heartbeat),
	}}
}

func (t tokenTarget) grants(constructs.Construct) grants {
	g := grants{permissions: []permission{permit([]string{*t.queue.QueueArn()}, "sqs:SendMessage")}}
	if key := t.queue.EncryptionMasterKey(); key != nil {
		g.permissions = append(g.permissions, permit([]string{*key.KeyArn()}, "kms:GenerateDataKey", "kms:Decrypt"))
	}
	return g
}
