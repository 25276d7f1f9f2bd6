package cronfence_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// tuned is one app with everything set that the plain fixture leaves at its default.
type tuned struct {
	main, shared, other template
	weekly              *cronfence.Job
	imported            *cronfence.Scheduler
}

var tunedOnce = sync.OnceValue(func() tuned {
	dir := filepath.Join(scratch, "tuned.out")
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: &dir})
	main := awscdk.NewStack(app, jsii.String("Tuned"), nil)
	own := awssns.NewTopic(main, jsii.String("Own"), nil)
	s := cronfence.NewScheduler(main, "Scheduler", &cronfence.SchedulerProps{
		Name: "tuned", Build: cronfence.BuildPlaceholder, Architecture: cronfence.X86_64, RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
		Retention: 30 * 24 * time.Hour, LogRetention: 7 * 24 * time.Hour, LogLevel: cronfence.LogError, NoticeTopic: own,
		EncryptionKey: awskms.NewKey(main, jsii.String("Key"), &awskms.KeyProps{EnableKeyRotation: jsii.Bool(true)}),
	})
	fn := function(main, "Work", time.Minute)
	hourly := func() *cronfence.JobProps {
		return &cronfence.JobProps{Schedule: schedule.Every(time.Hour), Target: cronfence.LambdaTarget(fn)}
	}
	p := hourly()
	p.Alarms = cronfence.JobAlarms{OverdueBy: time.Hour, Failures: 2, Ratio: 0.5, Skips: 5}
	p.PageTopic, p.NoticeTopic, p.Owner, p.Runbook = own, s.PageTopic(), "team ledger", "https://example.com/ledger"
	s.AddJob("ledger", p).GrantFence(fn)
	notes := awsiam.NewRole(main, jsii.String("Notes"), &awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()})
	p = hourly()
	p.Alarms.Off = true
	quiet := s.AddJob("quiet", p)
	quiet.GrantNotes(notes)
	quiet.AddOverdueAlarm("late", nil)
	quiet.AddFailedAlarm("broken", &cronfence.AlarmProps{Topic: own})
	quiet.AddRatioAlarm("slow", &cronfence.AlarmProps{Threshold: 2})
	quiet.AddSkipAlarm("held", nil)
	p = hourly()
	p.Schedule = schedule.Weekly(time.Sunday, 6, 0, "UTC")
	p.Alarms = cronfence.JobAlarms{FailedOff: true, RatioOff: true}
	weekly := s.AddJob("weekly", p)
	for name, grant := range map[string]func(awsiam.IGrantable) awsiam.Grant{"Reader": s.GrantRead, "Operator": s.GrantOperate} {
		grant(awsiam.NewRole(main, jsii.String(name), &awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()}))
	}

	shared := awscdk.NewStack(app, jsii.String("Shared"), nil)
	all := cronfence.NewScheduler(shared, "Scheduler", &cronfence.SchedulerProps{
		Name: "shared", Build: cronfence.BuildPlaceholder, SharedAlarms: true, NoDashboard: true,
	})
	all.AddJob("one", &cronfence.JobProps{Schedule: schedule.Every(time.Hour), Target: cronfence.LambdaTarget(function(shared, "One", time.Minute))})

	other := awscdk.NewStack(awscdk.NewApp(&awscdk.AppProps{Outdir: &dir}), jsii.String("Other"), nil)
	imported := cronfence.SchedulerFromAttributes(other, "Scheduler", attributes())
	imported.AddJob("guest", &cronfence.JobProps{
		Schedule: schedule.Every(time.Hour), Target: cronfence.LambdaTarget(function(other, "Guest", time.Minute)),
	}).GrantFence(function(other, "Checks", time.Minute))
	return tuned{
		main: read(dir, main), shared: read(dir, shared), other: read(dir, other),
		weekly: weekly, imported: imported,
	}
})

func attributes() *cronfence.SchedulerAttributes {
	arn := func(service, resource string) string {
		return "arn:aws:" + service + ":eu-central-1:123456789012:" + resource
	}
	return &cronfence.SchedulerAttributes{
		Name: "platform", TableARN: arn("dynamodb", "table/platform"),
		DispatcherARN: arn("lambda", "function:dispatcher"), HeartbeatARN: arn("lambda", "function:heartbeat"), SettlerARN: arn("lambda", "function:settler"),
		DeadLettersARN: arn("sqs", "dead-letters"), ScheduleRoleARN: "arn:aws:iam::123456789012:role/schedules",
		PageTopicARN: arn("sns", "page"), NoticeTopicARN: arn("sns", "notice"), EncryptionKeyARN: arn("kms", "key/1"),
	}
}

func synthTuned(t *testing.T) tuned {
	t.Helper()
	infratest.RequireNode(t)
	return tunedOnce()
}

func TestAlarmsAsTheJobSays(t *testing.T) {
	tpl := synthTuned(t).main
	type want struct {
		threshold, period, periods, inRow float64
		topic                             string
	}
	for name, w := range map[string]want{
		"ledger/overdue": {3600, 60, 5, 0, "<Own"}, "ledger/failed": {1, 3600, 2, 2, "<Own"},
		"ledger/ratio": {0.5, 3600, 3, 1, "<SchedulerPageTopic"}, "ledger/skips": {1, 3600, 5, 5, "<SchedulerPageTopic"},
		"quiet/late": {0, 60, 5, 0, "<SchedulerPageTopic"}, "quiet/broken": {1, 60, 1, 1, "<Own"},
		"quiet/slow": {2, 3600, 3, 1, "<Own"}, "quiet/held": {1, 3600, 3, 3, "<Own"},
		// A tick a week: an alarm looks back on one of them.
		"weekly/overdue": {0, 60, 5, 0, "<SchedulerPageTopic"}, "weekly/skips": {1, 86400, 1, 1, "<Own"},
	} {
		a := alarm(t, tpl, "tuned/"+name)
		inRow, _ := a["DatapointsToAlarm"].(float64)
		topic := infratest.Text(a["AlarmActions"].([]any)[0])
		got := want{a["Threshold"].(float64), a["Period"].(float64), a["EvaluationPeriods"].(float64), inRow, w.topic}
		if got != w || !strings.HasPrefix(topic, w.topic) {
			t.Errorf("%s: %+v to %s: want %+v", name, got, topic, w)
		}
	}
	for id, r := range tpl.all("AWS::CloudWatch::Alarm") {
		text := r.Properties["AlarmDescription"].(string)
		if len(text) > 1024 {
			t.Errorf("%s: text of %d bytes: CloudWatch allows 1024 characters", id, len(text))
		}
		name := r.Properties["AlarmName"].(string)
		if owned := strings.Contains(text, "Owner: team ledger. Runbook: https://example.com/ledger"); owned != strings.HasPrefix(name, "cronfence/tuned/ledger/") {
			t.Errorf("%s says %q", name, text)
		}
	}
	if n := len(tpl.all("AWS::CloudWatch::Alarm")); n != 14 {
		t.Errorf("%d alarms: want 4 + 4 + 2 of jobs and 4 of the scheduler", n)
	}
	j := synthTuned(t).weekly
	if j.FailedAlarm() != nil || j.RatioAlarm() != nil || j.OverdueAlarm() == nil || j.SkipAlarm() == nil {
		t.Error("accessors disagree with the props on which alarms there are")
	}
}

func TestSharedAlarmsWatchEveryJobAsAContributor(t *testing.T) {
	tpl := synthTuned(t).shared
	for kind, want := range map[string]string{
		"overdue": "MAX(Overdue) GreaterThanThreshold 0 breaching", "failed": "SUM(Failed) GreaterThanOrEqualToThreshold 1 ignore",
		"ratio": "MAX(Ratio) GreaterThanOrEqualToThreshold 0.8 notBreaching", "skips": "MAX(Ratio) GreaterThanOrEqualToThreshold 3 notBreaching",
		"lease-lost": "SUM(LeaseLost) GreaterThanOrEqualToThreshold 1 notBreaching",
	} {
		a := alarm(t, tpl, "shared/"+kind)
		m := a["Metrics"].([]any)[0].(map[string]any)
		query := m["Expression"].(string)
		if query != "SELECT "+strings.Fields(want)[0]+` FROM SCHEMA(Cronfence, "Scheduler", "Job") WHERE "Scheduler" = 'shared' GROUP BY "Job"` {
			t.Errorf("%s: %s", kind, query)
		}
		got := fmt.Sprintf("%s %v %v %v", strings.Fields(query)[1], a["ComparisonOperator"], a["Threshold"], a["TreatMissingData"])
		if got != want || m["ReturnData"] != true {
			t.Errorf("%s: %s: want %s", kind, got, want)
		}
	}
	if n := len(tpl.all("AWS::CloudWatch::Alarm")); n != 8 || len(tpl.all("AWS::CloudWatch::Dashboard")) != 0 {
		t.Errorf("%d alarms: want 8, whatever the number of jobs, and no dashboard", n)
	}
}

func TestSchedulerKeepsWhatItsPropsSay(t *testing.T) {
	tpl := synthTuned(t).main
	key := "<" + tpl.id(t, "AWS::KMS::Key", "Key") + ".Arn>"
	for _, r := range tpl.all("AWS::DynamoDB::Table") {
		sse := r.Properties["SSESpecification"].(map[string]any)
		if infratest.Text(sse["KMSMasterKeyId"]) != key || r.DeletionPolicy != "Delete" || r.Properties["DeletionProtectionEnabled"] != false {
			t.Errorf("table: key %v, deletion %s", sse, r.DeletionPolicy)
		}
	}
	for id, r := range tpl.all("AWS::Lambda::Function") {
		if !strings.HasPrefix(id, "Scheduler") {
			continue
		}
		env := r.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
		if env["CRONFENCE_RETENTION_DAYS"] != "30" || env["CRONFENCE_LOG_LEVEL"] != "ERROR" || r.Properties["Architectures"].([]any)[0] != "x86_64" {
			t.Errorf("%s: environment %v, architecture %v", id, env, r.Properties["Architectures"])
		}
	}
	for id, r := range tpl.all("AWS::Logs::LogGroup") {
		if strings.HasPrefix(id, "Scheduler") && (r.Properties["RetentionInDays"] != 7.0 || infratest.Text(r.Properties["KmsKeyId"]) != key) {
			t.Errorf("%s: %v: want 7 days and the key", id, r.Properties)
		}
	}
	queue := tpl.Resources[tpl.id(t, "AWS::SQS::Queue", "DeadLetters")].Properties
	topic := tpl.Resources[tpl.id(t, "AWS::SNS::Topic", "SchedulerPageTopic")].Properties
	if infratest.Text(queue["KmsMasterKeyId"]) != key || infratest.Text(topic["KmsMasterKeyId"]) != key {
		t.Errorf("queue's key %v, topic's %v", queue["KmsMasterKeyId"], topic["KmsMasterKeyId"])
	}
	if n := len(tpl.all("AWS::SNS::Topic")); n != 2 {
		t.Errorf("%d topics: want the one given and the one made", n)
	}
}

func TestKeyLetsTheServicesIn(t *testing.T) {
	tpl := synthTuned(t).main
	policy := tpl.Resources[tpl.id(t, "AWS::KMS::Key", "Key")].Properties["KeyPolicy"].(map[string]any)
	var got []string
	for _, s := range policy["Statement"].([]any) {
		s := s.(map[string]any)
		if service, ok := s["Principal"].(map[string]any)["Service"]; ok {
			got = append(got, fmt.Sprint(infratest.Text(service), s["Action"], text(s["Condition"])))
		}
	}
	slices.Sort(got)
	want := []string{
		"cloudwatch.amazonaws.com[kms:Decrypt kms:GenerateDataKey]StringEquals aws:SourceAccount <AWS::AccountId>",
		"events.amazonaws.com[kms:Decrypt kms:GenerateDataKey]StringEquals aws:SourceAccount <AWS::AccountId>",
		"logs.<AWS::Region>.amazonaws.com[kms:Encrypt kms:GenerateDataKey kms:Decrypt kms:DescribeKey]" +
			"ArnLike kms:EncryptionContext:aws:logs:arn arn:<AWS::Partition>:logs:<AWS::Region>:<AWS::AccountId>:log-group:*",
	}
	if !slices.Equal(got, want) {
		t.Errorf("key policy:\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	for _, role := range []string{"DispatcherRole", "HeartbeatRole", "SettlerRole", "SentinelRole", "ScheduleRole"} {
		if grants := strings.Join(tpl.grants(t, role), "\n"); !strings.Contains(grants, "Allow kms:Decrypt on "+key(t, tpl)) {
			t.Errorf("%s may not use the key:\n%s", role, grants)
		}
	}
}

func key(t *testing.T, tpl template) string {
	t.Helper()
	return "<" + tpl.id(t, "AWS::KMS::Key", "Key") + ".Arn>"
}

func TestGrantsOfFencesReadersAndOperators(t *testing.T) {
	tpl := synthTuned(t).main
	table := "<" + tpl.id(t, "AWS::DynamoDB::Table", "Table") + ".Arn>"
	const (
		states     = "arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:"
		schedules  = "arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:"
		executions = " on " + states + "execution:tuned_*:*"
	)
	read := []string{
		"Allow dynamodb:GetItem on " + table, "Allow dynamodb:BatchGetItem on " + table, "Allow dynamodb:Query on " + table,
		"Allow dynamodb:Query on " + table + "/index/guards",
		"Allow states:DescribeExecution" + executions, "Allow states:GetExecutionHistory" + executions,
		"Allow scheduler:ListScheduleGroups on " + schedules + "schedule-group/*", "Allow scheduler:ListSchedules on " + schedules + "schedule/*/*",
		"Allow scheduler:ListTagsForResource on " + schedules + "schedule-group/cronfence-tuned",
		"Allow scheduler:GetSchedule on " + schedules + "schedule/cronfence-tuned/*",
		"Allow kms:Decrypt on " + key(t, tpl), "Allow kms:DescribeKey on " + key(t, tpl),
	}
	operate := append([]string{
		"Allow dynamodb:UpdateItem on " + table, "Allow dynamodb:ConditionCheckItem on " + table,
		"Allow states:StartExecution on " + states + "stateMachine:tuned_*", "Allow states:StopExecution" + executions,
		"Allow kms:Encrypt on " + key(t, tpl), "Allow kms:GenerateDataKey on " + key(t, tpl),
	}, read...)
	for role, want := range map[string][]string{"Reader": read, "Operator": operate} {
		slices.Sort(want)
		if got := tpl.grants(t, role); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", role, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	checkPartition(t, tpl, "WorkRole", table, "[dynamodb:GetItem dynamodb:ConditionCheckItem]", "ledger")
	checkPartition(t, tpl, "Notes", table, "[dynamodb:PutItem dynamodb:Query]", "note#quiet")
	other := synthTuned(t).other
	checkPartition(t, other, "ChecksRole", "arn:aws:dynamodb:eu-central-1:123456789012:table/platform",
		"[dynamodb:GetItem dynamodb:ConditionCheckItem]", "guest")
}

// checkPartition looks for exactly one statement on the table, of these actions on one
// partition.
func checkPartition(t *testing.T, tpl template, role, table, actions, partition string) {
	t.Helper()
	found := 0
	for _, r := range tpl.all("AWS::IAM::Policy") {
		if !strings.Contains(infratest.Text(r.Properties["Roles"].([]any)[0]), role) {
			continue
		}
		for _, s := range r.Properties["PolicyDocument"].(map[string]any)["Statement"].([]any) {
			s := s.(map[string]any)
			if infratest.Text(s["Resource"]) != table {
				continue
			}
			found++
			condition := fmt.Sprint(s["Condition"])
			if fmt.Sprint(s["Action"]) != actions ||
				condition != "map[ForAllValues:StringEquals:map[dynamodb:LeadingKeys:["+partition+"]] Null:map[dynamodb:LeadingKeys:false]]" {
				t.Errorf("%s: %v under %s: want %s on %s alone", role, s["Action"], condition, actions, partition)
			}
		}
	}
	if found != 1 {
		t.Errorf("%s has %d statements on the table: want one", role, found)
	}
}

func TestJobsOfAnotherApp(t *testing.T) {
	tpl := synthTuned(t).other
	p := tpl.named(t, "AWS::Scheduler::Schedule", "Name", "guest.platform").Properties
	target := p["Target"].(map[string]any)
	a := attributes()
	if p["GroupName"] != "cronfence-platform" || target["Arn"] != a.DispatcherARN || target["RoleArn"] != a.ScheduleRoleARN ||
		target["DeadLetterConfig"].(map[string]any)["Arn"] != a.DeadLettersARN {
		t.Errorf("schedule %v", p)
	}
	if got := alarm(t, tpl, "platform/guest/failed")["AlarmActions"].([]any)[0]; got != a.PageTopicARN {
		t.Errorf("failed alarm tells %v: want the other app's topic", got)
	}
	made := map[string]int{}
	for _, r := range tpl.Resources {
		made[r.Type]++
	}
	// Two functions of the test's own, with role and log; the job; its stack's run role.
	want := map[string]int{
		"AWS::Scheduler::Schedule": 1, "AWS::StepFunctions::StateMachine": 1, "AWS::CloudWatch::Alarm": 4,
		"AWS::IAM::Role": 3, "AWS::IAM::Policy": 3, "AWS::Lambda::Function": 2, "AWS::Logs::LogGroup": 2,
	}
	if !maps.Equal(made, want) {
		t.Errorf("resources %v: want %v", made, want)
	}
	s := synthTuned(t).imported
	if s.Table() != nil || s.Dispatcher() != nil || s.Dashboard() != nil || s.Group() != nil || s.PageTopic() == nil {
		t.Error("parts of an imported scheduler: want nil but for the topics")
	}
}

func TestAttributesNameEveryPart(t *testing.T) {
	stack := newStack(t)
	got := newScheduler(stack).Attributes()
	if cronfence.SchedulerFromAttributes(stack, "Same", &got).Name() != "shop" {
		t.Errorf("attributes %+v", got)
	}
	got.SettlerARN, got.TableARN, got.Name = "", "", "no_name"
	err := propsError(t, func() { cronfence.SchedulerFromAttributes(stack, "Missing", &got) })
	if err.Path != "Main/Missing" || len(err.Problems) != 3 || !strings.Contains(err.Error(), `SettlerARN ""`) {
		t.Errorf("%v: want name, settler and table of Main/Missing", err)
	}
}
