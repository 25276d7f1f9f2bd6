package rig

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Python returns the interpreter of .venv, which has boto3 and jsonschema. Without a .venv
// the test is skipped, but fails in CI.
func Python(t testing.TB) string {
	t.Helper()
	python, err := venvPython()
	if errors.Is(err, os.ErrNotExist) {
		missing(t, "Python's packages are not installed: run `make tools`")
	} else if err != nil {
		t.Fatal(err)
	}
	return python
}

// Node returns Node.js, for a folder whose packages are installed. Without them the test is
// skipped, but fails in CI.
func Node(t testing.TB, dir string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "Node.js is not installed")
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		missing(t, "Node.js packages are not installed: run `npm ci --prefix "+dir+"` or `make tools`")
	}
	return node
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}
