package assembly_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/localcloud/assembly"
	"github.com/cronfence/cronfence/internal/localcloud/example"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// app is an assembly of one stack called App with these resources.
func app(resources string) fstest.MapFS {
	return fstest.MapFS{
		"manifest.json":     {Data: []byte(`{"artifacts":{"App":{"type":"aws:cloudformation:stack","properties":{"templateFile":"App.template.json"}}}}`)},
		"App.template.json": {Data: []byte(`{"Parameters":{"P":{"Default":"given"}},"Resources":{` + resources + `}}`)},
	}
}

const (
	table = `"T":{"Type":"AWS::DynamoDB::Table","Properties":{"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
		"AttributeDefinitions":[{"AttributeName":"sk","AttributeType":"N"},{"AttributeName":"pk","AttributeType":"S"}]}}`
	function = `"F":{"Type":"AWS::Lambda::Function","Metadata":{"cronfence:go-package":"x/y"},"Properties":{"Timeout":15,
		"Environment":{"Variables":{"TABLE":{"Ref":"T"},"ARN":{"Fn::GetAtt":["T","Arn"]}}}}}`
	config = `"C":{"Type":"AWS::Lambda::EventInvokeConfig","Properties":{"FunctionName":{"Ref":"F"},"MaximumRetryAttempts":1}}`
	group  = `"G":{"Type":"AWS::Scheduler::ScheduleGroup","Properties":{"Name":"group"}}`
)

func TestReferencesBecomeLocalNames(t *testing.T) {
	a, err := assembly.Load(app(table + "," + function + "," + config))
	if err != nil {
		t.Fatal(err)
	}
	want := []assembly.Function{{
		ID: "App/F", Name: "App-F", ARN: "arn:aws:lambda:local-1:000000000000:function:App-F", Timeout: 15 * time.Second,
		GoPackage: "x/y", Retries: 1, MaxAge: 6 * time.Hour, Architecture: "x86_64", MemoryMB: 128,
		Environment: map[string]string{"TABLE": "App-T", "ARN": "arn:aws:dynamodb:local-1:000000000000:table/App-T"},
	}}
	if diff := cmp.Diff(want, a.Functions); diff != "" {
		t.Error(diff)
	}
	tables := []assembly.Table{{ID: "App/T", Name: "App-T", Hash: assembly.Attribute{Name: "pk", Type: "S"}, Sort: assembly.Attribute{Name: "sk", Type: "N"}}}
	if diff := cmp.Diff(tables, a.Tables); diff != "" {
		t.Error(diff)
	}
}

func TestSchedulesAreRead(t *testing.T) {
	schedule := `"S":{"Type":"AWS::Scheduler::Schedule","Properties":{"Name":"nightly","GroupName":{"Ref":"G"},"State":"DISABLED",
		"ScheduleExpression":"cron(0 2 * * ? *)","ScheduleExpressionTimezone":"Europe/Berlin","StartDate":"2026-09-07T00:00:00Z",
		"FlexibleTimeWindow":{"Mode":"FLEXIBLE","MaximumWindowInMinutes":15},"Target":{"RetryPolicy":{"MaximumEventAgeInSeconds":60,"MaximumRetryAttempts":3},
		"DeadLetterConfig":{"Arn":{"Fn::GetAtt":["Q","Arn"]}},"Arn":{"Fn::GetAtt":["F","Arn"]},"Input":{"Fn::Join":["",["{\"t\":\"<aws.scheduler.scheduled-time>\",\"p\":\"",{"Ref":"P"},"\"}"]]}}}}`
	a, err := assembly.Load(app(strings.Join([]string{table, function, group, `"Q":{"Type":"AWS::SQS::Queue"}`, schedule}, ",")))
	if err != nil {
		t.Fatal(err)
	}
	want := []assembly.Schedule{{
		ID: "App/S", ARN: "arn:aws:scheduler:local-1:000000000000:schedule/group/nightly", Name: "nightly", Group: "group",
		Expression: "cron(0 2 * * ? *)", Timezone: "Europe/Berlin", Start: time.Date(2026, 9, 7, 0, 0, 0, 0, time.UTC), Disabled: true,
		TargetARN: "arn:aws:lambda:local-1:000000000000:function:App-F", Input: `{"t":"<aws.scheduler.scheduled-time>","p":"given"}`,
		Window: 15 * time.Minute, Retries: 3, MaxAge: time.Minute, DeadLetter: "arn:aws:sqs:local-1:000000000000:App-Q",
	}}
	if diff := cmp.Diff(want, a.Schedules); diff != "" {
		t.Error(diff)
	}
}

func TestFunctionsOfCloudFormation(t *testing.T) {
	for _, tt := range []struct{ value, want string }{
		{`{"Fn::Sub":"${AWS::Region}/${P}/${T.Arn}/${!no}"}`, "local-1/given/arn:aws:dynamodb:local-1:000000000000:table/App-T/${no}"},
		{`{"Fn::Sub":["${a}-${P}",{"a":{"Ref":"AWS::AccountId"}}]}`, "000000000000-given"},
		{`{"Fn::Select":["1",{"Fn::Split":["/","a/b/c"]}]}`, "b"},
		{`{"Fn::Join":["",["arn:",{"Ref":"AWS::Partition"}]]}`, "arn:aws"},
		{`{"Ref":"M"}`, "arn:aws:states:local-1:000000000000:stateMachine:named"},
		{`{"Fn::GetAtt":"M.Name"}`, "named"},
	} {
		machine := `"M":{"Type":"AWS::StepFunctions::StateMachine","Properties":{"StateMachineName":"named","DefinitionString":"{}"}}`
		f := `"F":{"Type":"AWS::Lambda::Function","Properties":{"Environment":{"Variables":{"V":` + tt.value + `,"None":{"Ref":"AWS::NoValue"}}}}}`
		a, err := assembly.Load(app(table + "," + machine + "," + f))
		if err != nil {
			t.Errorf("%s: %v", tt.value, err)
			continue
		}
		if diff := cmp.Diff(map[string]string{"V": tt.want}, a.Functions[0].Environment); diff != "" {
			t.Errorf("%s: %s", tt.value, diff)
		}
	}
}

func TestStacksImportFromEachOther(t *testing.T) {
	fsys := fstest.MapFS{
		"manifest.json": {Data: []byte(`{"artifacts":{
			"A":{"type":"aws:cloudformation:stack","properties":{"templateFile":"a.json"}},
			"S":{"type":"cdk:cloud-assembly","properties":{"directoryName":"stage"}}}}`)},
		"stage/manifest.json": {Data: []byte(`{"artifacts":{"B":{"type":"aws:cloudformation:stack","properties":{"templateFile":"b.json","stackName":"Bee"}}}}`)},
		"a.json":              {Data: []byte(`{"Resources":{"F":{"Type":"AWS::Lambda::Function","Properties":{"Environment":{"Variables":{"T":{"Fn::ImportValue":"table"}}}}}}}`)},
		"stage/b.json":        {Data: []byte(`{"Resources":{` + table + `},"Outputs":{"O":{"Value":{"Ref":"T"},"Export":{"Name":"table"}}}}`)},
	}
	a, err := assembly.Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Functions[0].Environment["T"]; got != "Bee-T" {
		t.Errorf("got %q, want Bee-T", got)
	}
}

func TestWhatDoesNotRunIsNamed(t *testing.T) {
	a, err := assembly.Load(app(`"B":{"Type":"AWS::S3::Bucket","Metadata":{"aws:cdk:path":"App/Files"}},"R":{"Type":"AWS::IAM::Role"},
		"X":{"Type":"AWS::StepFunctions::StateMachine","Properties":{"DefinitionString":"{}","StateMachineType":"EXPRESS"}},
		"D":{"Type":"AWS::StepFunctions::StateMachine","Properties":{"DefinitionS3Location":{"Bucket":"b"}}},
		"E":{"Type":"AWS::Events::Rule","Properties":{"ScheduleExpression":"rate(1 hour)"}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(a.Notices, "\n")
	for _, want := range []string{`App/X: state machine type "EXPRESS"`, "App/D: does not run; its definition is not", "App/Files (AWS::S3::Bucket)", "App/E: rules with a schedule"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for _, tt := range []struct{ resources, want string }{
		{`"F":{"Type":"AWS::Lambda::Function","Properties":{"Environment":{"Variables":{"V":{"Ref":"Gone"}}}}}`, `stack App: App/F: Environment: Variables: V: Ref "Gone"`},
		{`"F":{"Type":"AWS::Lambda::Function","Properties":{"Timeout":{"Fn::If":["c",1,2]}}}`, "Fn::If"},
		{`"E":{"Type":"AWS::Events::Rule","Properties":{"EventPattern":{"source":[{"suffix":"x"}]}}}`, "suffix"},
	} {
		_, err := assembly.Load(app(tt.resources))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
	if _, err := assembly.Load(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "cdk synth") {
		t.Errorf("an empty directory: got %v", err)
	}
}

func TestPatternsChooseEvents(t *testing.T) {
	rule := `"E":{"Type":"AWS::Events::Rule","Properties":{"EventPattern":{"source":["aws.states"],"detail":{"status":["FAILED","ABORTED"],"executionArn":[{"prefix":"arn:x:"}]}}}}`
	a, err := assembly.Load(app(rule))
	if err != nil {
		t.Fatal(err)
	}
	for event, want := range map[string]bool{
		`{"source":"aws.states","detail":{"status":"FAILED","executionArn":"arn:x:1"}}`:  true,
		`{"source":"aws.states","detail":{"status":"RUNNING","executionArn":"arn:x:1"}}`: false,
		`{"source":"aws.states","detail":{"status":"FAILED","executionArn":"arn:y:1"}}`:  false,
		`{"source":"aws.s3","detail":{"status":"FAILED","executionArn":"arn:x:1"}}`:      false,
		`{"source":"aws.states"}`: false,
	} {
		var e map[string]any
		if err := json.Unmarshal([]byte(event), &e); err != nil {
			t.Fatal(err)
		}
		if got := a.Rules[0].Pattern.Matches(e); got != want {
			t.Errorf("%s: got %v, want %v", event, got, want)
		}
	}
}

// The example's inputs must be what the dispatcher accepts once the attributes are filled in.
func TestTheExampleIsComplete(t *testing.T) {
	a, err := assembly.Load(example.Assembly)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Notices) > 0 {
		t.Errorf("notices %q, want none", a.Notices)
	}
	if got := fmt.Sprint(len(a.Schedules), len(a.Machines), len(a.Functions), len(a.Rules)); got != "4 3 7 1" {
		t.Errorf("got %s schedules, machines, functions and rules, want 4 3 7 1", got)
	}
	for _, s := range a.Schedules {
		if s.Name == schema.SweepScheduleName("example") {
			continue
		}
		var ev schema.TickEvent
		if err := json.Unmarshal([]byte(s.Input), &ev); err != nil {
			t.Fatalf("%s: %v", s.ID, err)
		}
		if err := ev.Spec.Check(); err != nil || ev.Tick != schema.AttrScheduledTime {
			t.Errorf("%s: tick %q, %v", s.ID, ev.Tick, err)
		}
	}
}

func TestAFunctionsCodeIsFound(t *testing.T) {
	fsys := app(`"F":{"Type":"AWS::Lambda::Function","Properties":{"Runtime":"provided.al2023","Handler":"bootstrap","Architectures":["arm64"],"MemorySize":256,
		"DeadLetterConfig":{"TargetArn":"arn:q"},"Code":{"S3Bucket":"b","S3Key":"prefix/abc.zip"}}},
		"C":{"Type":"AWS::Lambda::EventInvokeConfig","Properties":{"FunctionName":{"Ref":"F"},"MaximumEventAgeInSeconds":60,"DestinationConfig":{"OnFailure":{"Destination":"arn:d"}}}}`)
	fsys["stage/manifest.json"] = &fstest.MapFile{Data: []byte(`{"artifacts":{"A":{"type":"cdk:asset-manifest","properties":{"file":"A.assets.json"}}}}`)}
	fsys["manifest.json"] = &fstest.MapFile{Data: []byte(`{"artifacts":{"S":{"type":"cdk:cloud-assembly","properties":{"directoryName":"stage"}},
		"App":{"type":"aws:cloudformation:stack","properties":{"templateFile":"App.template.json"}}}}`)}
	fsys["stage/A.assets.json"] = &fstest.MapFile{Data: []byte(`{"files":{"abc":{"source":{"path":"asset.abc","packaging":"zip"}}}}`)}
	a, err := assembly.Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	want := assembly.Function{
		ID: "App/F", Name: "App-F", ARN: "arn:aws:lambda:local-1:000000000000:function:App-F", Timeout: 3 * time.Second,
		Asset: "stage/asset.abc", Runtime: "provided.al2023", Handler: "bootstrap", Architecture: "arm64", MemoryMB: 256,
		Retries: 2, MaxAge: time.Minute, DeadLetter: "arn:d",
	}
	if diff := cmp.Diff(want, a.Functions[0]); diff != "" {
		t.Error(diff)
	}
}
