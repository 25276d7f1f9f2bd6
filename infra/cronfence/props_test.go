package cronfence_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/policy"
	"github.com/cronfence/cronfence/pkg/schedule"
)

func newStack(t *testing.T) awscdk.Stack {
	t.Helper()
	infratest.RequireNode(t)
	return awscdk.NewStack(awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir())}), jsii.String("Main"), nil)
}

func newScheduler(stack awscdk.Stack) *cronfence.Scheduler {
	return cronfence.NewScheduler(stack, "Scheduler", &cronfence.SchedulerProps{Name: "shop", Build: cronfence.BuildPlaceholder})
}

// Each wrong value is refused with the construct's path, the value got and what is allowed.
func TestWrongJobProps(t *testing.T) {
	stack := newStack(t)
	s := newScheduler(stack)
	fn := function(stack, "Work", 5*time.Minute)
	s.AddJob("taken", &cronfence.JobProps{Schedule: schedule.Every(time.Hour), Target: cronfence.LambdaTarget(fn)})
	type props = cronfence.JobProps
	for name, c := range map[string]struct {
		change       func(*props)
		got, allowed string
	}{
		"name with slash":         {func(p *props) { p.Name = "billing/daily" }, `"billing/daily"`, "must match"},
		"name with blank":         {func(p *props) { p.Name = "daily bill" }, `"daily bill"`, "must match"},
		"name with dot":           {func(p *props) { p.Name = "a.b" }, `"a.b"`, "must match"},
		"name too long":           {func(p *props) { p.Name = strings.Repeat("j", 49) }, "jjjj", "{0,47}"},
		"name of another job":     {func(p *props) { p.Name = "taken" }, `"taken"`, "only one"},
		"no schedule":             {func(p *props) { p.Schedule = schedule.Schedule{} }, "none given", "schedule.Daily"},
		"wrong schedule":          {func(p *props) { p.Schedule = schedule.Every(-time.Minute) }, "-1m0s", ""},
		"unknown zone":            {func(p *props) { p.Schedule = schedule.Daily(2, 0, "Europe/Atlantis") }, "Europe/Atlantis", ""},
		"no target":               {func(p *props) { p.Target = nil }, "none given", "LambdaTarget"},
		"target without function": {func(p *props) { p.Target = cronfence.LambdaTarget(nil) }, "none given", "LambdaTarget"},
		"unknown overlap":         {func(p *props) { p.Overlap = policy.Overlap(77) }, "77", ""},
		"fenced beside itself":    {func(p *props) { p.Overlap, p.Fenced = policy.Allow, true }, `"allow"`, "must be another"},
		"negative lease":          {func(p *props) { p.Lease = -time.Minute }, "-1m0s", "0 for 2m0s"},
		"lease with fraction":     {func(p *props) { p.Lease = 120500 * time.Millisecond }, "2m0.5s", "whole seconds"},
		"lease too short":         {func(p *props) { p.Lease = time.Minute }, "lease 1m0s", "at least 1m55s"},
		"lease for the renewal":   {func(p *props) { p.Renewal = 50 * time.Second }, "lease 2m0s", "at least 2m15s"},
		"negative renewal":        {func(p *props) { p.Renewal = -time.Second }, "-1s", "0 for 30s"},
		"renewal below a second":  {func(p *props) { p.Renewal = time.Millisecond }, "1ms", "whole seconds"},
		"negative maximum":        {func(p *props) { p.MaxRun = -time.Hour }, "-1h0m0s", "0 for 5m0s"},
		"maximum over a year":     {func(p *props) { p.MaxRun = 366 * 24 * time.Hour }, "8784h0m0s", "up to 8760h0m0s"},
		"maximum below function":  {func(p *props) { p.MaxRun = 4 * time.Minute }, "4m0s", "at least the function's own timeout of 5m0s"},
		"start deadline short":    {func(p *props) { p.StartDeadline = 59 * time.Second }, "59s", "at least 1m0s"},
		"start deadline negative": {func(p *props) { p.StartDeadline = -time.Minute }, "-1m0s", "0 for 15m0s"},
		"history too long":        {func(p *props) { p.MaxRun = 48 * time.Hour }, "renewal 30s", "a renewal of 1m1s or more"},
		"payload no JSON":         {func(p *props) { p.Payload = math.NaN() }, "NaN", "encoding/json"},
		"payload a function":      {func(p *props) { p.Payload = func() {} }, "func()", "encoding/json"},
		"payload too long":        {func(p *props) { p.Payload = strings.Repeat("x", 300_000) }, "300002 bytes", "at most 204800"},
		"payload with a path": {
			func(p *props) { p.Payload = map[string]any{"list": []any{map[string]any{"id.$": "$.run"}}} },
			`"id.$"`, "must not end in",
		},
		"no scheduler": {func(p *props) { p.Scheduler = nil }, "none given", "NewScheduler"},
	} {
		t.Run(name, func(t *testing.T) {
			p := cronfence.JobProps{Scheduler: s, Schedule: schedule.Every(time.Minute), Target: cronfence.LambdaTarget(fn)}
			c.change(&p)
			id := "Bad-" + strings.ReplaceAll(name, " ", "-")
			err := propsError(t, func() { cronfence.NewJob(stack, id, &p) })
			if err.Path != "Main/"+id || len(err.Problems) != 1 {
				t.Errorf("path %q, problems %q: want Main/%s and one problem", err.Path, err.Problems, id)
			}
			for _, want := range []string{"Main/" + id, c.got, c.allowed} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
		})
	}
	t.Run("every problem at once", func(t *testing.T) {
		if err := propsError(t, func() { s.AddJob("no props", nil) }); len(err.Problems) != 3 || err.Path != "Main/Scheduler/Jobs/no props" {
			t.Errorf("%v: want name, schedule and target", err)
		}
	})
}

func TestWrongSchedulerProps(t *testing.T) {
	stack := newStack(t)
	type props = cronfence.SchedulerProps
	for name, c := range map[string]struct {
		props        props
		got, allowed string
	}{
		"no name":              {props{}, `""`, "must match"},
		"underscore":           {props{Name: "my_shop"}, `"my_shop"`, "must match"},
		"too long":             {props{Name: strings.Repeat("s", 32)}, "ssss", "{0,30}"},
		"snapshot":             {props{Name: "shop", RemovalPolicy: awscdk.RemovalPolicy_SNAPSHOT}, `"SNAPSHOT"`, "RETAIN or DESTROY"},
		"unknown architecture": {props{Name: "shop", Architecture: "amd64"}, `"amd64"`, `"arm64" or "x86_64"`},
		"log retention":        {props{Name: "shop", LogRetention: 48 * time.Hour}, "48h0m0s", "[1 3 5 7"},
	} {
		t.Run(name, func(t *testing.T) {
			id := "Bad-" + strings.ReplaceAll(name, " ", "-")
			err := propsError(t, func() { cronfence.NewScheduler(stack, id, &c.props) })
			for _, want := range []string{"Main/" + id, c.got, c.allowed} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
		})
	}
	t.Run("functions", func(t *testing.T) {
		err := propsError(t, func() { cronfence.NewGoFunction(stack, "Fn", &cronfence.GoFunctionProps{Package: "./x", MemoryMB: 64}) })
		if err.Path != "Main/Fn" || len(err.Problems) != 3 {
			t.Errorf("%v: want package, timeout and memory of Main/Fn", err)
		}
	})
}

func TestTimesFollowFromTheFunction(t *testing.T) {
	stack := newStack(t)
	s := newScheduler(stack)
	fn := function(stack, "Work", 5*time.Minute)
	noTimeout := awslambda.NewFunction(stack, jsii.String("Plain"), &awslambda.FunctionProps{
		Runtime: awslambda.Runtime_NODEJS_22_X(), Handler: jsii.String("index.handler"), Code: awslambda.Code_FromInline(jsii.String("//")),
	})
	for name, c := range map[string]struct {
		fn     awslambda.IFunction
		maxRun time.Duration
		drain  time.Duration
	}{
		"function": {fn, 5 * time.Minute, 5 * time.Minute},
		"version":  {fn.CurrentVersion(), 5 * time.Minute, 5 * time.Minute},
		"alias":    {awslambda.NewAlias(stack, jsii.String("Live"), &awslambda.AliasProps{AliasName: jsii.String("live"), Version: fn.CurrentVersion()}), 5 * time.Minute, 5 * time.Minute},
		"plain":    {noTimeout, 3 * time.Second, 3 * time.Second},
		// Of an imported function only Lambda's limit is known.
		"imported": {awslambda.Function_FromFunctionName(stack, jsii.String("Imported"), jsii.String("elsewhere")), 15 * time.Minute, 15 * time.Minute},
	} {
		j := s.AddJob(name, &cronfence.JobProps{Schedule: schedule.Every(time.Hour), Target: cronfence.LambdaTarget(c.fn)})
		if got := j.Spec(); got.MaxRun() != c.maxRun || got.Drain() != c.drain {
			t.Errorf("%s: maximum run time %v, drain %v: want %v, %v", name, got.MaxRun(), got.Drain(), c.maxRun, c.drain)
		}
	}
	if j := s.AddJob("fenced", &cronfence.JobProps{
		Schedule: schedule.Every(time.Hour), Target: cronfence.LambdaTarget(fn), Fenced: true, MaxRun: time.Minute,
	}); j.Spec().Drain() != 0 || j.Spec().MaxRun() != time.Minute {
		t.Errorf("a fenced job may be shorter than its function, which nobody waits for: %+v", j.Spec())
	}
}
