package cronfence_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
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
		"name cut by a service":   {func(p *props) { p.Name = strings.Repeat("n", 64) + "-first" }, "nnnn-first", "{0,47}"},
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
		"no scheduler":             {func(p *props) { p.Scheduler = nil }, "none given", "NewScheduler"},
		"replace without a stop":   {func(p *props) { p.Overlap = policy.Replace }, `"replace"`, "unless the job is fenced"},
		"first without a queue":    {func(p *props) { p.KeepFirst = true }, `"skip"`, `"queue-one" only`},
		"grace without replace":    {func(p *props) { p.Grace = time.Minute }, "grace 1m0s", `"replace" only`},
		"negative grace":           {func(p *props) { p.Overlap, p.Fenced, p.Grace = policy.Replace, true, -1 }, "-1ns", "0 for 30s"},
		"too many retries":         {func(p *props) { p.Retries = 11 }, "retries 11", "0 to 10"},
		"negative retries":         {func(p *props) { p.Retries = -1 }, "retries -1", "0 to 10"},
		"window without retries":   {func(p *props) { p.RetryWindow = time.Hour }, "1h0m0s", "1 to 10 retries only"},
		"window with a fraction":   {func(p *props) { p.Retries, p.RetryWindow = 1, 1500*time.Millisecond }, "1.5s", "whole seconds"},
		"unknown catch-up":         {func(p *props) { p.CatchUp = policy.CatchUp(9) }, "9", "none, latest, all"},
		"catch-up of too many":     {func(p *props) { p.CatchUp, p.CatchUpMax = policy.CatchUpAll, 1001 }, "1001", "1 to 1000, or 0 for 10"},
		"maximum of one":           {func(p *props) { p.CatchUp, p.CatchUpMax = policy.CatchUpLatest, 5 }, `5 with catch-up "latest"`, `"all" only`},
		"window without catch-up":  {func(p *props) { p.CatchUpWindow = time.Hour }, "1h0m0s", `"latest" or "all" only`},
		"negative catch-up window": {func(p *props) { p.CatchUp, p.CatchUpWindow = policy.CatchUpAll, -time.Hour }, "-1h0m0s", "whole seconds"},
		"long description":         {func(p *props) { p.Description = strings.Repeat("x", 513) }, "513 characters", "at most 512"},
		"spread in seconds":        {func(p *props) { p.Spread = 90 * time.Second }, "1m30s", "whole minutes"},
		"negative spread":          {func(p *props) { p.Spread = -time.Minute }, "-1m0s", "up to 24h0m0s"},
		"spread over the interval": {func(p *props) { p.Spread = time.Minute }, "spread 1m0s", "shortest interval of 1m0s"},
		"spread over the deadline": {
			func(p *props) { p.Schedule, p.Spread = schedule.Every(time.Hour), 20*time.Minute },
			"start deadline 15m0s", "at least 21m0s",
		},
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

// What a target cannot be, or its service would refuse.
func TestWrongTargets(t *testing.T) {
	w := newWorld(newStack(t))
	s := newScheduler(w.stack)
	task, batch := w.fargate("Task", 0), w.batch()
	ecs := cronfence.ECSTargetProps{Cluster: w.cluster, TaskDefinition: task}
	queue := awssqs.NewQueue(w.stack, jsii.String("Messages"), nil)
	standard := w.nested("Standard", awsstepfunctions.StateMachineType_STANDARD)
	pass := func(id string) awsstepfunctions.Pass { return awsstepfunctions.NewPass(w.stack, &id, nil) }
	used := pass("Used")
	awsstepfunctions.NewStateGraph(used, jsii.String("other"))
	retried := awsstepfunctions.NewParallel(w.stack, jsii.String("Retried"), nil)
	retried.Branch(pass("Inner")).AddRetry(&awsstepfunctions.RetryProps{MaxAttempts: jsii.Number(5000)})
	type props = cronfence.JobProps
	for name, c := range map[string]struct {
		target       cronfence.Target
		change       func(*props)
		got, allowed string
	}{
		"cluster missing":         {cronfence.ECSTarget(&cronfence.ECSTargetProps{TaskDefinition: task}), nil, "no cluster given", "must be"},
		"task missing":            {cronfence.ECSTarget(&cronfence.ECSTargetProps{Cluster: w.cluster}), nil, "no task definition given", "must be"},
		"container unknown":       {cronfence.ECSTarget(&cronfence.ECSTargetProps{Cluster: w.cluster, TaskDefinition: task, Container: "db"}), nil, `"db"`, `["app" "sidecar"]`},
		"container missing":       {cronfence.ECSTarget(&cronfence.ECSTargetProps{Cluster: w.cluster, TaskDefinition: awsecs.NewFargateTaskDefinition(w.stack, jsii.String("Empty"), nil)}), nil, `"Main/Empty"`, "must have its containers"},
		"payload over ECS":        {cronfence.ECSTarget(&ecs), func(p *props) { p.Payload = strings.Repeat("x", 6200) }, "6206 characters", "at most 6144 fit ECS"},
		"payload over Batch":      {cronfence.BatchTarget(batch), func(p *props) { p.Payload = strings.Repeat("x", 17000) }, "17006 characters", "at most 16384 fit Batch"},
		"definition missing":      {cronfence.BatchTarget(&cronfence.BatchTargetProps{JobQueue: batch.JobQueue}), nil, "no job definition given", "must be"},
		"definition of many":      {cronfence.BatchTarget(&cronfence.BatchTargetProps{JobDefinition: awsbatch.NewMultiNodeJobDefinition(w.stack, jsii.String("Many"), nil), JobQueue: batch.JobQueue}), nil, `"Main/Many"`, "one container"},
		"queue missing":           {cronfence.BatchTarget(&cronfence.BatchTargetProps{JobDefinition: batch.JobDefinition}), nil, "no job queue given", "must be"},
		"glue without name":       {cronfence.GlueTarget(""), nil, "no Glue job given", "must be the name"},
		"payload over Glue":       {cronfence.GlueTarget("etl"), func(p *props) { p.Payload = strings.Repeat("x", 70000) }, "70006 characters", "at most 65536 fit Glue"},
		"nested missing":          {cronfence.StateMachineTarget(nil, nil), nil, "none given", "must be the work"},
		"nested express":          {cronfence.StateMachineTarget(w.nested("Express", awsstepfunctions.StateMachineType_EXPRESS), nil), nil, "EXPRESS", "must be STANDARD"},
		"nested replaced":         {cronfence.StateMachineTarget(standard, nil), func(p *props) { p.Overlap = policy.Replace }, `"replace"`, "once its drain is given"},
		"nested drain":            {cronfence.StateMachineTarget(standard, &cronfence.StateMachineTargetProps{Drain: -time.Second}), nil, "drain -1s", "0 for 15m0s"},
		"queue of nobody":         {cronfence.TaskTokenTarget(nil, nil), nil, "none given", "must be the work"},
		"worker replaced":         {cronfence.TaskTokenTarget(queue, nil), func(p *props) { p.Overlap = policy.Replace }, `"replace"`, "by its heartbeat only"},
		"heartbeat with fraction": {cronfence.TaskTokenTarget(queue, &cronfence.TaskTokenTargetProps{Heartbeat: time.Millisecond}), nil, "heartbeat 1ms", "whole seconds"},
		"heartbeat too long":      {cronfence.TaskTokenTarget(queue, &cronfence.TaskTokenTargetProps{Heartbeat: time.Hour}), nil, "heartbeat 1h0m0s", "less than the maximum run time of 1h0m0s"},
		"worker's drain":          {cronfence.TaskTokenTarget(queue, &cronfence.TaskTokenTargetProps{Drain: -time.Hour}), nil, "drain -1h0m0s", "whole seconds"},
		"chain missing":           {cronfence.ChainTarget(nil, nil), nil, "none given", "must be the work"},
		"chain used elsewhere":    {cronfence.ChainTarget(used, nil), nil, "Used", "already"},
		"chain with our name":     {cronfence.ChainTarget(pass("Cronfence Settle"), nil), nil, `"Cronfence Settle"`, `must not begin with "Cronfence "`},
		"chain too long":          {cronfence.ChainTarget(retried, nil), nil, "events of history", "are allowed"},
		"chain replaced":          {cronfence.ChainTarget(pass("Replaced"), nil), func(p *props) { p.Overlap = policy.Replace }, `"replace"`, "once its drain is given"},
	} {
		t.Run(name, func(t *testing.T) {
			p := cronfence.JobProps{Scheduler: s, Schedule: schedule.Every(time.Hour), Target: c.target}
			if c.change != nil {
				c.change(&p)
			}
			id := "Bad-" + strings.NewReplacer(" ", "-", "'", "").Replace(name)
			err := propsError(t, func() { cronfence.NewJob(w.stack, id, &p) })
			for _, want := range []string{"Main/" + id, c.got, c.allowed} {
				if len(err.Problems) != 1 || !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nis not one problem that says %q", err, want)
				}
			}
		})
	}
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
