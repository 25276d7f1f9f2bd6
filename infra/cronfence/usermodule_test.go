package cronfence_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/infra/internal/infratest"
)

// userModule writes a module of a user's own outside the repository, which finds the library
// through a replace directive.
func userModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source := os.DirFS(filepath.Join("testdata", "usermodule"))
	err := fs.WalkDir(source, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(source, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, strings.TrimSuffix(path, ".txt"))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	library := must(os.ReadFile(filepath.Join(infratest.Root(), "go.mod")))
	// What the library requires is in the module cache: the user's module takes the same.
	text := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(string(library), "module example.com/shop")
	text += fmt.Sprintf("\nrequire github.com/cronfence/cronfence v0.0.0\n\nreplace github.com/cronfence/cronfence => %s\n", infratest.Root())
	for name, content := range map[string]string{"go.mod": text, "go.sum": string(must(os.ReadFile(filepath.Join(infratest.Root(), "go.sum"))))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func in(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// assetsOf are the code assets of a synthesized template, by the package they are built from.
func assetsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	var tpl template
	if err := json.Unmarshal(must(os.ReadFile(file)), &tpl); err != nil {
		t.Fatal(err)
	}
	assets := map[string]string{}
	for _, r := range tpl.all("AWS::Lambda::Function") {
		assets[fmt.Sprint(r.Metadata["cronfence:go-package"])] = fmt.Sprint(at(r.Properties["Code"], "S3Key"))
	}
	return assets
}

// A user's app in a module of its own: it builds and synthesizes with the local Go alone, its
// code depends on source and Go version, and a change of one job deploys that job anew.
func TestUsersModuleSynthesizes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a CDK app and its functions")
	}
	infratest.RequireNode(t)
	first := userModule(t)
	lines := 0
	for line := range strings.Lines(string(must(os.ReadFile(filepath.Join(first, "main.go"))))) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines >= 30 {
		t.Errorf("the user's app has %d lines: want fewer than 30", lines)
	}
	app := filepath.Join(first, "app")
	in(t, first, []string{"GOPROXY=off", "GOFLAGS=", "GOWORK=off"}, "go", "build", "-o", app, ".")
	synthesize := func(dir string) map[string]string {
		in(t, dir, []string{"CDK_OUTDIR=" + filepath.Join(dir, "cdk.out"), "GOPROXY=off"}, app)
		return assetsOf(t, filepath.Join(dir, "cdk.out", "Shop.template.json"))
	}
	before := synthesize(first)
	second := userModule(t)
	changed := strings.Replace(string(must(os.ReadFile(filepath.Join(second, "jobs", "hello", "main.go")))), `"hello"`, `"good morning"`, 1)
	if err := os.WriteFile(filepath.Join(second, "jobs", "hello", "main.go"), []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	after := synthesize(second)
	if len(before) != 6 || len(after) != 6 {
		t.Fatalf("%d and %d functions: want four of the library's and two of the user's", len(before), len(after))
	}
	for pkg, hash := range before {
		if same, want := after[pkg] == hash, pkg != "example.com/shop/jobs/hello"; same != want {
			t.Errorf("%s: asset unchanged is %v in another directory with one job changed: want %v", pkg, same, want)
		}
	}
}
