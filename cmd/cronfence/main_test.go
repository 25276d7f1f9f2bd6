package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/internal/rig"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(rigged{m}) }

// rigged stops the emulators before leaks are looked for.
type rigged struct{ *testing.M }

func (r rigged) Run() int { return rig.Run(r.M) }

func command(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, &o, &e)
	return code, o.String(), e.String()
}

func TestWrongUsageIsOneLineAndExitCode2(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"nope", `unknown verb "nope": must be one of`},
		{"dev here", `unexpected argument "here"`},
		{"dev --fast", `unknown flag: --fast; see`},
		{"dev --for soon", `invalid argument "soon"`},
		{"dev --for -1m", `--for -1m0s: must be positive`},
		{"dev --speed 0", `--speed 0: must be more than 0 and at most 600`},
		{"dev --speed NaN", `--speed NaN`},
		{"dev --exec cleanup", `--exec "cleanup": must be JOB=COMMAND`},
		{"dev --exec a=b --exec a=c", `job "a" has a command already`},
		{"dev --exec nope=true", `--exec: job "nope": the assembly has cleanup, report, sync`},
	} {
		code, out, errOut := command(t, strings.Fields(tt.args)...)
		if code != 2 || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, tt.want) {
			t.Errorf("%s: code %d, output %q, errors %q; want code 2 and %s", tt.args, code, out, errOut, tt.want)
		}
	}
}

func TestFailureIsExitCode1(t *testing.T) {
	code, _, errOut := command(t, "dev", "--assembly", t.TempDir())
	if code != 1 || !strings.Contains(errOut, "run `cdk synth`") {
		t.Errorf("code %d, %q", code, errOut)
	}
}

func TestHelpAndVersion(t *testing.T) {
	for args, want := range map[string]string{
		"":               "Usage:",
		"help dev":       "--assembly",
		"dev --help":     "CRONFENCE_RUN",
		"version":        "cronfence ",
		"version --json": `"version"`,
	} {
		code, out, errOut := command(t, strings.Fields(args)...)
		if code != 0 || !strings.Contains(out, want) || errOut != "" {
			t.Errorf("%q: code %d, %q, %q; want %s", args, code, out, errOut, want)
		}
	}
}

func TestDevWritesATableOrOneDocument(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	code, out, errOut := command(t, "dev", "--for", "1m", "--speed", "60", "--listen", "127.0.0.1:0")
	if code != 0 || !strings.Contains(out, "started") || !strings.Contains(out, "MAX CONCURRENT") ||
		!strings.Contains(out, "every tick has exactly one final outcome") {
		t.Errorf("code %d, %s%s", code, out, errOut)
	}
	code, out, errOut = command(t, "dev", "--for", "1m", "--speed", "60", "--listen", "127.0.0.1:0", "--json")
	var report localcloud.Report
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&report); err != nil || d.More() || code != 0 {
		t.Fatalf("code %d, %v, %s", code, err, out)
	}
	if len(report.Jobs) != 3 || report.Speed != 60 || !strings.Contains(errOut, "started") {
		t.Errorf("got %+v and lines %s", report, errOut)
	}
}

// The command line and the Lambdas must build where there is no Node.js.
func TestNothingButInfraLinksTheCDK(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".", "../../functions/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		if strings.Contains(dep, "jsii") || strings.Contains(dep, "aws-cdk-go") || strings.Contains(dep, "cronfence/infra") {
			t.Errorf("links %s", dep)
		}
	}
}
