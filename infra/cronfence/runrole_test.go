package cronfence

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/internal/infratest"
)

// crowd is an app with a stack that has another app's scheduler and its run role, to be given
// what many jobs need.
type crowd struct {
	app       awscdk.App
	stack     awscdk.Stack
	scheduler *Scheduler
	role      *runRole
}

func newCrowd(t *testing.T, context map[string]any) crowd {
	t.Helper()
	infratest.RequireNode(t)
	app := awscdk.NewApp(&awscdk.AppProps{
		Outdir: jsii.String(t.TempDir()), Context: &context,
	})
	stack := awscdk.NewStack(app, jsii.String("Jobs"), nil)
	arn := "arn:aws:lambda:eu-central-1:111122223333:function:f"
	s := SchedulerFromAttributes(stack, "Scheduler", &SchedulerAttributes{
		Name: "shop", TableARN: arn, DispatcherARN: arn, HeartbeatARN: arn, SettlerARN: arn, DeadLettersARN: arn,
		ScheduleRoleARN: "arn:aws:iam::111122223333:role/r", PageTopicARN: arn, NoticeTopicARN: arn,
	})
	return crowd{app, stack, s, s.runRole(stack)}
}

// named is a name of the longest that a service allows.
func named(i, length int) string {
	name := fmt.Sprintf("job-%03d-", i)
	return name + strings.Repeat("x", length-len(name))
}

func (c crowd) lambdas(n int) {
	for i := range n {
		arn := "arn:aws-us-gov:lambda:us-gov-west-1:111122223333:function:" + named(i, 64)
		fn := awslambda.Function_FromFunctionArn(c.stack, jsii.Sprintf("Function%d", i), &arn)
		c.role.grant(LambdaTarget(fn).grants(c.stack))
	}
}

func (c crowd) tasks(n int) {
	net := awscdk.NewStack(c.app, jsii.String("Net"), nil)
	cluster := awsecs.NewCluster(net, jsii.String("Cluster"), &awsecs.ClusterProps{
		Vpc: awsec2.NewVpc(net, jsii.String("Net"), &awsec2.VpcProps{MaxAzs: jsii.Number(1)}),
	})
	for i := range n {
		task := awsecs.NewFargateTaskDefinition(net, jsii.Sprintf("Task%d", i), &awsecs.FargateTaskDefinitionProps{Family: jsii.String(named(i, 255))})
		task.ObtainExecutionRole()
		c.role.grant(ECSTarget(&ECSTargetProps{Cluster: cluster, TaskDefinition: task}).grants(c.stack))
	}
}

func (c crowd) batches(n int) {
	queue := awsbatch.JobQueue_FromJobQueueArn(c.stack, jsii.String("Queue"), jsii.String("arn:aws:batch:eu-central-1:111122223333:job-queue/"+named(0, 128)))
	for i := range n {
		arn := "arn:aws:batch:eu-central-1:111122223333:job-definition/" + named(i, 128) + ":1"
		definition := awsbatch.EcsJobDefinition_FromJobDefinitionArn(c.stack, jsii.Sprintf("Definition%d", i), &arn)
		c.role.grant(BatchTarget(&BatchTargetProps{JobDefinition: definition, JobQueue: queue}).grants(c.stack))
	}
}

// deployed puts the longest values in the place of references.
func deployed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if join, ok := v["Fn::Join"].([]any); ok {
			var b strings.Builder
			for _, part := range join[1].([]any) {
				b.WriteString(deployed(part).(string))
			}
			return b.String()
		}
		if n, ok := referenceSize(v); ok {
			return strings.Repeat("r", n)
		}
		out := map[string]any{}
		for key, value := range v {
			out[key] = deployed(value)
		}
		return out
	case []any:
		out := []any{}
		for _, each := range v {
			out = append(out, deployed(each))
		}
		return out
	}
	return v
}

// policies are the run role's documents as they are deployed, inline ones and managed ones.
func (c crowd) policies(t *testing.T) (inline, managed []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(*c.app.Synth(nil).Directory(), "Jobs.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tpl struct {
		Resources map[string]struct {
			Type       string
			Properties map[string]any
		}
	}
	if err := json.Unmarshal(b, &tpl); err != nil {
		t.Fatal(err)
	}
	for _, r := range tpl.Resources {
		text, err := json.Marshal(deployed(r.Properties["PolicyDocument"]))
		if err != nil {
			t.Fatal(err)
		}
		switch r.Type {
		case "AWS::IAM::Policy":
			inline = append(inline, string(text))
		case "AWS::IAM::ManagedPolicy":
			managed = append(managed, string(text))
		}
	}
	return inline, managed
}

// As many jobs as fit a stack, with the longest names: the CDK alone would have put the
// functions into one managed policy of 27,000 characters, which only IAM refuses.
func TestPermissionsOfAFullStackFitIAM(t *testing.T) {
	for name, c := range map[string]struct {
		add      func(c crowd)
		resource string
		minimize bool
		want     int
	}{
		"functions":                {func(c crowd) { c.lambdas(230) }, "function:job-", false, 230},
		"functions, CDK's merging": {func(c crowd) { c.lambdas(230) }, "function:job-", true, 230},
		"ECS":                      {func(c crowd) { c.tasks(65) }, "task-definition/job-", false, 65},
		"Batch":                    {func(c crowd) { c.batches(75) }, "job-definition/job-", true, 150},
	} {
		t.Run(name, func(t *testing.T) {
			crowd := newCrowd(t, map[string]any{"@aws-cdk/aws-iam:minimizePolicies": c.minimize})
			c.add(crowd)
			inline, managed := crowd.policies(t)
			if len(inline) != 1 || len(inline[0]) > 10_240 || len(managed) > 10 || len(managed) == 0 {
				t.Errorf("%d inline policies, the first of %d characters, and %d managed ones", len(inline), len(inline[0]), len(managed))
			}
			all := strings.Join(inline, "")
			for _, text := range managed {
				all += text
				if len(text) > 6_144 {
					t.Errorf("managed policy of %d characters", len(text))
				}
			}
			if got := strings.Count(all, c.resource); got != c.want {
				t.Errorf("%s... stands %d times: want %d", c.resource, got, c.want)
			}
			if got := strings.Count(all, `"events:PutRule"`); got > 1 {
				t.Errorf("Step Functions' rule is granted %d times: want what all share once", got)
			}
		})
	}
}

func TestPermissionsThatIAMWouldRefuseAreRefusedWithAdvice(t *testing.T) {
	crowd := newCrowd(t, map[string]any{})
	crowd.batches(230)
	defer func() {
		text := fmt.Sprint(recover())
		for _, want := range []string{"Jobs/CronfenceRunRole-shop", "managed ones", "10 of 6144 each", "more stacks with NewJob"} {
			if !strings.Contains(text, want) {
				t.Errorf("synth of 230 Batch jobs in one stack: %s\nwant %q in it", text, want)
			}
		}
	}()
	crowd.app.Synth(nil)
}

func TestPolicySizeIsNotBelowTheDeployedText(t *testing.T) {
	arn := map[string]any{"Fn::Join": []any{"", []any{"arn:", map[string]any{"Ref": "AWS::Partition"}, ":ecs:", map[string]any{"Ref": "AWS::Region"}, `:"x"`}}}
	for _, v := range []any{
		"a<b", 1.5, nil,
		[]any{},
		map[string]any{},
		arn,
		map[string]any{"Action": []any{"a:B", "a:C"}, "Resource": []any{arn, map[string]any{"Fn::GetAtt": []any{"F", "Arn"}}}, "Condition": map[string]any{"Null": map[string]any{"k": "false"}}},
	} {
		text, err := json.Marshal(deployed(v))
		if err != nil {
			t.Fatal(err)
		}
		if got := policySize(v); got < len(text) || got > len(text)+8 {
			t.Errorf("%s: size %d: want %d or little more", text, got, len(text))
		}
	}
}
