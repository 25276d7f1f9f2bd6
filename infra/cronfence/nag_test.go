package cronfence_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// What cdk-nag's AwsSolutions pack finds in the constructs, and why it stays. Users who run
// the pack over their own app may repeat these.
var findings = []nagFinding{
	{
		`DeadLetters`, `SQS3`,
		"It is the dead-letter queue itself.",
	},
	{
		`Jobs/[\w-]+/Machine`, `SF1`,
		"ALL would log every event of every run beside its history, which is kept for 90 days; what was decided is in the functions' logs.",
	},
	{
		`Jobs/[\w-]+/Machine`, `SF2`,
		"Tracing is for requests that people wait for; a user turns it on at Job.StateMachine where it helps.",
	},
	{
		`(Dispatcher|Settler|Sentinel|Operator)\w*/DefaultPolicy`, `IAM5[Resource::STATES:stateMachine:shop_*]`,
		"All machines of this scheduler, by a prefix no other scheduler's has: by their ARNs the scheduler's stack would depend on the jobs' stacks, which depend on it.",
	},
	{
		`(Dispatcher|Settler|Sentinel|Operator|Reader)\w*/DefaultPolicy`, `IAM5[Resource::STATES:execution:shop_*:*]`,
		"Their executions, whose names are made when they start.",
	},
	{
		`(Sentinel|Operator|Reader)\w*/DefaultPolicy`, `IAM5[Resource::SCHEDULER:schedule/*/*]`,
		"ListSchedules is checked against every schedule even when it asks for one group.",
	},
	{
		`(Sentinel|Operator|Reader)\w*/DefaultPolicy`, `IAM5[Resource::SCHEDULER:schedule/cronfence-shop/*]`,
		"All schedules of this scheduler's group.",
	},
	{
		`(Operator|Reader)/DefaultPolicy`, `IAM5[Resource::SCHEDULER:schedule-group/*]`,
		"ListScheduleGroups has no narrower resource.",
	},
	{
		runRole, `IAM5[Resource::AWS:ecs:task-definition/FAMILY:*]`,
		"Every revision of the job's own task definition: a run under way may have started with the one before.",
	},
	{
		runRole, `IAM5[Resource::AWS:ecs:task/<CLUSTER>/*]`,
		"Stopping a task, whose id is made when it starts, of the job's own cluster.",
	},
	{
		runRole, `IAM5[Resource::AWS:batch:job-definition/NAME:*]`,
		"Every revision of the job's own job definition.",
	},
	{
		runRole, `IAM5[Resource::AWS:batch:job/*]`,
		"Terminating a job, whose id is made when it is submitted: Batch knows no narrower resource.",
	},
	{
		runRole, `IAM5[Resource::*]`,
		"batch:DescribeJobs, for which AWS knows no resource.",
	},
	{
		runRole, `IAM5[Resource::STATES:execution:NAME:*]`,
		"Executions of the job's own state machine, whose names are made when they start.",
	},
	{
		runRole, `IAM5[Resource::<FUNCTION.Arn>:*]`,
		"Versions and aliases of a function that a user's chain invokes: the CDK's own grant.",
	},
}

const runRole = `CronfenceRunRole-shop/DefaultPolicy`

var arns = strings.NewReplacer(
	"arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>", "STATES",
	"arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>", "SCHEDULER",
	"arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>", "AWS:ecs",
	"arn:<AWS::Partition>:batch:<AWS::Region>:<AWS::AccountId>", "AWS:batch",
)

// ids are what the CDK makes up, and what stands for it in findings.
var ids = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`task-definition/\w+`), "task-definition/FAMILY"},
	{regexp.MustCompile(`<Cluster\w+>`), "<CLUSTER>"},
	{regexp.MustCompile(`<Work\w+\.Arn>`), "<FUNCTION.Arn>"},
	{regexp.MustCompile(`\{"Fn::.*\}`), "NAME"},
}

func TestCDKNagFindsNothingWithoutAReason(t *testing.T) {
	infratest.RequireNode(t)
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir())})
	stack := awscdk.NewStack(app, jsii.String("Nag"), nil)
	s := cronfence.NewScheduler(stack, "Scheduler", &cronfence.SchedulerProps{
		Name: "shop", Build: cronfence.BuildPlaceholder,
		EncryptionKey: awskms.NewKey(stack, jsii.String("Table key"), &awskms.KeyProps{EnableKeyRotation: jsii.Bool(true)}),
	})
	w := newWorld(stack)
	s.AddJob("cleanup", &cronfence.JobProps{Schedule: schedule.Every(time.Minute), Target: cronfence.LambdaTarget(w.fn)}).GrantFence(w.fn)
	w.addTargets(s)
	for name, grant := range map[string]func(awsiam.IGrantable) awsiam.Grant{"Reader": s.GrantRead, "Operator": s.GrantOperate} {
		grant(awsiam.NewRole(stack, &name, &awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()}))
	}
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{}), nil)

	met := make([]bool, len(findings))
	for _, found := range nagged(stack) {
		if usersOwn.MatchString(found.resource) {
			continue
		}
		i := slices.IndexFunc(findings, func(f nagFinding) bool {
			return f.rule == found.rule && regexp.MustCompile("^/Nag/(Scheduler/)?"+f.resource+"/Resource$").MatchString(found.resource)
		})
		if i < 0 {
			t.Errorf("%s: %s", found.resource, found.rule)
			continue
		}
		met[i] = true
	}
	for i, f := range findings {
		if !met[i] {
			t.Errorf("cdk-nag finds no %s in %s any more: remove it", f.rule, f.resource)
		}
	}
}

// usersOwn are what the jobs' targets run in, which users make themselves.
var usersOwn = regexp.MustCompile("^/Nag/(Net|Cluster|Task|Public|Group|OnInstances|Definition|Container|Queue|Capacity|Nested|Work queue|Plain queue|Key)/")

// nagFinding is a rule that a resource breaks, and for the known ones why it may.
type nagFinding struct{ resource, rule, reason string }

// nagged lists errors and warnings, the rule without the pack's name.
func nagged(stack awscdk.Stack) []nagFinding {
	notes := assertions.Annotations_FromStack(stack)
	all := *notes.FindError(jsii.String("*"), assertions.Match_AnyValue())
	all = append(all, *notes.FindWarning(jsii.String("*"), assertions.Match_AnyValue())...)
	var found []nagFinding
	for _, m := range all {
		rule, isNag := strings.CutPrefix(fmt.Sprint(m.Entry.Data), "AwsSolutions-") //nolint:staticcheck // the assertions have no newer type
		if !isNag {
			continue
		}
		rule, _, _ = strings.Cut(rule, ": ")
		rule = arns.Replace(rule)
		for _, id := range ids {
			rule = id.pattern.ReplaceAllLiteralString(rule, id.name)
		}
		found = append(found, nagFinding{resource: *m.Id, rule: rule}) //nolint:staticcheck // as above
	}
	return found
}
