package cronfence_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// many is an app with n jobs on one scheduler, spread over stacks; the first stack holds the
// scheduler too.
func many(dir string, n, stacks int) (awscdk.App, []awscdk.Stack) {
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: &dir})
	var all []awscdk.Stack
	for i := range stacks {
		all = append(all, awscdk.NewStack(app, jsii.String(fmt.Sprintf("Jobs%d", i+1)), nil))
	}
	s := cronfence.NewScheduler(all[0], "Scheduler", &cronfence.SchedulerProps{Name: "big", Build: cronfence.BuildPlaceholder})
	fn := function(all[0], "Work", time.Minute)
	for i := range n {
		cronfence.NewJob(all[i*stacks/n], fmt.Sprintf("job-%03d", i), &cronfence.JobProps{
			Scheduler: s, Schedule: schedule.Every(15 * time.Minute), Target: cronfence.LambdaTarget(fn),
		})
	}
	return app, all
}

func TestTwoHundredJobsFitThreeStacks(t *testing.T) {
	infratest.RequireNode(t)
	dir := t.TempDir()
	app, stacks := many(dir, 200, 3)
	app.Synth(nil)
	jobs := 0
	for i, stack := range stacks {
		tpl := load(filepath.Join(dir, *stack.TemplateFile())) // the CDK's assertions take three times as long as the synth
		here := len(tpl.all("AWS::StepFunctions::StateMachine"))
		jobs += here
		rest := len(tpl.Resources) - 6*here
		// A stack's own run role and policy; the first has the scheduler and a function too.
		want := map[bool]int{true: 43, false: 2}[i == 0]
		if rest != want {
			t.Errorf("%s: %d resources besides %d jobs: want 6 a job and %d", *stack.StackName(), rest, here, want)
		}
		if fits := (500 - rest) / 6; fits < 75 {
			t.Errorf("%s: %d jobs would fit: want 75", *stack.StackName(), fits)
		}
	}
	if jobs != 200 {
		t.Errorf("%d jobs: want 200", jobs)
	}
}

func TestStackThatIsFullIsRefusedWithAdvice(t *testing.T) {
	infratest.RequireNode(t)
	defer func() {
		text := fmt.Sprint(recover())
		for _, want := range []string{"[Jobs1]", "505 resources", "more stacks with NewJob", "SharedAlarms"} {
			if !strings.Contains(text, want) {
				t.Errorf("synth of 77 jobs in one stack: %s\nwant %q in it", text, want)
			}
		}
	}()
	app, _ := many(t.TempDir(), 77, 1)
	app.Synth(nil)
}

// The CDK counts resources, and no bytes.
func TestTemplateThatIsTooLongIsRefusedWithAdvice(t *testing.T) {
	infratest.RequireNode(t)
	app, stacks := many(t.TempDir(), 0, 1)
	s := cronfence.SchedulerFromAttributes(stacks[0], "Other", attributes())
	target := cronfence.LambdaTarget(function(stacks[0], "Own", time.Minute))
	for i := range 5 {
		s.AddJob(fmt.Sprintf("job-%d", i), &cronfence.JobProps{Schedule: schedule.Every(time.Hour), Target: target, Payload: strings.Repeat("x", 200_000)})
	}
	defer func() {
		text := fmt.Sprint(recover())
		for _, want := range []string{"[Jobs1]", "a template of about 10", "takes 1000000", "more stacks with NewJob", `"@aws-cdk/core:suppressTemplateIndentation": true`} {
			if !strings.Contains(text, want) {
				t.Errorf("synth of 5 jobs with a payload of 200,000 bytes each: %s\nwant %q in it", text, want)
			}
		}
	}()
	app.Synth(nil)
}

func TestResourcesOfNestedStacksAreNotCounted(t *testing.T) {
	infratest.RequireNode(t)
	app, stacks := many(t.TempDir(), 60, 1)
	nested := awscdk.NewNestedStack(stacks[0], jsii.String("Nested"), nil)
	for i := range 120 {
		awscdk.NewCfnWaitConditionHandle(nested, jsii.String(fmt.Sprintf("Filler%d", i)), nil)
	}
	app.Synth(nil) // panics if it is refused
}

// BenchmarkSynth200Jobs is the time that a user waits for 200 jobs over three stacks, start
// of the CDK and build of the functions apart.
func BenchmarkSynth200Jobs(b *testing.B) {
	many(b.TempDir(), 1, 1)
	for b.Loop() {
		app, _ := many(b.TempDir(), 200, 3)
		app.Synth(nil)
	}
}
