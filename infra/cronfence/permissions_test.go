package cronfence_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/infra/internal/infratest"
)

// grants lists "action on resource" of a role, whatever statements they stand in.
func (tpl template) grants(t *testing.T, role string) []string {
	t.Helper()
	var got []string
	for _, r := range tpl.all("AWS::IAM::Policy") {
		if !strings.Contains(infratest.Text(r.Properties["Roles"].([]any)[0]), role) {
			continue
		}
		for _, s := range r.Properties["PolicyDocument"].(map[string]any)["Statement"].([]any) {
			s := s.(map[string]any)
			for _, action := range list(s["Action"]) {
				for _, on := range list(s["Resource"]) {
					got = append(got, fmt.Sprintf("%s %v on %s", s["Effect"], action, infratest.Text(on)))
				}
			}
		}
	}
	slices.Sort(got)
	return got
}

func list(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

func (tpl template) id(t *testing.T, kind, part string) string {
	t.Helper()
	for _, id := range slices.Sorted(maps.Keys(tpl.all(kind))) {
		if strings.Contains(id, part) {
			return id
		}
	}
	t.Fatalf("template has no %s called like %q", kind, part)
	return ""
}

func TestRolesMayDoWhatTheirPartNeedsAndNoMore(t *testing.T) {
	f := synth(t)
	tpl := f.main
	table := "<" + tpl.id(t, "AWS::DynamoDB::Table", "Table") + ".Arn>"
	queue := "<" + tpl.id(t, "AWS::SQS::Queue", "DeadLetters") + ".Arn>"
	fn := func(part string) string { return "<" + tpl.id(t, "AWS::Lambda::Function", part) + ".Arn>" }
	logs := func(part string) []string {
		group := "<" + tpl.id(t, "AWS::Logs::LogGroup", part) + ".Arn>"
		return []string{"Allow logs:CreateLogStream on " + group, "Allow logs:PutLogEvents on " + group}
	}
	const states = "arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:"
	decides := []string{
		"Allow dynamodb:ConditionCheckItem on " + table, "Allow dynamodb:GetItem on " + table,
		"Allow dynamodb:Query on " + table, "Allow dynamodb:UpdateItem on " + table,
		"Allow states:StartExecution on " + states + "stateMachine:shop_*",
		"Allow states:DescribeExecution on " + states + "execution:shop_*:*",
		"Allow states:StopExecution on " + states + "execution:shop_*:*",
		"Allow sqs:GetQueueAttributes on " + queue, "Allow sqs:GetQueueUrl on " + queue, "Allow sqs:SendMessage on " + queue,
	}
	for role, want := range map[string][]string{
		"SchedulerDispatcherRole": append(logs("DispatcherLogs"), decides...),
		"SchedulerSettlerRole":    append(logs("SettlerLogs"), decides...),
		"SchedulerHeartbeatRole": append(logs("HeartbeatLogs"),
			"Allow dynamodb:GetItem on "+table, "Allow dynamodb:UpdateItem on "+table),
		"SchedulerSentinelRole": append(logs("SentinelLogs"),
			"Allow dynamodb:BatchGetItem on "+table, "Allow dynamodb:ConditionCheckItem on "+table, "Allow dynamodb:GetItem on "+table,
			"Allow dynamodb:Query on "+table, "Allow dynamodb:UpdateItem on "+table, "Allow dynamodb:Query on "+table+"/index/guards",
			"Allow states:StartExecution on "+states+"stateMachine:shop_*",
			"Allow states:DescribeExecution on "+states+"execution:shop_*:*",
			"Allow states:StopExecution on "+states+"execution:shop_*:*",
			// AWS forces the list on all schedules.
			"Allow scheduler:ListSchedules on arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/*/*",
			"Allow scheduler:GetSchedule on arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/cronfence-shop/*",
			"Allow sns:Publish on <"+tpl.id(t, "AWS::SNS::Topic", "NoticeTopic")+">"),
		"SchedulerScheduleRole": {"Allow lambda:InvokeFunction on " + fn("Dispatcher"), "Allow lambda:InvokeFunction on " + fn("Sentinel"), "Allow sqs:SendMessage on " + queue},
		"CronfenceRunRoleshop": {
			"Allow lambda:InvokeFunction on " + fn("Heartbeat"), "Allow lambda:InvokeFunction on " + fn("Settler"),
			"Allow lambda:InvokeFunction on " + fn("Long"), "Allow lambda:InvokeFunction on " + fn("Short"),
		},
		"LongRole": logs("LongLogs"),
	} {
		slices.Sort(want)
		if got := tpl.grants(t, role); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", role, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	for _, tpl := range []template{f.main, f.more} {
		for id, r := range tpl.all("AWS::IAM::Role") {
			if r.Properties["ManagedPolicyArns"] != nil {
				t.Errorf("%s has managed policies %v: want none", id, r.Properties["ManagedPolicyArns"])
			}
		}
	}
}

func TestTrustNamesTheGroupAndTheAccount(t *testing.T) {
	tpl := synth(t).main
	trust := func(part string) string {
		doc := tpl.Resources[tpl.id(t, "AWS::IAM::Role", part)].Properties["AssumeRolePolicyDocument"].(map[string]any)
		s := doc["Statement"].([]any)[0].(map[string]any)
		var b strings.Builder
		fmt.Fprint(&b, s["Principal"].(map[string]any)["Service"])
		for _, operator := range []string{"StringEquals", "ArnLike"} {
			conditions, _ := s["Condition"].(map[string]any)[operator].(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(conditions)) {
				fmt.Fprintf(&b, " %s=%s", key, infratest.Text(conditions[key]))
			}
		}
		return b.String()
	}
	group := tpl.id(t, "AWS::Scheduler::ScheduleGroup", "Group")
	for part, want := range map[string]string{
		"ScheduleRole": "scheduler.amazonaws.com aws:SourceAccount=<AWS::AccountId> aws:SourceArn=<" + group + ".Arn>",
		"RunRole":      "states.amazonaws.com aws:SourceAccount=<AWS::AccountId> aws:SourceArn=arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:stateMachine:shop_*",
	} {
		if got := trust(part); got != want {
			t.Errorf("%s trusts %s\nwant %s", part, got, want)
		}
	}
}

// The jobs' stack depends on the scheduler's; a role or a policy that named machines
// would make it depend the other way round too.
func TestSchedulersStackKnowsNoMachine(t *testing.T) {
	f := synth(t)
	if n := len(f.more.all("AWS::StepFunctions::StateMachine")); n != 1 {
		t.Fatalf("%d machines in the second stack: want 1", n)
	}
	for id, r := range f.main.Resources {
		if strings.Contains(infratest.Text(r.Properties), "ImportValue") {
			t.Errorf("%s of the scheduler's stack imports from the jobs' stack", id)
		}
	}
	grants := f.more.grants(t, "CronfenceRunRoleshop")
	if len(grants) != 3 {
		t.Errorf("second stack's run role: %v: want heartbeat, settler and the job's function", grants)
	}
}
