package cronfence_test

import (
	"strings"
	"testing"

	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestTableKeepsItsRecords(t *testing.T) {
	tpl := synth(t).main
	tpl.has(t, "AWS::DynamoDB::Table", map[string]any{
		"BillingMode":                      "PAY_PER_REQUEST",
		"DeletionProtectionEnabled":        true,
		"PointInTimeRecoverySpecification": map[string]any{"PointInTimeRecoveryEnabled": true},
		"TimeToLiveSpecification":          map[string]any{"AttributeName": "ttl", "Enabled": true},
		"KeySchema": []any{
			map[string]any{"AttributeName": "pk", "KeyType": "HASH"},
			map[string]any{"AttributeName": "sk", "KeyType": "RANGE"},
		},
		"GlobalSecondaryIndexes": []any{map[string]any{
			"IndexName": "guards",
			"KeySchema": []any{
				map[string]any{"AttributeName": "kind_index", "KeyType": "HASH"},
				map[string]any{"AttributeName": "pk", "KeyType": "RANGE"},
			},
			"Projection": map[string]any{"ProjectionType": "KEYS_ONLY"},
		}},
	})
	for id, r := range tpl.all("AWS::DynamoDB::Table") {
		if r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s: deletion policy %q: want Retain by default", id, r.DeletionPolicy)
		}
	}
}

func TestFunctions(t *testing.T) {
	tpl := synth(t).main
	for name, timeout := range map[string]int{"dispatcher": 15, "heartbeat": 10, "settler": 15, "sentinel": 55} {
		tpl.has(t, "AWS::Lambda::Function", map[string]any{
			"Architectures": []any{"arm64"},
			"Handler":       "bootstrap",
			"Runtime":       "provided.al2023",
			"Timeout":       timeout,
			"Environment":   map[string]any{"Variables": map[string]any{"CRONFENCE_SCHEDULER": "shop", "CRONFENCE_TABLE": map[string]any{}}},
			"LoggingConfig": map[string]any{"LogFormat": "JSON"},
		})
		var found bool
		for _, r := range tpl.all("AWS::Lambda::Function") {
			found = found || r.Metadata["cronfence:go-package"] == "github.com/cronfence/cronfence/functions/"+name
		}
		if !found {
			t.Errorf("no function says that it is built from functions/%s", name)
		}
	}
	for id, r := range tpl.all("AWS::Logs::LogGroup") {
		if r.Properties["RetentionInDays"] != 90.0 {
			t.Errorf("%s: retention %v: want 90 days", id, r.Properties["RetentionInDays"])
		}
	}
	// Whoever calls the heartbeat waits for it; only the others are called asynchronously.
	async := tpl.all("AWS::Lambda::EventInvokeConfig")
	if len(async) != 3 {
		t.Errorf("%d functions with asynchronous invocation: want 3", len(async))
	}
	for id, r := range async {
		if strings.Contains(id, "Sentinel") {
			if r.Properties["MaximumRetryAttempts"] != 0.0 || r.Properties["MaximumEventAgeInSeconds"] != 60.0 || r.Properties["DestinationConfig"] != nil {
				t.Errorf("%s: %v: want a failed sweep left to the next", id, r.Properties)
			}
			continue
		}
		if r.Properties["MaximumRetryAttempts"] != 2.0 || r.Properties["MaximumEventAgeInSeconds"] != 21600.0 ||
			!strings.Contains(infratest.Text(r.Properties["DestinationConfig"]), "DeadLetters") {
			t.Errorf("%s: %v: want 2 retries, 6 hours, dead letters", id, r.Properties)
		}
	}
}

func TestSentinelSweepsEveryMinute(t *testing.T) {
	tpl := synth(t).main
	r := tpl.named(t, "AWS::Scheduler::Schedule", "Name", "_sentinel.shop")
	target := r.Properties["Target"].(map[string]any)
	retry := target["RetryPolicy"].(map[string]any)
	if r.Properties["ScheduleExpression"] != "rate(1 minute)" || retry["MaximumRetryAttempts"] != 0.0 || retry["MaximumEventAgeInSeconds"] != 60.0 {
		t.Errorf("%v: want a sweep a minute, a failed one left to the next", r.Properties)
	}
	if !strings.HasPrefix(infratest.Text(target["Arn"]), "<SchedulerSentinel") || infratest.Text(target["Input"]) != "{}" {
		t.Errorf("target %v: want the sentinel", target)
	}
	if schema.CheckJob(schema.JobOfSchedule("_sentinel.shop")) == nil {
		t.Error("a job can have the sentinel's schedule name")
	}
	deps := strings.Join(r.DependsOn, " ")
	if !strings.Contains(deps, "SchedulerSentinel") || !strings.Contains(deps, "SchedulerScheduleRoleDefaultPolicy") {
		t.Errorf("depends on %s: want the sentinel and the role that invokes it", deps)
	}
}

func TestEndedRunsReachTheSettler(t *testing.T) {
	tpl := synth(t).main
	tpl.has(t, "AWS::Events::Rule", map[string]any{
		"State": "ENABLED",
		"EventPattern": map[string]any{
			"source":      []any{"aws.states"},
			"detail-type": []any{"Step Functions Execution Status Change"},
			"detail":      map[string]any{"status": []any{"SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"}},
		},
	})
	for _, r := range tpl.all("AWS::Events::Rule") {
		detail := r.Properties["EventPattern"].(map[string]any)["detail"].(map[string]any)
		prefix := infratest.Text(detail["executionArn"].([]any)[0].(map[string]any)["prefix"])
		if want := "arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:shop_"; prefix != want {
			t.Errorf("rule matches %q: want %q", prefix, want)
		}
		target := r.Properties["Targets"].([]any)[0].(map[string]any)
		if !strings.Contains(infratest.Text(target["Arn"]), "Settler") || target["DeadLetterConfig"] == nil {
			t.Errorf("rule's target is %v: want the settler, with dead letters", target)
		}
	}
	tpl.has(t, "AWS::Lambda::Permission", map[string]any{"Action": "lambda:InvokeFunction", "Principal": "events.amazonaws.com"})
}

func TestDeadLettersAreKeptAndSentOverTLS(t *testing.T) {
	tpl := synth(t).main
	tpl.has(t, "AWS::SQS::Queue", map[string]any{"MessageRetentionPeriod": 1209600})
	var policy string
	for _, r := range tpl.all("AWS::SQS::QueuePolicy") {
		policy += infratest.Text(r.Properties["PolicyDocument"])
	}
	if !strings.Contains(policy, `"aws:SecureTransport":"false"`) || !strings.Contains(policy, "events.amazonaws.com") {
		t.Errorf("queue policy %s: want TLS only, and EventBridge's rule allowed", policy)
	}
}
