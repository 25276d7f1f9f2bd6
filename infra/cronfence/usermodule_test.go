package cronfence_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/infra/cronfence"
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

// codeOf reads the functions' code that an app staged, by the package it is built from.
func codeOf(t *testing.T, out string) map[string][]byte {
	t.Helper()
	var tpl template
	if err := json.Unmarshal(must(os.ReadFile(filepath.Join(out, "Shop.template.json"))), &tpl); err != nil {
		t.Fatal(err)
	}
	code := map[string][]byte{}
	for _, r := range tpl.all("AWS::Lambda::Function") {
		hash := strings.TrimSuffix(at(r.Properties["Code"], "S3Key").(string), ".zip")
		code[fmt.Sprint(r.Metadata["cronfence:go-package"])] = must(os.ReadFile(filepath.Join(out, "asset."+hash, "bootstrap")))
	}
	return code
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
	out := filepath.Join(first, "cdk.out")
	in(t, first, []string{"CDK_OUTDIR=" + out, "GOPROXY=off"}, app)
	before := codeOf(t, out)
	if len(before) != 6 {
		t.Fatalf("%d functions: want four of the library's and two of the user's", len(before))
	}
	second := userModule(t)
	hello := filepath.Join(second, "jobs", "hello", "main.go")
	changed := strings.Replace(string(must(os.ReadFile(hello))), `"hello"`, `"good morning"`, 1)
	if err := os.WriteFile(hello, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(second)
	for pkg, same := range map[string]bool{
		"github.com/cronfence/cronfence/functions/heartbeat": true, "example.com/shop/jobs/bye": true, "example.com/shop/jobs/hello": false,
	} {
		dir := t.TempDir()
		if err := cronfence.BuildGo(cronfence.GoBuild{Package: pkg, Architecture: cronfence.ARM64, Dir: dir}); err != nil {
			t.Fatal(err)
		}
		if got := bytes.Equal(must(os.ReadFile(filepath.Join(dir, "bootstrap"))), before[pkg]); got != same {
			t.Errorf("%s: code unchanged is %v in another directory with one job changed: want %v", pkg, got, same)
		}
	}
}
