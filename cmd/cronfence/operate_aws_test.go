package main

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/cronfence/cronfence/internal/awssfn"
	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/notes"
)

// deployed is a scheduler on an emulator with one job, which ticks once a year.
type deployed struct {
	engine *engine.Engine
	spec   schema.Spec
	client *dynamodb.Client
	table  string
}

func deploy(t *testing.T, cloud rig.Cloud, name string) deployed {
	t.Helper()
	table, states := cloud.Table(t), sfn.NewFromConfig(cloud.Config)
	machine, err := states.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String(schema.MachineName(name, "cleanup")), RoleArn: aws.String("arn:aws:iam::123456789012:role/run"),
		Definition: aws.String(`{"StartAt":"Work","States":{"Work":{"Type":"Pass","End":true}}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	groups := scheduler.NewFromConfig(cloud.Config)
	_, err = groups.CreateScheduleGroup(t.Context(), &scheduler.CreateScheduleGroupInput{
		Name: aws.String(schema.GroupName(name)), Tags: []types.Tag{{Key: aws.String(schema.TagTable), Value: &table}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the emulator is that of all tests
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_, err := groups.DeleteScheduleGroup(ctx, &scheduler.DeleteScheduleGroupInput{Name: aws.String(schema.GroupName(name))})
		if err == nil {
			_, err = states.DeleteStateMachine(ctx, &sfn.DeleteStateMachineInput{StateMachineArn: machine.StateMachineArn})
		}
		if err != nil {
			t.Error(err)
		}
	})
	client := dynamodb.NewFromConfig(cloud.Config)
	d := deployed{
		client: client, table: table,
		engine: &engine.Engine{
			Store: dynamo.New(client, table), Machines: awssfn.New(states),
			Now: time.Now, NewToken: rand.Text, Timeout: engine.CommandLineTimeout,
		},
		spec: schema.Spec{
			Version: schema.SpecVersion, Scheduler: name, Job: "cleanup", Schedule: "cron(0 0 1 1 ? *)", Machine: *machine.StateMachineArn,
			Beats: true, LeaseSeconds: 120, RenewalSeconds: 30, MaxRunSeconds: 3600, MachineTimeoutSeconds: 3700, StartDeadlineSeconds: 900,
		},
	}
	if err := d.engine.Introduce(t.Context(), d.spec); err != nil {
		t.Fatal(err)
	}
	useAWS(t, cloud.Endpoint, cloud.Config.Region, "moto")
	return d
}

// useAWS points the command line at an endpoint, and at nothing of the user's own.
func useAWS(t *testing.T, endpoint, region, key string) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": region, "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_CONFIG_FILE": filepath.Join(t.TempDir(), "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(t.TempDir(), "none"),
	} {
		t.Setenv(name, value)
	}
}

// succeed settles a run as its state machine would.
func (d deployed) succeed(t *testing.T, r ops.RunResult) {
	t.Helper()
	now := schema.MillisOf(time.Now())
	_, err := d.engine.Settle(t.Context(), guard.End{
		Job: r.Job, Tick: r.Tick, Run: r.Run, Fence: r.Fence, Attempt: 1, Outcome: guard.Succeeded, StartedAt: now - 1000, EndedAt: now,
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestVerbsAgainstAWS(t *testing.T) {
	d := deploy(t, rig.Moto(t), "shop")

	expect(t, "jobs", 0, "cleanup  free", "")
	started := document[ran](t, "run cleanup --by alice@laptop --json", 0)
	if started.Outcome != guard.Running || started.Scheduler != "shop" {
		t.Errorf("run: got %+v", started)
	}
	expect(t, "run cleanup", 3, "", "run "+started.Run+" holds the guard since")
	expect(t, "status cleanup", 0, "held by       "+started.Run, "")
	expect(t, "why cleanup "+started.Tick, 0, "Asked for by alice@laptop.", "")
	noted := job.Run{Table: d.table, Job: "cleanup", Tick: started.Tick, ID: started.Run, Fence: started.Fence}
	if err := notes.Put(t.Context(), d.client, noted, "page", "17 of 40\x1b[2J", time.Now()); err != nil {
		t.Fatal(err)
	}
	d.succeed(t, started.RunResult)
	expect(t, "why cleanup "+started.Tick, 0, ": 17 of 40\ufffd[2J\n", "")
	expect(t, "why cleanup "+started.Tick+" --json", 0, "\"text\": \"17 of 40\ufffd[2J\"", "")
	if got := expect(t, "history cleanup --json", 0, `"outcome":"Skipped"`, ""); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"runTimeSeconds":1,`) {
		t.Errorf("history: got %s", got)
	}

	document[ran](t, "run cleanup --json --scheduler shop", 0)
	expect(t, "release cleanup --yes --reason hangs", 0, "", "")
	expect(t, "pause cleanup --reason rebuild", 0, "cleanup is paused", "")
	expect(t, "run cleanup", 3, "", "`cronfence resume cleanup` ends the pause")
	expect(t, "resume cleanup", 0, "its next tick is", "")
	expect(t, "resume cleanup", 3, "", "is not paused")
	expect(t, "status nope", 1, "", "must be one of cleanup")
	expect(t, "jobs --scheduler nope", 1, "", "must be one of shop")
}

// --wait looks again until the outcome is final.
func TestRunWaitsForItsOutcome(t *testing.T) {
	d := deploy(t, rig.Moto(t), "waiting")
	op := &ops.Direct{Name: "waiting", Engine: d.engine}
	cmd := newRunCommand()
	cmd.SetContext(t.Context())
	var out strings.Builder
	cmd.SetOut(&out)
	slept := 0
	r := runOptions{wait: true, sleep: func(context.Context, time.Duration) error {
		if slept++; slept == 2 {
			s, err := op.Status(t.Context(), "cleanup")
			if err != nil {
				return err
			}
			d.succeed(t, ops.RunResult{Job: "cleanup", Tick: s.Holder.Tick, Run: s.Holder.Run, Fence: s.Holder.Fence})
		}
		return nil
	}}
	if err := new(operated).runJob(cmd, op, "cleanup", r); err != nil || slept != 2 || !strings.Contains(out.String(), "Succeeded in 1s") {
		t.Errorf("got %v after %d sleeps: %s", err, slept, out.String())
	}
}
