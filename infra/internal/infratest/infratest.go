// Package infratest holds what the tests of constructs and of the example app share.
package infratest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// RequireNode skips the test where Node.js is missing, without which no CDK app can be
// synthesized. On CI it fails instead: a test that never runs proves nothing.
func RequireNode(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		missing(t, "node is not on the PATH: install Node.js 22 or 24")
	}
}

// CfnLint checks templates with the cfn-lint of the repository's virtual environment.
// W3005 is left out: the CDK writes DependsOn where a Ref says the same.
func CfnLint(t *testing.T, templates ...string) {
	t.Helper()
	lint := filepath.Join(Root(), ".venv", "bin", "cfn-lint")
	if _, err := os.Stat(lint); err != nil {
		missing(t, "cfn-lint is not installed: run make tools")
	}
	args := append([]string{"--ignore-checks", "W3005", "--"}, templates...)
	if out, err := exec.Command(lint, args...).CombinedOutput(); err != nil {
		t.Errorf("cfn-lint %s: %v\n%s", strings.Join(templates, " "), err, out)
	}
}

// Root is the repository's root.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// Text resolves a value of a template to text: joins are joined, and references become
// <LogicalId> or <LogicalId.Attribute>.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		if ref, ok := v["Ref"].(string); ok {
			return "<" + ref + ">"
		}
		if att, ok := v["Fn::GetAtt"].([]any); ok {
			return fmt.Sprintf("<%s.%s>", att...)
		}
		if imported, ok := v["Fn::ImportValue"]; ok {
			return "<import " + Text(imported) + ">"
		}
		if join, ok := v["Fn::Join"].([]any); ok {
			var b strings.Builder
			for i, part := range join[1].([]any) {
				if i > 0 {
					b.WriteString(Text(join[0]))
				}
				b.WriteString(Text(part))
			}
			return b.String()
		}
	}
	b, _ := json.Marshal(v)
	return string(b)
}
