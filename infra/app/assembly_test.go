package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/infra/internal/infratest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

var update = flag.Bool("update", false, "write the example assembly anew")

const exampleDir = "../../internal/localcloud/example"

var assetHash = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// synthesize returns the example's assembly without code, asset hashes normalised.
func synthesize(t *testing.T) map[string][]byte {
	t.Helper()
	infratest.RequireNode(t)
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir())})
	newStack(app, stackProps{build: cronfence.BuildPlaceholder})
	dir := *app.Synth(nil).Directory()
	files := map[string][]byte{}
	for _, name := range []string{"manifest.json", stackName + ".template.json"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = normalise(t, b)
	}
	return files
}

// normalise drops what says nothing about the app: hashes of code and template, and the
// CDK's report on its feature flags.
func normalise(t *testing.T, b []byte) []byte {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal(b, &document); err != nil {
		t.Fatal(err)
	}
	if artifacts, ok := document["artifacts"].(map[string]any); ok {
		delete(artifacts, "aws-cdk-lib/feature-flag-report")
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(document); err != nil {
		t.Fatal(err)
	}
	return assetHash.ReplaceAll(out.Bytes(), bytes.Repeat([]byte("0"), 64))
}

// The local cloud runs the assembly that is in the repository, so that it needs no Node.
func TestExampleAssemblyIsWhatTheAppSynthesizes(t *testing.T) {
	for name, got := range synthesize(t) {
		path := filepath.Join(exampleDir, name)
		if *update {
			if err := os.MkdirAll(exampleDir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what the app synthesizes: go test ./infra/app -run %s -update", path, t.Name())
		}
	}
}

func TestTemplatePassesCfnLint(t *testing.T) {
	infratest.CfnLint(t, filepath.Join(exampleDir, stackName+".template.json"))
}

func TestArchitectureComesFromTheContext(t *testing.T) {
	infratest.RequireNode(t)
	for context, want := range map[string]string{"": "", "x86_64": "x86_64", "arm64": "arm64"} {
		values := map[string]any{}
		if context != "" {
			values["architecture"] = context
		}
		app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir()), Context: &values})
		if got := architectureOf(app); got != want {
			t.Errorf("context %q: architecture %q", context, got)
		}
	}
}
