package cronfence_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/infra/internal/infratest"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// shapes are whole templates: of a scheduler alone, and of one job a stack, each of another
// shape or on another target. What the work itself needs is in a stack of its own.
var shapes = sync.OnceValue(func() map[string]template {
	dir := filepath.Join(scratch, "shapes.out")
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: &dir})
	w := newWorld(awscdk.NewStack(app, jsii.String("World"), nil))
	stacks := map[string]awscdk.Stack{"scheduler": awscdk.NewStack(app, jsii.String("Shared"), nil)}
	s := newScheduler(stacks["scheduler"])
	for _, shape := range []struct {
		name   string
		target cronfence.Target
		maxRun time.Duration
	}{
		{"with-beats", cronfence.LambdaTarget(w.fn), time.Hour},
		{"without-beats", cronfence.LambdaTarget(w.fn), 0},
		{"chain", cronfence.ChainTarget(w.chain("Work chain"), nil), 0},
		{"container", cronfence.ECSTarget(&cronfence.ECSTargetProps{Cluster: w.cluster, TaskDefinition: w.fargate("Task", 0)}), 0},
		{"task-token", cronfence.TaskTokenTarget(awssqs.NewQueue(w.stack, jsii.String("Work queue"), nil), nil), 0},
		{"batch", cronfence.BatchTarget(w.batch()), 0},
		{"glue", cronfence.GlueTarget("nightly-etl"), 0},
		{"nested", cronfence.StateMachineTarget(w.nested("Nested", awsstepfunctions.StateMachineType_STANDARD), nil), 0},
	} {
		stack := awscdk.NewStack(app, jsii.String("Shape-"+shape.name), nil)
		p := cronfence.JobProps{Scheduler: s, Schedule: schedule.Every(time.Hour), Target: shape.target, MaxRun: shape.maxRun}
		switch shape.name {
		case "without-beats":
			p.Lease = 5 * time.Minute
		case "glue":
			p.Payload = map[string]any{"cluster": *w.cluster.ClusterName()}
		}
		cronfence.NewJob(stack, shape.name, &p)
		stacks[shape.name] = stack
	}
	app.Synth(nil)
	made := map[string]template{}
	for name, stack := range stacks {
		made[name] = load(filepath.Join(dir, *stack.TemplateFile()))
	}
	return made
})

func synthShapes(t *testing.T) map[string]template {
	t.Helper()
	infratest.RequireNode(t)
	return shapes()
}

// load reads a synthesized template, without the CDK's assertions.
func load(file string) template {
	t := template{file: file}
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err != nil {
		panic(err)
	}
	return t
}

var assetHash = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// reviewable is a whole template as a reviewer wants it: hashes of assets and the CDK's own
// metadata, parameters and rules left out, and texts that are JSON as what they say.
func reviewable(t *testing.T, file string) []byte {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(must(os.ReadFile(file)), &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "Parameters") // of the CDK's bootstrap, as the rules are
	delete(all, "Rules")
	for _, r := range all["Resources"].(map[string]any) {
		r := r.(map[string]any)
		if metadata, ok := r["Metadata"].(map[string]any); ok {
			for key := range metadata {
				if strings.HasPrefix(key, "aws:") {
					delete(metadata, key)
				}
			}
			if len(metadata) == 0 {
				delete(r, "Metadata")
			}
		}
	}
	all["Resources"] = plainly(all["Resources"])
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(all); err != nil {
		t.Fatal(err)
	}
	return assetHash.ReplaceAll(b.Bytes(), []byte("HASH"))
}

// plainly writes references as infratest.Text does, and texts that are JSON as what they say.
func plainly(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			if len(v) == 1 && slices.Contains([]string{"Ref", "Fn::GetAtt", "Fn::Join", "Fn::ImportValue"}, key) {
				return plainly(infratest.Text(v))
			}
		}
		for key, each := range v {
			v[key] = plainly(each)
		}
	case []any:
		for i, each := range v {
			v[i] = plainly(each)
		}
	case string:
		var said map[string]any
		if json.Unmarshal([]byte(v), &said) == nil {
			return said
		}
	}
	return v
}

func TestTemplatesAreTheGoldenOnes(t *testing.T) {
	for _, name := range []string{"scheduler", "with-beats", "without-beats", "chain", "container", "task-token"} {
		checkGolden(t, name+".template.json", reviewable(t, synthShapes(t)[name].file))
	}
}

func TestPayloadMayNameResourcesOfTheApp(t *testing.T) {
	text, _ := synthShapes(t)["glue"].definition(t, "shop_glue")
	if !strings.Contains(text, `"payload":{"cluster":"<import World:`) {
		t.Errorf("the payload does not name the cluster: %s", text)
	}
}
