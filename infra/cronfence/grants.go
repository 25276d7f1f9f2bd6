package cronfence

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// GrantFence lets a job's work check its fence: read this job's guard, and name it in a
// condition of its own transactions. IAM knows partitions but no sort keys, so that the
// job's ledger can be read too; nothing can be written. Job code needs it only if it checks
// the fence on the guard itself.
func (j *Job) GrantFence(to awsiam.IGrantable) awsiam.Grant {
	j.scheduler.grantKey(to, keyToRead)
	return j.grantPartition(to, j.name, "dynamodb:GetItem", "dynamodb:ConditionCheckItem")
}

// GrantNotes lets a job's work keep progress notes, which are in a partition of their own, and
// read them: what package job/notes needs.
func (j *Job) GrantNotes(to awsiam.IGrantable) awsiam.Grant {
	j.scheduler.grantKey(to, keyToWrite)
	return j.grantPartition(to, schema.NotePK(j.name), "dynamodb:PutItem", "dynamodb:Query")
}

func (j *Job) grantPartition(to awsiam.IGrantable, partition string, actions ...string) awsiam.Grant {
	return awsiam.Grant_AddToPrincipal(&awsiam.GrantOnPrincipalOptions{
		Grantee:      to,
		Actions:      jsii.Strings(actions...),
		ResourceArns: jsii.Strings(*j.scheduler.table.TableArn()),
		Conditions: &map[string]*map[string]any{
			"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": []string{partition}},
			"Null":                      {"dynamodb:LeadingKeys": "false"}, // or no key at all would match
		},
	})
}

// GrantRead lets somebody look: what the command line needs for jobs, status, history, why and
// all else that changes nothing.
func (s *Scheduler) GrantRead(to awsiam.IGrantable) awsiam.Grant {
	s.grantKey(to, keyToRead)
	return s.grantLooks(to)
}

// GrantOperate lets somebody act as well: run, pause, resume, release and all else that the
// command line does to jobs. Such a caller writes guards, as the functions do: give it to
// operators, never to a job.
func (s *Scheduler) GrantOperate(to awsiam.IGrantable) awsiam.Grant {
	s.grantKey(to, keyToWrite)
	machines := s.statesARN("stateMachine", schema.MachinePrefix(s.name)+"*")
	executions := s.statesARN("execution", schema.MachinePrefix(s.name)+"*:*")
	return s.grantLooks(to).
		Combine(grant(to, []string{*s.table.TableArn()}, "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem")).
		Combine(grant(to, []string{machines}, "states:StartExecution")).
		Combine(grant(to, []string{executions}, "states:StopExecution"))
}

func (s *Scheduler) grantLooks(to awsiam.IGrantable) awsiam.Grant {
	table := *s.table.TableArn()
	executions := s.statesARN("execution", schema.MachinePrefix(s.name)+"*:*")
	return grant(to, []string{table}, "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query").
		Combine(grant(to, []string{table + "/index/" + schema.GuardIndex}, "dynamodb:Query")).
		Combine(grant(to, []string{executions}, "states:DescribeExecution", "states:GetExecutionHistory")).
		// Lists are not of one group: IAM checks them against all.
		Combine(grant(to, []string{s.groupARN("*")}, "scheduler:ListScheduleGroups")).
		Combine(grant(to, []string{s.scheduleARN("*")}, "scheduler:ListSchedules")).
		Combine(grant(to, []string{s.groupARN(schema.GroupName(s.name))}, "scheduler:ListTagsForResource")).
		Combine(grant(to, []string{s.scheduleARN(schema.GroupName(s.name))}, "scheduler:GetSchedule"))
}

// groupARN is the ARN of a group of schedules.
func (s *Scheduler) groupARN(group string) string {
	return *awscdk.Stack_Of(s).FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("scheduler"), Resource: jsii.String("schedule-group"), ResourceName: &group,
	})
}

func grant(to awsiam.IGrantable, resources []string, actions ...string) awsiam.Grant {
	return awsiam.Grant_AddToPrincipal(&awsiam.GrantOnPrincipalOptions{
		Grantee: to, Actions: jsii.Strings(actions...), ResourceArns: jsii.Strings(resources...),
	})
}
