package cronfence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

const modulePath = "github.com/cronfence/cronfence"

// GoBuild asks for the code of one Lambda function.
type GoBuild struct {
	Package      string // import path of the main package
	Architecture string // ARM64 or X86_64
	Dir          string // where the binary is to be, as "bootstrap"; removed once it is staged
}

// Builder makes the code of a function.
type Builder func(GoBuild) error

// BuildGo builds with the local Go, without Docker. The binary depends on source and Go
// version alone, so only what changed is deployed. The library's own functions are built
// in the library's module with its own go.sum, wherever that module is; any other
// package in the module of the working directory.
func BuildGo(b GoBuild) error {
	args := []string{"build"}
	env := append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	if strings.HasPrefix(b.Package, modulePath+"/functions/") {
		dir, err := moduleDir()
		if err != nil {
			return fmt.Errorf("find the module of %s: %w", b.Package, err)
		}
		args = append(args, "-C", dir)
		// Flags and workspaces of the user's own module have no say in the library's.
		env = append(env, "GOFLAGS=", "GOWORK=off")
	}
	switch b.Architecture {
	case ARM64:
		env = append(env, "GOARCH=arm64", "GOARM64=v8.0")
	case X86_64:
		env = append(env, "GOARCH=amd64", "GOAMD64=v1")
	default:
		return checkArchitecture(b.Architecture)
	}
	// provided.al2023 has no time zone files: timetzdata. An empty build id and no VCS
	// stamp keep equal sources equal to the byte.
	args = append(args, "-o", filepath.Join(b.Dir, "bootstrap"),
		"-tags", "lambda.norpc,timetzdata", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", b.Package)
	_, err := goCommand(env, args...)
	return err
}

// BuildPlaceholder builds nothing: the code is a text that names the package. It is for
// tests that look at templates only.
func BuildPlaceholder(b GoBuild) error {
	text := "placeholder for " + b.Package + "\n"
	return os.WriteFile(filepath.Join(b.Dir, "bootstrap"), []byte(text), 0o755) //nolint:gosec // Lambda executes it
}

// moduleDir finds the library's sources: beside this file when the binary was built with
// its paths (a checkout, a replace directive, the module cache), else where Go says.
var moduleDir = sync.OnceValues(func() (string, error) {
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		if dir := filepath.Join(filepath.Dir(file), "..", ".."); hasFunctions(dir) {
			return dir, nil
		}
	}
	listed, err := goCommand(os.Environ(), "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", modulePath)
	if dir := strings.TrimSpace(listed); err == nil && hasFunctions(dir) {
		return dir, nil
	}
	return downloadModule()
})

// downloadModule fetches the version of the library that this program was built with; a
// vendor directory holds none of its functions.
func downloadModule() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", fmt.Errorf("this program does not say which version of %s it was built with", modulePath)
	}
	for _, dep := range info.Deps {
		if dep.Path != modulePath {
			continue
		}
		out, err := goCommand(append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off"), "mod", "download", "-json", modulePath+"@"+dep.Version)
		if err != nil {
			return "", err
		}
		var module struct{ Dir string }
		if err := json.Unmarshal([]byte(out), &module); err != nil {
			return "", fmt.Errorf("read the answer of go mod download: %w", err)
		}
		return module.Dir, nil
	}
	return "", fmt.Errorf("run synth where go list -m %s finds the module", modulePath)
}

func hasFunctions(dir string) bool {
	if dir == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, "functions", "dispatcher"))
	return err == nil
}

func goCommand(env []string, args ...string) (string, error) {
	cmd := exec.Command("go", args...) //nolint:gosec // arguments are the library's own
	cmd.Env = env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("run go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}
