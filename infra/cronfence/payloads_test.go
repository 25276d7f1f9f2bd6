package cronfence_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// fill does to a payload template what Step Functions does, for paths one level deep.
func fill(t *testing.T, payload map[string]any, input, context any) []byte {
	t.Helper()
	lookup := func(from any, path string) any {
		b, _ := json.Marshal(from)
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.UseNumber()
		var v any
		_ = dec.Decode(&v)
		for _, key := range strings.Split(path, ".")[1:] {
			found, ok := v.(map[string]any)[key]
			if !ok {
				t.Fatalf("payload asks for %s, which is not there", path)
			}
			v = found
		}
		return v
	}
	out := map[string]any{}
	for key, v := range payload {
		name, isPath := strings.CutSuffix(key, ".$")
		switch {
		case !isPath:
			out[key] = v
		case strings.HasPrefix(v.(string), "$$"):
			out[name] = lookup(context, v.(string)[1:])
		default:
			out[name] = lookup(input, v.(string))
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decode reads exactly: a field that the contract does not know is an error.
func decode[T any](t *testing.T, b []byte) (v T) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s is no %T: %v", b, v, err)
	}
	return v
}

var (
	runInput = schema.RunInput{
		Job: "cleanup", Tick: "2026-09-07T02:00:00Z", Run: "cleanup-20260907T020000Z-1", Fence: 1757210400123,
		Attempt: 1, Deadline: "2026-09-07T02:06:20Z", Interval: 60,
	}
	executionContext = map[string]any{
		"Execution":    map[string]any{"StartTime": "2026-09-07T02:00:01.5Z"},
		"State":        map[string]any{"EnteredTime": "2026-09-07T02:02:51Z"},
		"StateMachine": map[string]any{"Id": "arn:aws:states:eu-central-1:111122223333:stateMachine:shop_cleanup"},
	}
)

func TestJobReceivesTheRunObject(t *testing.T) {
	text, d := synth(t).main.definition(t, "shop_cleanup")
	got := decode[schema.RunObject](t, fill(t, d.state(t, "Run").Parameters.Payload, runInput, nil))
	if got.RunInput != runInput || got.Scheduler != "shop" || !strings.HasPrefix(got.Table, "<SchedulerTable") {
		t.Errorf("run object %+v", got)
	}
	// To the byte: the CDK drops nulls and rounds whole numbers above 2^53.
	if want := `"payload":{"big":9007199254740993,"none":null,"q":"a<b&c"}`; !strings.Contains(text, want) {
		t.Errorf("machine holds no %s", want)
	}
}

func TestHeartbeatReceivesABeatEvent(t *testing.T) {
	_, d := synth(t).main.definition(t, "shop_cleanup")
	beat := d.state(t, "Cronfence Heartbeat")
	got := decode[schema.BeatEvent](t, fill(t, beat.Parameters.Payload, runInput, executionContext))
	want := schema.BeatEvent{
		Job: runInput.Job, Tick: runInput.Tick, Run: runInput.Run, Fence: runInput.Fence, Interval: 60,
		StartedAt: "2026-09-07T02:00:01.5Z", LeaseSeconds: 120,
	}
	if got != want || !strings.Contains(beat.Parameters.FunctionName, "Heartbeat") {
		t.Errorf("%s gets %+v: want %+v", beat.Parameters.FunctionName, got, want)
	}
}

func TestSettlerReceivesASettleEvent(t *testing.T) {
	end := schema.EndError{Error: "States.Timeout", Cause: "too slow"}
	failed := struct {
		schema.RunInput
		End schema.EndError `json:"end"`
	}{runInput, end}
	for _, machine := range []string{"shop_cleanup", "shop_sync"} {
		_, d := synth(t).main.definition(t, machine)
		for state, status := range map[string]schema.RunStatus{"Cronfence Settle": schema.RunSucceeded, "Cronfence Settle Failed": schema.RunFailed} {
			s := d.state(t, state)
			got := decode[schema.SettleEvent](t, fill(t, s.Parameters.Payload, failed, executionContext))
			if (got.End != nil) != (status == schema.RunFailed) || got.End != nil && *got.End != end {
				t.Errorf("%s: %s: end %v", machine, state, got.End)
			}
			got.End = nil
			want := schema.SettleEvent{
				Job: runInput.Job, Tick: runInput.Tick, Run: runInput.Run, Fence: runInput.Fence, Attempt: 1, Interval: 60,
				StartedAt: "2026-09-07T02:00:01.5Z", EndedAt: "2026-09-07T02:02:51Z",
				Machine: "arn:aws:states:eu-central-1:111122223333:stateMachine:shop_cleanup", Status: status,
			}
			if got != want || !strings.Contains(s.Parameters.FunctionName, "Settler") {
				t.Errorf("%s: %s: %s gets %+v: want %+v", machine, state, s.Parameters.FunctionName, got, want)
			}
		}
	}
}

// EventBridge Scheduler fills in what stands literally in the input: escaped, every tick
// would have the same id, the first would run and all others be its duplicates.
func TestContextAttributesStandLiterallyInTheInput(t *testing.T) {
	tpl := synth(t).main
	for _, r := range tpl.all("AWS::Scheduler::Schedule") {
		if r.Properties["Name"] == "_sentinel.shop" {
			continue
		}
		input := infratest.Text(r.Properties["Target"].(map[string]any)["Input"])
		for _, attribute := range []string{
			"<aws.scheduler.scheduled-time>", "<aws.scheduler.execution-id>", "<aws.scheduler.attempt-number>", "<aws.scheduler.schedule-arn>",
		} {
			if strings.Count(input, `"`+attribute+`"`) != 1 {
				t.Errorf("input %s: want %s once, literally", input, attribute)
			}
		}
		if strings.Contains(strings.ToLower(input), `\u003`) {
			t.Errorf("input %s has escaped brackets", input)
		}
	}
}

func TestTickCarriesTheSpec(t *testing.T) {
	f := synth(t)
	spec := func(tpl template, job string) schema.Spec {
		r := tpl.named(t, "AWS::Scheduler::Schedule", "Name", job+".shop")
		ev := decode[schema.TickEvent](t, []byte(infratest.Text(r.Properties["Target"].(map[string]any)["Input"])))
		if ev.Job != job || ev.Spec.Job != job || ev.Tick != schema.AttrScheduledTime {
			t.Errorf("tick of %s: %+v", job, ev)
		}
		if !strings.HasPrefix(ev.Spec.Machine, "<") {
			t.Errorf("%s: machine %q: want a reference", job, ev.Spec.Machine)
		}
		ev.Spec.Machine = "arn:aws:states:eu-central-1:111122223333:stateMachine:shop_" + job
		if err := ev.Spec.Check(); err != nil {
			t.Errorf("the dispatcher would refuse job %s: %v", job, err)
		}
		ev.Spec.Machine = ""
		return ev.Spec
	}
	common := schema.Spec{Version: schema.SpecVersion, Scheduler: "shop", LeaseSeconds: 120, StartDeadlineSeconds: 900, Timezone: "UTC"}
	cleanup, sync, audit := common, common, common
	cleanup.Job, cleanup.Schedule, cleanup.Beats, cleanup.RenewalSeconds = "cleanup", "cron(* * * * ? *)", true, 30
	cleanup.MaxRunSeconds, cleanup.MachineTimeoutSeconds, cleanup.DrainSeconds = 300, 410, 300
	sync.Job, sync.Schedule, sync.MaxRunSeconds, sync.MachineTimeoutSeconds, sync.DrainSeconds = "sync", "cron(0/15 * * * ? *)", 45, 75, 45
	audit.Job, audit.Schedule, audit.Timezone = "audit", "cron(0 9-17 ? * MON-FRI *)", "Europe/Berlin"
	audit.Start, audit.End, audit.Fenced = "2026-09-07T00:00:00Z", "2027-09-07T00:00:00Z", true
	audit.LeaseSeconds, audit.MaxRunSeconds, audit.MachineTimeoutSeconds, audit.DrainSeconds = 300, 30, 60, 60
	audit.StartDeadlineSeconds = 172800
	for _, want := range []schema.Spec{cleanup, sync} {
		if got := spec(f.main, want.Job); got != want {
			t.Errorf("spec of %s\n got %+v\nwant %+v", want.Job, got, want)
		}
	}
	if got := spec(f.more, "audit"); got != audit {
		t.Errorf("spec of audit\n got %+v\nwant %+v", got, audit)
	}
}
