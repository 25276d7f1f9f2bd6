package cronfence_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/policy"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// fixture is one app with a scheduler and jobs of every shape, in two stacks.
type fixture struct {
	main, more template
}

type template struct {
	file      string
	assert    assertions.Template
	Resources map[string]resource
}

type resource struct {
	Type                string
	Properties          map[string]any
	DependsOn           []string
	DeletionPolicy      string
	UpdateReplacePolicy string
	Metadata            map[string]any
}

var start = time.Date(2026, time.September, 7, 0, 0, 0, 0, time.UTC)

// synthesized makes the fixture once for all tests: each start of the CDK takes seconds.
var synthesized = sync.OnceValue(func() fixture {
	dir := filepath.Join(scratch, "cdk.out")
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: &dir})
	main := awscdk.NewStack(app, jsii.String("Main"), nil)
	s := cronfence.NewScheduler(main, "Scheduler", &cronfence.SchedulerProps{Name: "shop", Build: cronfence.BuildPlaceholder})
	long, short := function(main, "Long", 5*time.Minute), function(main, "Short", 45*time.Second)
	s.AddJob("cleanup", &cronfence.JobProps{
		Schedule: schedule.Every(time.Minute), Target: cronfence.LambdaTarget(long),
		Payload: map[string]any{"q": "a<b&c", "none": nil, "big": json.Number("9007199254740993")},
	})
	s.AddJob("sync", &cronfence.JobProps{Schedule: schedule.Every(15 * time.Minute), Target: cronfence.LambdaTarget(short)})
	s.AddJob("beside", &cronfence.JobProps{
		Schedule: schedule.Every(7 * time.Minute), Target: cronfence.LambdaTarget(long), Overlap: policy.Allow,
	})
	more := awscdk.NewStack(app, jsii.String("More"), nil)
	cronfence.NewJob(more, "Audit", &cronfence.JobProps{
		Scheduler: s, Name: "audit", Target: cronfence.LambdaTarget(function(more, "Audited", time.Minute)),
		Schedule: must(schedule.Parse("cron(0 9-17 ? * MON-FRI *)", schedule.In("Europe/Berlin"),
			schedule.Starting(start), schedule.Ending(start.AddDate(1, 0, 0)))),
		Fenced: true, MaxRun: 30 * time.Second, Lease: 5 * time.Minute, StartDeadline: 48 * time.Hour,
	})
	return fixture{main: read(dir, main), more: read(dir, more)}
})

// scratch outlives single tests, as the fixture does.
var scratch string

func TestMain(m *testing.M) {
	scratch = must(os.MkdirTemp("", "cronfence-test-"))
	code := m.Run()
	jsii.Close()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// synth returns the fixture; it skips the test where nothing can be synthesized.
func synth(t *testing.T) fixture {
	t.Helper()
	infratest.RequireNode(t)
	return synthesized()
}

func read(dir string, stack awscdk.Stack) template {
	t := template{assert: assertions.Template_FromStack(stack, nil), file: filepath.Join(dir, *stack.TemplateFile())}
	b, err := os.ReadFile(t.file)
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err != nil {
		panic(err)
	}
	return t
}

func function(scope constructs.Construct, id string, timeout time.Duration) awslambda.Function {
	return cronfence.NewGoFunction(scope, id, &cronfence.GoFunctionProps{
		Package: "example.com/app/" + id, Timeout: timeout, Build: cronfence.BuildPlaceholder,
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// has checks that the template has a resource with these properties and maybe others.
func (tpl template) has(t *testing.T, kind string, props map[string]any) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%v", r)
		}
	}()
	tpl.assert.HasResourceProperties(&kind, props)
}

// all returns the resources of a type.
func (tpl template) all(kind string) map[string]resource {
	found := map[string]resource{}
	for id, r := range tpl.Resources {
		if r.Type == kind {
			found[id] = r
		}
	}
	return found
}

// named returns the resource of a type whose property is the value.
func (tpl template) named(t *testing.T, kind, property, value string) resource {
	t.Helper()
	for _, r := range tpl.all(kind) {
		if r.Properties[property] == value {
			return r
		}
	}
	t.Fatalf("template has no %s with %s %q", kind, property, value)
	return resource{}
}

// propsError runs f, which must panic with a PropsError.
func propsError(t *testing.T, f func()) (failure *cronfence.PropsError) {
	t.Helper()
	defer func() {
		r := recover()
		if err, ok := r.(error); !ok || !errors.As(err, &failure) {
			t.Fatalf("want a PropsError, got %s", fmt.Sprint(r))
		}
	}()
	f()
	return nil
}
