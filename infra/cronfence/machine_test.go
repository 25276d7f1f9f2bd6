package cronfence_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/infra/internal/infratest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// machineDefinition is a state machine as it stands in the template, references resolved to <Id>.
type machineDefinition struct {
	StartAt        string
	TimeoutSeconds float64
	States         map[string]aslState
}

type aslState struct {
	Type, Resource, Next, Error, ErrorPath, CausePath string
	Parameters                                        struct {
		FunctionName string
		Payload      map[string]any
		Object       map[string]any
	}
	TimeoutSeconds, Seconds float64
	ResultPath              *string
	Retry                   []map[string]any
	Catch                   []map[string]any
	Branches                []machineDefinition
	End                     bool
}

func (tpl template) definition(t *testing.T, machine string) (text string, d machineDefinition) {
	t.Helper()
	r := tpl.named(t, "AWS::StepFunctions::StateMachine", "StateMachineName", machine)
	text = infratest.Text(r.Properties["DefinitionString"])
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("definition of %s: %v\n%s", machine, err, text)
	}
	return text, d
}

// every visits the states of all branches.
func (d machineDefinition) every(visit func(name string, s aslState)) {
	for name, s := range d.States {
		visit(name, s)
		for _, b := range s.Branches {
			b.every(visit)
		}
	}
}

func (d machineDefinition) state(t *testing.T, name string) (found aslState) {
	t.Helper()
	d.every(func(n string, s aslState) {
		if n == name {
			found = s
		}
	})
	if found.Type == "" {
		t.Fatalf("no state %q", name)
	}
	return found
}

func TestMachinesAreTheGoldenOnes(t *testing.T) {
	main, targets := synth(t).main, targets(t)
	for golden, m := range map[string]struct {
		tpl  template
		name string
	}{
		"with-beats": {main, "shop_cleanup"}, "without-beats": {main, "shop_sync"},
		"chain-with-beats": {targets, "shop_chain"}, "chain-without-beats": {targets, "shop_chain-short"},
		"container": {targets, "shop_ecs"}, "container-without-beats": {targets, "shop_ecs-short"},
		"batch": {targets, "shop_batch"}, "glue": {targets, "shop_glue"}, "nested": {targets, "shop_nested"},
		"token": {targets, "shop_token"}, "token-without-beats": {targets, "shop_token-plain"},
	} {
		text, _ := m.tpl.definition(t, m.name)
		var got bytes.Buffer
		if err := json.Indent(&got, []byte(text+"\n"), "", "  "); err != nil {
			t.Fatal(err)
		}
		checkGolden(t, golden+".asl.json", got.Bytes())
	}
}

// checkGolden compares with a file of testdata, or writes it.
func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what is synthesized; go test ./infra/cronfence -update shows by git diff what changed", path)
	}
}

func TestShapeFollowsFromLeaseAndPolicy(t *testing.T) {
	f := synth(t)
	for _, m := range []struct {
		tpl           template
		name, startAt string
		timeout       float64 // maximum run time + 30 s, + 80 s of start delay with beats
	}{
		{f.main, "shop_cleanup", "Cronfence Guarded", 300 + 30 + 80},
		{f.main, "shop_sync", "Run", 45 + 30},
		{f.main, "shop_beside", "Run", 300 + 30}, // Allow holds no guard, so nothing is renewed
		{f.more, "shop_audit", "Run", 30 + 30},
	} {
		_, d := m.tpl.definition(t, m.name)
		if d.StartAt != m.startAt || d.TimeoutSeconds != m.timeout {
			t.Errorf("%s starts at %q, times out after %v: want %q, %v", m.name, d.StartAt, d.TimeoutSeconds, m.startAt, m.timeout)
		}
	}
}

// Checked on the JSON of the template: releases of the CDK have dropped retries before.
func TestEveryTaskKeepsItsRetryAndCatch(t *testing.T) {
	tpl := synth(t).main
	refusals := []any{"Cronfence.Stop", "Cronfence.LeaseLost", "Cronfence.MaxRunTime"}
	for _, machine := range []string{"shop_cleanup", "shop_sync"} {
		_, d := tpl.definition(t, machine)
		run := d.state(t, "Run")
		if len(run.Retry) != 1 || !slices.Equal(list(run.Retry[0]["ErrorEquals"]), []any{"Lambda.TooManyRequestsException"}) {
			t.Errorf("%s: Run retries %v: want Lambda.TooManyRequestsException alone, which proves that nothing ran", machine, run.Retry)
		}
		for name, next := range map[string]string{"Cronfence Settle": "Cronfence Unsettled", "Cronfence Settle Failed": "Cronfence Failed"} {
			s := d.state(t, name)
			if len(s.Retry) != 1 || s.Retry[0]["ErrorEquals"].([]any)[0] != "States.ALL" || s.Retry[0]["MaxAttempts"].(float64) < 3 {
				t.Errorf("%s: %s retries %v: want any error, a few times at least", machine, name, s.Retry)
			}
			if len(s.Catch) != 1 || s.Catch[0]["Next"] != next || s.Catch[0]["ResultPath"] == "$.end" {
				t.Errorf("%s: %s catches %v: want any error, to %s, the run's own end kept", machine, name, s.Catch, next)
			}
		}
	}
	_, d := tpl.definition(t, "shop_cleanup")
	beat := d.state(t, "Cronfence Heartbeat")
	if len(beat.Retry) != 2 || !slices.Equal(beat.Retry[0]["ErrorEquals"].([]any), refusals) || beat.Retry[0]["MaxAttempts"] != 0.0 {
		t.Errorf("heartbeat retries %v: want a refusal never retried", beat.Retry)
	}
	if beat.Retry[1]["ErrorEquals"].([]any)[0] != "States.ALL" || beat.Retry[1]["MaxAttempts"] != 4.0 {
		t.Errorf("heartbeat retries %v: want anything else 4 times, which fits the 80 s left of the lease", beat.Retry)
	}
	if len(beat.Catch) != 2 || beat.Catch[0]["Next"] != "Cronfence Stopped" || beat.Catch[1]["Next"] != "Cronfence Silent" {
		t.Errorf("heartbeat catches %v", beat.Catch)
	}
	if s := d.state(t, "Cronfence Silent"); s.Error != "Cronfence.LeaseLost" {
		t.Errorf("a heartbeat that fails ends the run as %q: want Cronfence.LeaseLost, which is no error of the job's own", s.Error)
	}
}

func TestEndsOfARun(t *testing.T) {
	tpl := synth(t).main
	_, beats := tpl.definition(t, "shop_cleanup")
	guarded := beats.state(t, "Cronfence Guarded")
	ends := func(s aslState) (out []string) {
		for _, c := range s.Catch {
			out = append(out, c["ErrorEquals"].([]any)[0].(string)+" -> "+c["Next"].(string)+" "+c["ResultPath"].(string))
		}
		return out
	}
	if got, want := ends(guarded), []string{"Cronfence.Finished -> Cronfence Settle $.end", "States.ALL -> Cronfence Settle Failed $.end"}; !slices.Equal(got, want) {
		t.Errorf("guarded run ends %v: want %v", got, want)
	}
	const reserved = "Cronfence.Finished -> Cronfence Reserved Error $.end"
	if s := beats.state(t, "Run"); s.Next != "Cronfence Finished" || !slices.Equal(ends(s), []string{reserved}) {
		t.Errorf("Run goes to %q, %q: want Cronfence Finished, settling behind the Parallel only", s.Next, ends(s))
	}
	if s := beats.state(t, "Cronfence Finished"); s.Type != "Fail" || s.Error != "Cronfence.Finished" {
		t.Errorf("Finished is a %s %q: want a Fail, which ends the heartbeat too", s.Type, s.Error)
	}
	if s := beats.state(t, "Cronfence Wait"); s.Seconds != 30 || s.Next != "Cronfence Heartbeat" {
		t.Errorf("Wait: %v s, then %q", s.Seconds, s.Next)
	}
	_, alone := tpl.definition(t, "shop_sync")
	run := alone.state(t, "Run")
	if got, want := ends(run), []string{reserved, "States.ALL -> Cronfence Settle Failed $.end"}; !slices.Equal(got, want) || run.Next != "Cronfence Settle" {
		t.Errorf("lone run ends %v, then %q", got, run.Next)
	}
	for _, d := range []machineDefinition{beats, alone} {
		if s := d.state(t, "Cronfence Failed"); s.ErrorPath != "$.end.Error" || s.CausePath != "$.end.Cause" {
			t.Errorf("Failed takes its error from %q, its cause from %q", s.ErrorPath, s.CausePath)
		}
		if s := d.state(t, "Cronfence Settle"); !s.End {
			t.Error("Settle is not the end of a run that succeeded")
		}
	}
}

func TestMachineIsSound(t *testing.T) {
	f := synth(t)
	for _, tpl := range []template{f.main, f.more} {
		for _, r := range tpl.all("AWS::StepFunctions::StateMachine") {
			name := r.Properties["StateMachineName"].(string)
			text, d := tpl.definition(t, name)
			if r.Properties["StateMachineType"] != "STANDARD" || strings.Contains(text, "QueryLanguage") {
				t.Errorf("%s: want a Standard machine in JSONPath", name)
			}
			seen := map[string]int{}
			d.every(func(state string, s aslState) {
				seen[state]++
				if s.Type == "Task" && (s.Resource != "arn:<AWS::Partition>:states:::lambda:invoke" || s.TimeoutSeconds == 0 || s.ResultPath != nil) {
					t.Errorf("%s: %s: resource %q, timeout %v: want lambda:invoke with a timeout and its result discarded", name, state, s.Resource, s.TimeoutSeconds)
				}
			})
			for state, n := range seen {
				if n > 1 {
					t.Errorf("%s: state %q stands %d times: names are unique in a machine", name, state, n)
				}
			}
			checkReachable(t, name, d)
		}
	}
}

// checkReachable fails on a transition to nowhere and on a state that nothing leads to.
func checkReachable(t *testing.T, machine string, d machineDefinition) {
	t.Helper()
	reached := map[string]bool{d.StartAt: true}
	for _, s := range d.States {
		for _, c := range s.Catch {
			reached[c["Next"].(string)] = true
		}
		if s.Next != "" {
			reached[s.Next] = true
		}
		for _, b := range s.Branches {
			checkReachable(t, machine, b)
		}
	}
	if got, want := slices.Sorted(maps.Keys(reached)), slices.Sorted(maps.Keys(d.States)); !slices.Equal(got, want) {
		t.Errorf("%s leads to %q: want %q", machine, got, want)
	}
}
