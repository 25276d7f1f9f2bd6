package cronfence_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/internal/telemetry"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// The constructs link no Lambda's code, so the names stand twice.
func TestMetricsAreThoseThatAreEmitted(t *testing.T) {
	if cronfence.MetricNamespace != telemetry.Namespace {
		t.Errorf("namespace %q: want %q", cronfence.MetricNamespace, telemetry.Namespace)
	}
	got := []string{
		cronfence.MetricSucceeded, cronfence.MetricFailed, cronfence.MetricSkipped, cronfence.MetricMissed, cronfence.MetricLeaseLost,
		cronfence.MetricRunTime, cronfence.MetricRatio, cronfence.MetricOverdue, cronfence.MetricStopDenied,
	}
	want := []string{
		telemetry.Succeeded, telemetry.Failed, telemetry.Skipped, telemetry.Missed, telemetry.LeaseLost,
		telemetry.RunTime, telemetry.Ratio, telemetry.Overdue, telemetry.StopDenied,
	}
	if !slices.Equal(got, want) {
		t.Errorf("metrics %v: want %v", got, want)
	}
}

func alarm(t *testing.T, tpl template, name string) map[string]any {
	t.Helper()
	return tpl.named(t, "AWS::CloudWatch::Alarm", "AlarmName", "cronfence/"+name).Properties
}

// dimensions of an alarm's metric, "Job=cleanup Scheduler=shop".
func dimensionsOf(a map[string]any) string {
	var all []string
	for _, d := range a["Dimensions"].([]any) {
		d := d.(map[string]any)
		all = append(all, d["Name"].(string)+"="+infratest.Text(d["Value"]))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestDefaultAlarmsOfAJob(t *testing.T) {
	f := synth(t)
	if !slices.Equal(slices.Sorted(slices.Values(telemetry.Dimensions)), []string{"Job", "Scheduler"}) {
		t.Errorf("metrics are published by %v: the alarms look for Job and Scheduler", telemetry.Dimensions)
	}
	type props = map[string]any
	for kind, want := range map[string]props{
		// Missing data breaches: nothing is heard of a job when everything is dead.
		"overdue": {
			"MetricName": "Overdue", "Statistic": "Maximum", "Period": 60.0, "Threshold": 0.0, "ComparisonOperator": "GreaterThanThreshold",
			"EvaluationPeriods": 5.0, "TreatMissingData": "breaching",
		},
		// A success publishes 0: the alarm ends with that, not with silence.
		"failed": {
			"MetricName": "Failed", "Statistic": "Sum", "Period": 60.0, "Threshold": 1.0, "ComparisonOperator": "GreaterThanOrEqualToThreshold",
			"EvaluationPeriods": 1.0, "DatapointsToAlarm": 1.0, "TreatMissingData": "ignore",
		},
		// One long run in the last three intervals: long runs on end are one alarm.
		"ratio": {
			"MetricName": "Ratio", "Statistic": "Maximum", "Period": 300.0, "Threshold": 0.8, "ComparisonOperator": "GreaterThanOrEqualToThreshold",
			"EvaluationPeriods": 3.0, "DatapointsToAlarm": 1.0, "TreatMissingData": "notBreaching",
		},
		"skips": {
			"MetricName": "Skipped", "Statistic": "Sum", "Period": 60.0, "Threshold": 1.0, "ComparisonOperator": "GreaterThanOrEqualToThreshold",
			"EvaluationPeriods": 3.0, "DatapointsToAlarm": 3.0, "TreatMissingData": "notBreaching",
		},
	} {
		got := alarm(t, f.main, "shop/cleanup/"+kind)
		want["Namespace"] = telemetry.Namespace
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s: %s is %v: want %v", kind, name, got[name], value)
			}
		}
		if d := dimensionsOf(got); d != "Job=cleanup Scheduler=shop" {
			t.Errorf("%s looks at %s: want the metric's own dimensions", kind, d)
		}
		topic := map[bool]string{true: "<SchedulerPageTopic", false: "<SchedulerNoticeTopic"}[kind == "overdue" || kind == "failed"]
		if a := infratest.Text(got["AlarmActions"].([]any)[0]); len(got["AlarmActions"].([]any)) != 1 || !strings.HasPrefix(a, topic) {
			t.Errorf("%s tells %v: want %s...", kind, got["AlarmActions"], topic)
		}
		for _, part := range []string{"job cleanup", "cronfence status cleanup --scheduler shop", "cronfence why cleanup TICK --scheduler shop"} {
			if text := got["AlarmDescription"].(string); !strings.Contains(text, part) {
				t.Errorf("%s says %q: want %q in it", kind, text, part)
			}
		}
	}
	// In a stack of its own a job tells the scheduler's topics all the same.
	got := alarm(t, f.more, "shop/audit/skips")
	if a := infratest.Text(got["AlarmActions"].([]any)[0]); got["Period"] != 3600.0 || !strings.HasPrefix(a, "<import Main:") {
		t.Errorf("period %v, action %s: want an hour, and the scheduler's topic", got["Period"], a)
	}
}

func TestAlarmsOfTheScheduler(t *testing.T) {
	tpl := synth(t).main
	for kind, want := range map[string]struct{ metric, operator, missing, topic string }{
		"lease-lost": {
			`SELECT SUM(LeaseLost) FROM SCHEMA(Cronfence, "Scheduler", "Job") WHERE "Scheduler" = 'shop' GROUP BY "Job"`,
			"GreaterThanOrEqualToThreshold", "notBreaching", "<SchedulerNoticeTopic",
		},
		"stop-denied":     {"Cronfence StopDenied Scheduler=shop", "GreaterThanOrEqualToThreshold", "notBreaching", "<SchedulerNoticeTopic"},
		"dead-letters":    {"AWS/SQS ApproximateNumberOfMessagesVisible QueueName=<SchedulerDeadLetters", "GreaterThanOrEqualToThreshold", "notBreaching", "<SchedulerPageTopic"},
		"silent-sentinel": {"invocations - FILL(errors, 0)", "LessThanThreshold", "breaching", "<SchedulerPageTopic"},
	} {
		a := alarm(t, tpl, "shop/"+kind)
		var metric string
		if a["Metrics"] != nil {
			metric = a["Metrics"].([]any)[0].(map[string]any)["Expression"].(string)
		} else {
			metric = a["Namespace"].(string) + " " + a["MetricName"].(string) + " " + dimensionsOf(a)
		}
		if !strings.HasPrefix(metric, want.metric) || a["ComparisonOperator"] != want.operator || a["TreatMissingData"] != want.missing || a["Threshold"] != 1.0 {
			t.Errorf("%s: %s %v 1, missing data %v: want %+v", kind, metric, a["ComparisonOperator"], a["TreatMissingData"], want)
		}
		if got := infratest.Text(a["AlarmActions"].([]any)[0]); !strings.HasPrefix(got, want.topic) {
			t.Errorf("%s tells %s: want %s...", kind, got, want.topic)
		}
	}
	sentinel := alarm(t, tpl, "shop/silent-sentinel")["Metrics"].([]any)
	for _, m := range sentinel[1:] {
		stat := m.(map[string]any)["MetricStat"].(map[string]any)["Metric"].(map[string]any)
		if d := dimensionsOf(stat); !strings.HasPrefix(d, "FunctionName=<SchedulerSentinel") || stat["Namespace"] != "AWS/Lambda" {
			t.Errorf("silence is measured on %v of %v", d, stat["Namespace"])
		}
	}
}

func TestSentinelAloneIsToldOfTheNoticeTopic(t *testing.T) {
	tpl := synth(t).main
	for id, r := range tpl.all("AWS::Lambda::Function") {
		environment, _ := r.Properties["Environment"].(map[string]any)
		variables, _ := environment["Variables"].(map[string]any)
		topic := infratest.Text(variables[schema.EnvNoticeTopic])
		if want := strings.Contains(id, "Sentinel"); want != strings.HasPrefix(topic, "<SchedulerNoticeTopic") {
			t.Errorf("%s: topic %s: its weekly message is the sentinel's, to the notice topic", id, topic)
		}
	}
}

// Requiring TLS replaces SNS's own policy of a topic: without these the alarms could not
// publish.
func TestAlarmsMayPublishAndNobodyWithoutTLS(t *testing.T) {
	tpl := synth(t).main
	policies := tpl.all("AWS::SNS::TopicPolicy")
	if len(policies) != 2 {
		t.Fatalf("%d topic policies: want those of pages and notices", len(policies))
	}
	for _, id := range slices.Sorted(maps.Keys(policies)) {
		statements := policies[id].Properties["PolicyDocument"].(map[string]any)["Statement"].([]any)
		var got []string
		for _, s := range statements {
			s := s.(map[string]any)
			got = append(got, infratest.Text(s["Effect"])+" "+infratest.Text(s["Action"])+" "+infratest.Text(s["Principal"])+" "+text(s["Condition"]))
		}
		slices.Sort(got)
		want := []string{
			`Allow sns:Publish {"Service":"cloudwatch.amazonaws.com"} ArnLike aws:SourceArn arn:<AWS::Partition>:cloudwatch:<AWS::Region>:<AWS::AccountId>:alarm:cronfence/shop/* StringEquals aws:SourceAccount <AWS::AccountId>`,
			`Deny sns:Publish * Bool aws:SecureTransport false`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", id, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
}

// text writes conditions in order: operator, key, value.
func text(conditions any) string {
	var parts []string
	byOperator := conditions.(map[string]any)
	for _, operator := range slices.Sorted(maps.Keys(byOperator)) {
		byKey := byOperator[operator].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(byKey)) {
			parts = append(parts, operator, key, infratest.Text(byKey[key]))
		}
	}
	return strings.Join(parts, " ")
}

func TestDashboardShowsEveryJob(t *testing.T) {
	f := synth(t)
	boards := f.main.all("AWS::CloudWatch::Dashboard")
	if len(boards) != 1 || len(f.more.all("AWS::CloudWatch::Dashboard")) != 0 {
		t.Fatalf("%d dashboards: want one, in the scheduler's stack", len(boards))
	}
	for _, r := range boards {
		if name := infratest.Text(r.Properties["DashboardName"]); name != "cronfence-shop-<AWS::Region>" {
			t.Errorf("name %q: dashboards are not a Region's: want it in the name", name)
		}
		body := infratest.Text(r.Properties["DashboardBody"])
		for _, metric := range []string{"Succeeded", "Failed", "Skipped", "Missed", "Ratio", "Overdue", "LeaseLost"} {
			search := `SEARCH('{Cronfence,Scheduler,Job} Scheduler=\"shop\" MetricName=\"` + metric + `\"'`
			if !strings.Contains(body, search) {
				t.Errorf("dashboard does not search for %s", metric)
			}
		}
		// Jobs of other stacks have their graphs too.
		for _, job := range []string{"cleanup", "sync", "beside", "audit"} {
			if !strings.Contains(body, `"`+job+`: run time, in seconds"`) || !strings.Contains(body, `"RunTime","Job","`+job+`","Scheduler","shop"`) {
				t.Errorf("dashboard has no run time of %s", job)
			}
		}
		if !strings.Contains(body, `{"label":"interval","value":900,"yAxis":"left"}`) || !strings.Contains(body, "StopDenied") {
			t.Error("dashboard lacks the interval of sync, or denied stops")
		}
	}
}

func TestLongestNamesFitCloudWatch(t *testing.T) {
	scheduler, job := strings.Repeat("s", 31), strings.Repeat("j", 48)
	for _, name := range []string{"cronfence/" + scheduler + "/" + job + "/overdue", "cronfence-" + scheduler + "-ap-southeast-4"} {
		if len(name) > 255 {
			t.Errorf("name of %d characters: CloudWatch allows 255", len(name))
		}
	}
}
