package cronfence_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// task is the job's own state as it stands in the template.
func (tpl template) task(t *testing.T, job string) map[string]any {
	t.Helper()
	text, _ := tpl.definition(t, "shop_"+job)
	var d map[string]any
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	var find func(d map[string]any) map[string]any
	find = func(d map[string]any) map[string]any {
		states := d["States"].(map[string]any)
		for _, name := range []string{"Run", "Cronfence Chain"} {
			if run, ok := states[name].(map[string]any); ok {
				return run
			}
		}
		return find(states["Cronfence Guarded"].(map[string]any)["Branches"].([]any)[0].(map[string]any))
	}
	return find(d)
}

// at looks into nested objects and lists.
func at(v any, path ...any) any {
	for _, key := range path {
		switch k := key.(type) {
		case string:
			v = v.(map[string]any)[k]
		case int:
			v = v.([]any)[k]
		}
	}
	return v
}

const states = "arn:<AWS::Partition>:states:::"

// Containers and scripts get the run object as text, made by a state before theirs.
func TestContainersReceiveTheRunObjectAsText(t *testing.T) {
	tpl := targets(t)
	const text = "States.JsonToString($.object)"
	for _, c := range []struct {
		job, resource string
		where         []any
	}{
		{"ecs", "ecs:runTask.sync", []any{"Parameters", "Overrides", "ContainerOverrides", 0, "Environment", 0, "Value.$"}},
		{"ecs-short", "ecs:runTask.sync", []any{"Parameters", "Overrides", "ContainerOverrides", 0, "Environment", 0, "Value.$"}},
		{"ecs-instances", "ecs:runTask.sync", []any{"Parameters", "Overrides", "ContainerOverrides", 0, "Environment", 0, "Value.$"}},
		{"batch", "batch:submitJob.sync", []any{"Parameters", "ContainerOverrides", "Environment", 0, "Value.$"}},
		{"glue", "glue:startJobRun.sync", []any{"Parameters", "Arguments", "--" + schema.RunVariable + ".$"}},
	} {
		run := tpl.task(t, c.job)
		if got := at(run, c.where...); got != text || run["Resource"] != states+c.resource {
			t.Errorf("%s: %v gets %v: want %s with %s", c.job, run["Resource"], got, c.resource, text)
		}
		if run["TimeoutSeconds"] != nil {
			t.Errorf("%s: a timeout of %v ends the state and not the work: want the branch cancelled", c.job, run["TimeoutSeconds"])
		}
		raw, d := tpl.definition(t, "shop_"+c.job)
		if around := d.state(t, "Cronfence Guarded"); around.Parameters.Object["job.$"] != "$.job" {
			t.Errorf("%s: its run object is not in %v", c.job, around.Parameters)
		}
		if !strings.Contains(raw, `"payload":{"q":"a<b'&\\\"c"}`) {
			t.Errorf("%s: the payload does not stand as it was given", c.job)
		}
	}
}

func TestECSTaskRunsWhereItCan(t *testing.T) {
	tpl := targets(t)
	const overrides = "Overrides"
	own, given, instances := tpl.task(t, "ecs"), tpl.task(t, "ecs-short"), tpl.task(t, "ecs-instances")
	network := []any{"Parameters", "NetworkConfiguration", "AwsvpcConfiguration"}
	for _, c := range []struct {
		run                       map[string]any
		launch, container, public string
		group, subnet             string
	}{
		{own, "FARGATE", "app", "DISABLED", "ecsSecurityGroup", "PrivateSubnet"},
		{given, "FARGATE", "sidecar", "ENABLED", "<Group", "PublicSubnet"},
	} {
		if got := at(c.run, "Parameters", "LaunchType"); got != c.launch {
			t.Errorf("launch type %v: want %s", got, c.launch)
		}
		if got := at(c.run, "Parameters", overrides, "ContainerOverrides", 0, "Name"); got != c.container {
			t.Errorf("container %v: want %s", got, c.container)
		}
		n := at(c.run, network...)
		if at(n, "AssignPublicIp") != c.public || !strings.Contains(at(n, "SecurityGroups", 0).(string), c.group) || !strings.Contains(at(n, "Subnets", 0).(string), c.subnet) {
			t.Errorf("network %v: want public address %s, group %s, subnet %s", n, c.public, c.group, c.subnet)
		}
	}
	if at(instances, "Parameters", "LaunchType") != "EC2" || at(instances, "Parameters", "NetworkConfiguration") != nil {
		t.Errorf("%v: want instances, and their network", instances["Parameters"])
	}
}

func TestNestedMachineAndWorkerReceiveTheRunObject(t *testing.T) {
	tpl := targets(t)
	nested := tpl.task(t, "nested")
	got := decode[schema.RunObject](t, fill(t, at(nested, "Parameters", "Input").(map[string]any), runInput, nil))
	if got.RunInput != runInput || nested["Resource"] != states+"states:startExecution.sync:2" || at(nested, "Parameters", "Name.$") != "$.run" {
		t.Errorf("%v of %v gets %+v", nested["Resource"], at(nested, "Parameters", "Name.$"), got)
	}
	token := map[string]any{"Task": map[string]any{"Token": "AAAA"}}
	for _, job := range []string{"token", "token-plain"} {
		run := tpl.task(t, job)
		message := decode[schema.TokenMessage](t, fill(t, at(run, "Parameters", "MessageBody").(map[string]any), runInput, token))
		if message.RunInput != runInput || message.TaskToken != "AAAA" || run["Resource"] != states+"sqs:sendMessage.waitForTaskToken" {
			t.Errorf("%s: %v sends %+v", job, run["Resource"], message)
		}
	}
	fifo, plain := tpl.task(t, "token"), tpl.task(t, "token-plain")
	if at(fifo, "Parameters", "MessageGroupId") != "token" || at(fifo, "Parameters", "MessageDeduplicationId.$") != "$.run" || fifo["HeartbeatSeconds"] != 60.0 {
		t.Errorf("FIFO: %v", fifo)
	}
	if at(plain, "Parameters", "MessageGroupId") != nil || plain["HeartbeatSeconds"] != nil || plain["TimeoutSeconds"] != 40.0 {
		t.Errorf("plain queue: %v", plain)
	}
}

func TestChainReceivesTheRunObject(t *testing.T) {
	tpl := targets(t)
	run := tpl.task(t, "chain")
	got := decode[schema.RunObject](t, fill(t, at(run, "Parameters").(map[string]any), runInput, nil))
	if got.RunInput != runInput || run["Type"] != "Parallel" || len(run["Branches"].([]any)) != 1 {
		t.Errorf("%s of %d branches gets %+v: want a Parallel of one", run["Type"], len(run["Branches"].([]any)), got)
	}
	// To the letter: a null that crosses to Go and back is lost.
	if call := at(run, "Branches", 0, "States", "Call").(map[string]any); len(call["Retry"].([]any)) == 0 || !has(call, "ResultPath") || call["ResultPath"] != nil {
		t.Errorf("the chain's call is %v: want its retries and its ResultPath of null", call)
	}
}

func has(m map[string]any, key string) bool {
	_, ok := m[key]
	return ok
}

// Nothing bounds work that no timeout stops but the branch beside it.
func TestWorkThatOnlyCancellingStopsIsBoundedByItsBranch(t *testing.T) {
	tpl := targets(t)
	for job, bounded := range map[string]string{
		"ecs": "Cronfence Heartbeat", "batch": "Cronfence Heartbeat", "glue": "Cronfence Heartbeat", "nested": "Cronfence Heartbeat",
		"chain": "Cronfence Heartbeat", "chain-short": "Cronfence Out Of Time", "ecs-short": "Cronfence Out Of Time",
	} {
		_, d := tpl.definition(t, "shop_"+job)
		if d.StartAt != "Cronfence Guarded" {
			t.Errorf("%s starts at %q: want a branch beside the work", job, d.StartAt)
		}
		if s := d.state(t, bounded); bounded == "Cronfence Out Of Time" && (s.Error != schema.ErrorMaxRunTime || d.state(t, "Cronfence Wait").Seconds != 40) {
			t.Errorf("%s: out of time is %+v after %v s", job, s, d.state(t, "Cronfence Wait").Seconds)
		}
		if !strings.HasPrefix(job, "chain") { // whose choices it does not read
			checkReachable(t, job, d)
		}
	}
}

func TestTargetsSayHowTheyEnd(t *testing.T) {
	tpl := targets(t)
	for job, want := range map[string]struct {
		drain int64
		chain bool
	}{
		"ecs": {150, true}, "ecs-short": {60, true}, "batch": {60, true}, "glue": {300, true}, "nested": {900, true},
		"chain": {60, true}, "chain-short": {900, true}, "token": {60, false}, "token-plain": {40, false},
	} {
		r := tpl.named(t, "AWS::Scheduler::Schedule", "Name", job+".shop")
		ev := decode[schema.TickEvent](t, []byte(infratest.Text(r.Properties["Target"].(map[string]any)["Input"])))
		if ev.Spec.DrainSeconds != want.drain || ev.Spec.Chain != want.chain {
			t.Errorf("%s: drains %d s, chain %v: want %d, %v", job, ev.Spec.DrainSeconds, ev.Spec.Chain, want.drain, want.chain)
		}
	}
}

func TestTargetsBringWhatStoppingThemNeeds(t *testing.T) {
	tpl := targets(t)
	got := tpl.grants(t, "CronfenceRunRoleshop")
	local := func(service, rest string) string {
		return "arn:<AWS::Partition>:" + service + ":<AWS::Region>:<AWS::AccountId>:" + rest
	}
	rule := func(name string) []string {
		on := " on " + local("events", "rule/StepFunctionsGetEventsFor"+name+"Rule")
		return []string{"events:PutTargets" + on, "events:PutRule" + on, "events:DescribeRule" + on}
	}
	cluster := "<" + tpl.id(t, "AWS::ECS::Cluster", "Cluster") + ">"
	want := slices.Concat(rule("ECSTask"), rule("BatchJobs"), rule("StepFunctionsExecution"), []string{
		"ecs:StopTask on " + local("ecs", "task/"+cluster+"/*"), "ecs:DescribeTasks on " + local("ecs", "task/"+cluster+"/*"),
		"batch:TerminateJob on " + local("batch", "job/*"), "batch:DescribeJobs on *",
		"glue:StartJobRun on " + local("glue", "job/nightly-etl"), "glue:GetJobRun on " + local("glue", "job/nightly-etl"),
		"glue:GetJobRuns on " + local("glue", "job/nightly-etl"), "glue:BatchStopJobRun on " + local("glue", "job/nightly-etl"),
	})
	for _, grant := range want {
		if !slices.Contains(got, "Allow "+grant) {
			t.Errorf("run role lacks %s", grant)
		}
	}
	for _, prefix := range []string{
		"ecs:RunTask on " + local("ecs", "task-definition/"), "batch:SubmitJob on ", "iam:PassRole on <TaskTaskRole", "iam:PassRole on <TaskExecutionRole",
		"states:StartExecution on <Nested", "states:StopExecution on " + local("states", "execution:"), "states:DescribeExecution on " + local("states", "execution:"),
		"sqs:SendMessage on <Workqueue", "kms:GenerateDataKey on <Key", "lambda:InvokeFunction on <Work",
	} {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, "Allow "+prefix) }) {
			t.Errorf("run role lacks %s...", prefix)
		}
	}
	for _, g := range got {
		if strings.HasSuffix(g, " on *") && g != "Allow batch:DescribeJobs on *" { // AWS knows no narrower one
			t.Errorf("run role: %s", g)
		}
	}
}
