package cronfence_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/infra/internal/infratest"
)

// reviews are what a reviewer asks of every resource of a type; each returns what is wrong. A
// type that is not here may not be made.
var reviews = map[string]func(r resource) string{
	"AWS::DynamoDB::Table": func(r resource) string {
		return r.must(r.DeletionPolicy == "Retain" && r.UpdateReplacePolicy == "Retain" && r.Properties["DeletionProtectionEnabled"] == true &&
			r.Properties["BillingMode"] == "PAY_PER_REQUEST" && r.text("PointInTimeRecoverySpecification") == `{"PointInTimeRecoveryEnabled":true}`,
			"kept, protected, recoverable, paid by request")
	},
	"AWS::Logs::LogGroup": func(r resource) string {
		return r.must(r.Properties["RetentionInDays"] == 90.0 && r.DeletionPolicy == "Retain", "kept for 90 days, whatever becomes of the stack")
	},
	"AWS::Lambda::Function": func(r resource) string {
		return r.must(r.Properties["Runtime"] == "provided.al2023" && r.Properties["Handler"] == "bootstrap" && r.Properties["Architectures"].([]any)[0] == "arm64" &&
			r.Properties["MemorySize"] == 256.0 && strings.Contains(r.text("LoggingConfig"), `"LogFormat":"JSON"`) && strings.Contains(r.text("LoggingConfig"), `"LogGroup"`) &&
			strings.HasSuffix(r.text("Role"), ".Arn>") && r.Metadata["cronfence:go-package"] != nil,
			"a Go program on arm64 that writes JSON to a log of its own, and says what it is built from")
	},
	"AWS::Lambda::EventInvokeConfig": func(r resource) string {
		age, retries := r.Properties["MaximumEventAgeInSeconds"], r.Properties["MaximumRetryAttempts"]
		return r.must(age == 21600.0 && retries == 2.0 && r.Properties["DestinationConfig"] != nil || age == 60.0 && retries == 0.0, "bounded, and retries with a destination")
	},
	"AWS::Lambda::Permission": func(r resource) string {
		return r.must(r.Properties["Action"] == "lambda:InvokeFunction" && r.Properties["Principal"] == "events.amazonaws.com" && strings.HasPrefix(r.text("SourceArn"), "<SchedulerStatusRule"),
			"the status rule's alone")
	},
	"AWS::Events::Rule": func(r resource) string {
		return r.must(r.Properties["State"] == "ENABLED" && strings.Contains(r.text("EventPattern"), ":execution:shop_") && strings.Contains(r.text("Targets"), "DeadLetterConfig"),
			"of this scheduler's executions, with dead letters")
	},
	"AWS::SQS::Queue": func(r resource) string {
		return r.must(r.Properties["MessageRetentionPeriod"] == 1209600.0, "14 days of dead letters")
	},
	"AWS::SQS::QueuePolicy": func(r resource) string {
		return r.must(strings.Contains(r.text("PolicyDocument"), `{"aws:SecureTransport":"false"}`) && strings.Contains(r.text("PolicyDocument"), "aws:SourceArn"), "TLS only, and a source for whoever may send")
	},
	"AWS::SNS::Topic": func(r resource) string {
		return r.must(strings.HasPrefix(r.text("DisplayName"), "Cronfence shop: "), "a display name that says whose it is")
	},
	"AWS::SNS::TopicPolicy": func(r resource) string {
		return r.must(strings.Contains(r.text("PolicyDocument"), `{"aws:SecureTransport":"false"}`) && strings.Contains(r.text("PolicyDocument"), "alarm:cronfence/shop/*"), "TLS only, and these alarms alone")
	},
	"AWS::IAM::Role": func(r resource) string {
		trust := r.text("AssumeRolePolicyDocument")
		return r.must(r.Properties["ManagedPolicyArns"] == nil && r.Properties["Policies"] == nil && strings.Count(trust, "sts:AssumeRole") == 1 &&
			(strings.Contains(trust, `"lambda.amazonaws.com"`) || strings.Contains(trust, "aws:SourceAccount") && strings.Contains(trust, "aws:SourceArn")),
			"trust in one service, for this account and source where the service says them")
	},
	"AWS::IAM::Policy": func(r resource) string {
		return r.must(len(r.Properties["Roles"].([]any)) == 1, "one role") // statements: TestNoPermissionIsWiderThanAWSForces
	},
	"AWS::Scheduler::ScheduleGroup": func(r resource) string {
		return r.must(r.Properties["Name"] == "cronfence-shop" && strings.Contains(r.text("Tags"), "cronfence:table"), "the scheduler's name and the table's tag")
	},
	"AWS::Scheduler::Schedule": func(r resource) string {
		return r.must(r.Properties["GroupName"] != nil && len(r.DependsOn)+strings.Count(r.text("Target"), "ImportValue") > 1 && strings.Contains(r.text("Target"), "RetryPolicy"),
			"in the group, after what it invokes, its retries bounded")
	},
	"AWS::StepFunctions::StateMachine": func(r resource) string {
		return r.must(r.Properties["StateMachineType"] == "STANDARD" && strings.HasPrefix(r.text("StateMachineName"), "shop_") && strings.HasPrefix(r.text("RoleArn"), "<CronfenceRunRoleshop") &&
			strings.Contains(strings.Join(r.DependsOn, " "), "CronfenceRunRoleshopDefaultPolicy"), "a Standard machine of the scheduler's prefix, made after its role's permissions")
	},
	"AWS::CloudWatch::Alarm": func(r resource) string {
		return r.must(strings.HasPrefix(r.text("AlarmName"), "cronfence/shop/") && len(r.Properties["AlarmActions"].([]any)) == 1 && strings.Contains(r.text("AlarmDescription"), "/docs/playbooks/") &&
			r.Properties["TreatMissingData"] != nil, "one topic, a playbook, and a word on missing data")
	},
	"AWS::CloudWatch::Dashboard": func(r resource) string {
		return r.must(r.text("DashboardName") == "cronfence-shop-<AWS::Region>", "the Region in its name")
	},
	"AWS::EC2::SecurityGroup": func(r resource) string {
		return r.must(r.Properties["SecurityGroupIngress"] == nil, "open to nobody")
	},
}

func (r resource) text(property string) string { return infratest.Text(r.Properties[property]) }

func (r resource) must(holds bool, what string) string {
	if holds {
		return ""
	}
	return fmt.Sprintf("%v: want %s", r, what)
}

func TestEveryResourceIsReviewed(t *testing.T) {
	met := map[string]bool{}
	for shape, tpl := range synthShapes(t) {
		for id, r := range tpl.Resources {
			met[r.Type] = true
			review, ok := reviews[r.Type]
			if !ok {
				t.Errorf("%s: %s is a %s: no test asks anything of those", shape, id, r.Type)
			} else if wrong := review(r); wrong != "" {
				t.Errorf("%s: %s: %s", shape, id, wrong)
			}
		}
	}
	for kind := range reviews {
		if !met[kind] {
			t.Errorf("no template has a %s any more: remove its review", kind)
		}
	}
}

// forced are the wildcards of permissions that AWS leaves no choice about, or that stand for
// what is named when it is made; see the reasons in nag_test.go.
var forced = []string{
	"batch:DescribeJobs on *",
	"batch:TerminateJob on arn:<AWS::Partition>:batch:<AWS::Region>:<AWS::AccountId>:job/*",
	"scheduler:ListSchedules on arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/*/*",
	"scheduler:GetSchedule on arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/cronfence-shop/*",
	"states:StartExecution on arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:stateMachine:shop_*",
	"states:DescribeExecution on arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:shop_*:*",
	"states:StopExecution on arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:shop_*:*",
}

func TestNoPermissionIsWiderThanAWSForces(t *testing.T) {
	used := map[string]bool{}
	for shape, tpl := range synthShapes(t) {
		for _, g := range tpl.grants(t, "Role") {
			g, isAllow := strings.CutPrefix(g, "Allow ")
			action, on, _ := strings.Cut(g, " on ")
			if !isAllow || strings.Contains(action, "*") {
				t.Errorf("%s: %s", shape, g)
			}
			if slices.Contains(forced, g) {
				used[g] = true
			} else if strings.Contains(on, "*") && !slices.ContainsFunc(runWildcards, func(prefix string) bool { return strings.HasPrefix(g, prefix) }) {
				t.Errorf("%s: %s: a wildcard with no reason", shape, g)
			}
		}
	}
	for _, g := range forced {
		if !used[g] {
			t.Errorf("nobody is granted %s any more: remove it", g)
		}
	}
}

// runWildcards are of the job's own task definition, cluster, job definition and machine.
var runWildcards = []string{
	"ecs:RunTask on arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task-definition/WorldTask",
	"ecs:StopTask on arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task/<import World:",
	"ecs:DescribeTasks on arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task/<import World:",
	"batch:SubmitJob on arn:<AWS::Partition>:batch:<AWS::Region>:<AWS::AccountId>:job-definition/",
	"states:DescribeExecution on arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:{\"Fn::",
	"states:StopExecution on arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:{\"Fn::",
	"lambda:InvokeFunction on <import World:", // versions and aliases: the CDK's grant of a chain's call
}

// imported match what another stack exports, and a part of that.
var imported = []*regexp.Regexp{
	regexp.MustCompile(`<import (\w+):[^>]*>`), regexp.MustCompile(`\{"Fn::Select":.*"Fn::ImportValue":"(\w+):[^}]*[\]}]+`),
}

// What each kind of work adds to its stack's run role, to the last permission.
func TestRunRoleMayDoWhatItsWorkNeedsAndNoMore(t *testing.T) {
	all := synthShapes(t)
	rule := func(name string) []string {
		on := " on arn:<AWS::Partition>:events:<AWS::Region>:<AWS::AccountId>:rule/StepFunctionsGetEventsFor" + name + "Rule"
		return []string{"events:DescribeRule" + on, "events:PutRule" + on, "events:PutTargets" + on}
	}
	local := func(service, rest string) string {
		return "arn:<AWS::Partition>:" + service + ":<AWS::Region>:<AWS::AccountId>:" + rest
	}
	const world = "<import World:>"
	for shape, want := range map[string][]string{
		"with-beats":    {"lambda:InvokeFunction on " + world},
		"without-beats": {"lambda:InvokeFunction on " + world},
		"chain":         {"lambda:InvokeFunction on " + world, "lambda:InvokeFunction on " + world + ":*"},
		"container": append(rule("ECSTask"), "ecs:RunTask on "+local("ecs", "task-definition/WorldTask9C1D02B9:*"),
			"ecs:StopTask on "+local("ecs", "task/"+world+"/*"), "ecs:DescribeTasks on "+local("ecs", "task/"+world+"/*"),
			"iam:PassRole on "+world, "iam:PassRole on "+world),
		"task-token": {"sqs:SendMessage on " + world},
		"batch": append(rule("BatchJobs"), "batch:SubmitJob on "+local("batch", "job-definition/"+world), "batch:SubmitJob on "+local("batch", "job-definition/"+world+":*"),
			"batch:SubmitJob on "+world, "batch:TerminateJob on "+local("batch", "job/*"), "batch:DescribeJobs on *"),
		"glue": {
			"glue:StartJobRun on " + local("glue", "job/nightly-etl"), "glue:GetJobRun on " + local("glue", "job/nightly-etl"),
			"glue:GetJobRuns on " + local("glue", "job/nightly-etl"), "glue:BatchStopJobRun on " + local("glue", "job/nightly-etl"),
		},
		"nested": append(rule("StepFunctionsExecution"), "states:StartExecution on "+world,
			"states:DescribeExecution on "+local("states", "execution:"+world+":*"), "states:StopExecution on "+local("states", "execution:"+world+":*")),
	} {
		want = append(want, "lambda:InvokeFunction on <import Shared:>", "lambda:InvokeFunction on <import Shared:>") // heartbeat and settler
		slices.Sort(want)
		var got []string
		for _, g := range all[shape].grants(t, "CronfenceRunRoleshop") {
			for _, pattern := range imported {
				g = pattern.ReplaceAllString(g, "<import $1:>")
			}
			got = append(got, strings.TrimPrefix(g, "Allow "))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", shape, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	for condition, action := range map[string]string{"ArnEquals ecs:cluster <import World:": "ecs:RunTask", "StringEquals iam:PassedToService ecs-tasks.amazonaws.com": "iam:PassRole"} {
		policy := all["container"].Resources[all["container"].id(t, "AWS::IAM::Policy", "RunRole")]
		found := false
		for _, s := range at(policy.Properties, "PolicyDocument", "Statement").([]any) {
			s := s.(map[string]any)
			found = found || s["Action"] == action && s["Condition"] != nil && strings.HasPrefix(text(s["Condition"]), condition)
		}
		if !found {
			t.Errorf("%s of a container is not under %s", action, condition)
		}
	}
	if len(all) != 9 {
		t.Errorf("%d templates: want the scheduler's and one a kind of work", len(all))
	}
}
