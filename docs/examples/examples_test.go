// Package examples runs the example jobs in other languages, and holds the run object to its
// JSON Schema.
package examples

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job/fencedynamo"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

func runObject(table string, fence int64) schema.RunObject {
	return schema.RunObject{
		Scheduler: "shop", Table: table,
		RunInput: schema.RunInput{
			Job: "cleanup", Tick: "2026-09-07T02:00:00Z", Run: fmt.Sprintf("cleanup-20260907T020000Z-%d", fence%10),
			Fence: fence, Attempt: 1, Deadline: "2100-01-01T00:00:00.5Z", Interval: 900,
		},
		Payload: map[string]any{"accounts": []string{"a", "b"}},
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTheRunObjectIsAsItsSchemaSays(t *testing.T) {
	python := rig.Python(t)
	good := text(t, runObject("cronfence", 1_796_046_370_079))
	with := func(change func(o map[string]any)) string {
		var o map[string]any
		d := json.NewDecoder(strings.NewReader(good))
		d.UseNumber()
		if err := d.Decode(&o); err != nil {
			t.Fatal(err)
		}
		change(o)
		return text(t, o)
	}
	for name, c := range map[string]struct {
		object string
		valid  bool
	}{
		"as sent":      {good, true},
		"with a token": {with(func(o map[string]any) { o["taskToken"] = "AAA" }), true},
		"newer":        {with(func(o map[string]any) { o["more"] = 1 }), true},
		"no payload":   {with(func(o map[string]any) { o["payload"] = nil }), true},
		"manual":       {with(func(o map[string]any) { o["tick"] = "manual-2026-09-07T02:00:00Z" }), true},
		"no fence":     {with(func(o map[string]any) { delete(o, "fence") }), false},
		"fence text":   {with(func(o map[string]any) { o["fence"] = "7" }), false},
		"tick local":   {with(func(o map[string]any) { o["tick"] = "2026-09-07T02:00:00+02:00" }), false},
		"deadline":     {with(func(o map[string]any) { o["deadline"] = "soon" }), false},
	} {
		cmd := exec.CommandContext(t.Context(), python, "-c", `import json, sys, jsonschema
schema = json.load(open("../run.schema.json"))
cls = jsonschema.Draft202012Validator
cls.check_schema(schema)
errors = list(cls(schema, format_checker=cls.FORMAT_CHECKER).iter_errors(json.load(sys.stdin)))
print(*errors, sep="\n")
sys.exit(3 if errors else 0)`)
		cmd.Stdin = strings.NewReader(c.object)
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != 3 || (code == 0) != c.valid {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// program is an example in one language.
type program struct {
	dir  string
	line []string
}

func TestExamplesWriteWithTheirFenceAndAreRefusedWithAnOlderOne(t *testing.T) {
	for name, p := range map[string]func(t *testing.T) program{
		"python": func(t *testing.T) program { return program{"python", []string{rig.Python(t), "cleanup.py"}} },
		"node":   func(t *testing.T) program { return program{"node", []string{rig.Node(t, "node"), "cleanup.mjs"}} },
	} {
		t.Run(name, func(t *testing.T) {
			c := rig.Moto(t)
			p, client, table := p(t), dynamodb.NewFromConfig(c.Config), c.Table(t)
			older, newer := runObject(table, 1_796_046_370_001), runObject(table, 1_796_046_370_002)
			newer.Tick = "2026-09-07T02:15:00Z"
			guardOf(t, client, newer, false)

			p.run(t, c, newer, "WATCH_GUARD=1", "")
			want := "closed 2026-09-07T02:15:00Z 1796046370002"
			account(t, client, table, want)
			p.run(t, c, older, "", "Cronfence.LeaseLost: write with fence 1796046370001 refused")
			account(t, client, table, want)
			p.run(t, c, older, "WATCH_GUARD=1", "Cronfence.LeaseLost: the run no longer holds")
			guardOf(t, client, newer, true)
			p.run(t, c, newer, "WATCH_GUARD=1", "Cronfence.Stop: the run is asked to stop")

			late := newer
			late.Deadline = "2026-01-01T00:00:00Z"
			p.run(t, c, late, "", "Cronfence.MaxRunTime: ")
		})
	}
}

// run runs the example as a container does, and wants it to say so on standard error and
// fail, or to say nothing and succeed.
func (p program) run(t *testing.T, c rig.Cloud, run schema.RunObject, env, says string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.line[0], p.line[1:]...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "CRONFENCE_RUN="+text(t, run), "ACCOUNTS_TABLE="+run.Table, env,
		"AWS_ENDPOINT_URL="+c.Endpoint, "AWS_REGION="+c.Config.Region, "AWS_DEFAULT_REGION="+c.Config.Region,
		"AWS_ACCESS_KEY_ID=moto", "AWS_SECRET_ACCESS_KEY=secret", "PYTHONDONTWRITEBYTECODE=1",
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if (err == nil) != (says == "") || !strings.Contains(stderr.String(), says) {
		t.Errorf("fence %d: %v, %q: want %q", run.Fence, err, stderr.String(), says)
	}
}

// guardOf makes the run its job's holder, which may be asked to stop.
func guardOf(t *testing.T, client *dynamodb.Client, run schema.RunObject, stop bool) {
	t.Helper()
	item := map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: run.Job}, "sk": &types.AttributeValueMemberS{Value: "guard"},
		"fence": &types.AttributeValueMemberN{Value: fmt.Sprint(run.Fence)},
		"run":   &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: run.Run}}},
	}
	if stop {
		item["stop"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"byTick": &types.AttributeValueMemberS{Value: "2026-09-07T02:30:00Z"}}}
	}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &run.Table, Item: item}); err != nil {
		t.Fatal(err)
	}
}

// account wants both accounts closed by that tick and fence, under the attribute that the Go
// package keeps it in.
func account(t *testing.T, client *dynamodb.Client, table, want string) {
	t.Helper()
	for _, id := range []string{"a", "b"} {
		out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: id}, "sk": &types.AttributeValueMemberS{Value: "account"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range []string{"status", "closed_by", fencedynamo.Attribute} {
			switch v := out.Item[name].(type) {
			case *types.AttributeValueMemberS:
				got = append(got, v.Value)
			case *types.AttributeValueMemberN:
				got = append(got, v.Value)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("account %s is %q, want %q", id, got, want)
		}
	}
}
