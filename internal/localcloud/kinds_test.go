//go:build unix

package localcloud_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/internal/localcloud/assembly"
	"github.com/cronfence/cronfence/internal/localcloud/example"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// withWork is the example with other work in the cleanup's state machine: what is under
// the name Run is replaced, resources are added to the template.
func withWork(t *testing.T, work, resources string) fstest.MapFS {
	t.Helper()
	a, err := assembly.Load(example.Assembly)
	if err != nil {
		t.Fatal(err)
	}
	var machine map[string]any
	for _, m := range a.Machines {
		if m.Name == schema.MachineName("example", "cleanup") {
			decode(t, []byte(m.Definition), &machine)
		}
	}
	guarded := machine["States"].(map[string]any)["Cronfence Guarded"].(map[string]any)
	branch := guarded["Branches"].([]any)[0].(map[string]any)
	states := branch["States"].(map[string]any)
	run := states["Run"].(map[string]any)
	object := run["Parameters"].(map[string]any)["Payload"]
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var other map[string]any
	decode(t, []byte(strings.ReplaceAll(work, "@run", string(text))), &other)
	for _, field := range []string{"Next", "Catch", "ResultPath"} {
		other[field] = run[field]
	}
	delete(states, "Run")
	branch["StartAt"] = "Run"
	if other["Type"] == "Parallel" {
		branch["StartAt"] = "Cronfence Chain"
	}
	states[branch["StartAt"].(string)] = other
	return exampleWith(t, func(all map[string]any) {
		definition, err := json.Marshal(machine)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			p, _ := r.(map[string]any)["Properties"].(map[string]any)
			if p["StateMachineName"] == schema.MachineName("example", "cleanup") {
				p["DefinitionString"] = string(definition)
			}
		}
		decode(t, []byte(`{`+resources+`}`), &all)
	})
}

// exampleWith is the example with its resources changed.
func exampleWith(t *testing.T, change func(resources map[string]any)) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, name := range []string{"manifest.json", "CronfenceExample.template.json"} {
		text, err := example.Assembly.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fsys[name] = &fstest.MapFile{Data: text}
	}
	var template map[string]any
	file := fsys["CronfenceExample.template.json"]
	decode(t, file.Data, &template)
	change(template["Resources"].(map[string]any))
	text, err := json.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
	file.Data = text
	return fsys
}

func decode(t *testing.T, text []byte, v any) {
	t.Helper()
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(v); err != nil {
		t.Fatal(err)
	}
}

const (
	container = `{"Type":"Task","Resource":"arn:aws:states:::ecs:runTask.sync","Parameters":{"Cluster":"c","TaskDefinition":"d",
		"Overrides":{"ContainerOverrides":[{"Name":"n","Environment":[{"Name":"CRONFENCE_RUN","Value":"x"}],"Object":@run}]}}}`
	worker = `{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage.waitForTaskToken","HeartbeatSeconds":10,
		"Parameters":{"QueueUrl":"q","MessageBody":@run}}`
	distributed = `{"Type":"Parallel","Parameters":@run,"Branches":[{"StartAt":"Each","States":{"Each":{"Type":"Map","End":true,
		"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED"},"StartAt":"One","States":{"One":{"Type":"Pass","End":true}}}}}}]}`
	chain = `{"Type":"Parallel","Parameters":@run,"Branches":[{"StartAt":"First","States":{"First":{"Type":"Pass","Parameters":{"job.$":"$.job"},"Next":"Rest"},
		"Rest":{"Type":"Wait","Seconds":20,"Next":"Done"},"Done":{"Type":"Succeed"}}}]}`
	other = `{"Type":"Task","Resource":"arn:aws:states:::states:startExecution.sync:2","Parameters":{
		"StateMachineArn":"arn:aws:states:local-1:000000000000:stateMachine:other","Name.$":"$.run","Input":@run}}`

	otherWaits = `"Other":{"Type":"AWS::StepFunctions::StateMachine","Properties":{"StateMachineName":"other",
		"DefinitionString":"{\"StartAt\":\"W\",\"States\":{\"W\":{\"Type\":\"Wait\",\"Seconds\":90,\"End\":true}}}"}}`
	otherFails = `"Other":{"Type":"AWS::StepFunctions::StateMachine","Properties":{"StateMachineName":"other",
		"DefinitionString":"{\"StartAt\":\"F\",\"States\":{\"F\":{\"Type\":\"Fail\",\"Error\":\"Broken\"}}}"}}`

	getsRun = `echo "$CRONFENCE_RUN" | grep -q '"job":"cleanup".*"run":"cleanup-'`
)

func TestEveryKindOfWorkRunsOrIsNamed(t *testing.T) {
	for _, c := range []struct {
		name, work, resources, command string
		succeeded, failed              int
		notice, log                    string
	}{
		{"a container", container, "", "", 0, 1, `its task "Run" (arn:aws:states:::ecs:runTask.sync) does not run here and fails; give the job a command with --exec cleanup=COMMAND`, "LocalCloud.NotRunHere"},
		{"a command for a container", container, "", getsRun, 1, 0, "", ""},
		{"a worker's token, answered by exit 0", worker, "", getsRun + "; sleep 0.1", 1, 0, "", ""}, // 60 s here, no heartbeat
		{"a worker's token, answered by exit 3", worker, "", "exit 3", 0, 1, "", "Command.Failed"},
		{"a chain", chain, "", "", 1, 0, "", ""},
		{"a command for a chain that cannot run", distributed, "", getsRun, 1, 0, "", ""},
		{"another state machine", other, otherWaits, "", 1, 0, "", ""},
		{"another state machine fails", other, otherFails, "", 0, 1, "", "States.TaskFailed"},
		{"another state machine that is not here", other, "", "", 0, 1, `its task "Run" (arn:aws:states:::states:startExecution.sync:2) does not run here`, "StepFunctions.StateMachineDoesNotExistException"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log buffer
			config := localcloud.Config{Assembly: withWork(t, c.work, c.resources), Start: start, Speed: 600, For: 30 * time.Second, Log: &log, Out: &log, Exec: map[string]string{}}
			if c.command != "" {
				config.Exec["cleanup"] = c.command
			}
			cloud, err := localcloud.New(config)
			if err != nil {
				t.Fatal(err)
			}
			report, err := cloud.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := jobOf(t, report, "cleanup"); got.Succeeded != c.succeeded || got.Failed != c.failed || len(report.Problems) > 0 {
				t.Errorf("got %+v, problems %q\n%s", got, report.Problems, log.String())
			}
			notices := strings.Join(cloud.Notices(), "\n")
			if !strings.Contains(notices, c.notice) || c.notice == "" && strings.Contains(notices, "job cleanup") || !strings.Contains(log.String(), c.log) {
				t.Errorf("notices %q, log\n%s\nwant %q and %q", notices, log.String(), c.notice, c.log)
			}
		})
	}
}

func TestWorkThatTheInterpreterRefusesNeedsACommand(t *testing.T) {
	_, err := localcloud.New(localcloud.Config{Assembly: withWork(t, distributed, ""), Start: start, Speed: 1, Log: &buffer{}})
	if err == nil || !strings.Contains(err.Error(), `mode "DISTRIBUTED"`) || !strings.Contains(err.Error(), "--exec cleanup=COMMAND") {
		t.Errorf("got %v", err)
	}
}

// A machine that no job uses does not keep the others from running.
func TestAForeignMachineIsOnlyNamed(t *testing.T) {
	foreign := `"Foreign":{"Type":"AWS::StepFunctions::StateMachine","Properties":{"DefinitionString":"{\"StartAt\":\"S\",\"States\":{\"S\":{\"Type\":\"Nap\"}}}"}}`
	cloud, err := localcloud.New(localcloud.Config{Assembly: withWork(t, chain, foreign), Start: start, Speed: 1, Log: &buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	defer cloud.Close()
	if notices := strings.Join(cloud.Notices(), "\n"); !strings.Contains(notices, `type "Nap" is not supported`) {
		t.Errorf("notices %q", notices)
	}
}
