package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/internal/rig"
)

// TestMain is also the command itself, for tests that need a process of it.
func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	goleak.VerifyTestMain(rigged{m})
}

const asCommand = "CRONFENCE_TEST_AS_COMMAND"

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
		{"dev --for soon", `--for "soon": must be a duration, such as 90s or 6h`},
		{"dev --for 0s", `--for 0s: must be positive`},
		{"dev --assembly=", `--assembly "": must be the directory of a synthesized app`},
		{"dev --speed x", `--speed "x": must be more than 0 and at most 600`},
		{"dev --json=perhaps", `--json "perhaps": must be true or false`},
		{"next --count x", `--count "x": must be 1-10000`},
		{"help nope", `unknown verb "nope": must be one of backfill, completion, cost, dev,`},
		{"help dev nope", `unexpected argument "nope"`},
		{"completion tcsh", `completion "tcsh": must be one of bash, zsh, fish, powershell`},
		{"completion", `must have one argument, one of bash`},
		{"dev --for -1m", `--for -1m0s: must be positive`},
		{"dev --speed 0", `--speed 0: must be more than 0 and at most 600`},
		{"dev --speed NaN", `--speed NaN`},
		{"dev --fault kill", `--fault "kill": kill needs "a job"; write it such as "kill cleanup at 5m"`},
		{"dev --fault=", `--fault "": must be KIND [JOB or FUNCTION]`},
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

func TestABadAssemblyIsNamedWithExitCode1(t *testing.T) {
	for manifest, want := range map[string]string{"": "run `cdk synth`", "{}": "names no CloudFormation stack", "no JSON": "manifest.json: "} {
		dir := t.TempDir()
		if manifest != "" {
			if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(manifest), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		code, _, errOut := command(t, "dev", "--assembly", dir)
		if code != 1 || !strings.Contains(errOut, want) || !strings.Contains(errOut, dir) {
			t.Errorf("%q: code %d, %q; want %s", manifest, code, errOut, want)
		}
	}
}

// Every newXCommand of this package makes a verb of the root.
func TestEveryVerbIsRegistered(t *testing.T) {
	root := newRootCommand()
	root.InitDefaultHelpCmd() // adds it, as executing does
	registered := map[string]bool{}
	for _, c := range root.Commands() {
		registered[c.Name()] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`(?m)^func new(\w+)Command\(`).FindAllStringSubmatch(string(text), -1) {
			if found[1] == "Root" {
				continue
			}
			if made++; !registered[strings.ToLower(found[1])] {
				t.Errorf("%s: new%sCommand is no verb of the root", file, found[1])
			}
		}
	}
	if made != len(registered) {
		t.Errorf("%d verbs are made and %d registered", made, len(registered))
	}
}

func TestHelpAndVersion(t *testing.T) {
	for args, want := range map[string]string{
		"":               "SYNOPSIS",
		"help":           "SYNOPSIS",
		"help dev":       "Faults make things go wrong",
		"help help":      "help [VERB]",
		"completion zsh": "#compdef cronfence",
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

// Help has at least two examples of each verb, and the verb understands their flags.
func TestEveryVerbHasTwoExamplesThatItUnderstands(t *testing.T) {
	root := newRootCommand()
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		examples := 0
		for _, line := range strings.Split(c.Example, "\n") {
			for _, part := range regexp.MustCompile(`cronfence (?:'[^']*'|[^'()|>])+`).FindAllString(line, -1) {
				examples++
				args := words(part)[1:]
				if strings.HasSuffix(args[len(args)-1], "<") { // a substitution
					args[len(args)-1] = "file"
				}
				of, rest, err := newRootCommand().Find(args)
				if err == nil {
					err = of.ParseFlags(rest)
				}
				if err == nil && of.Args != nil {
					err = of.Args(of, of.Flags().Args())
				}
				if err != nil {
					t.Errorf("%s: example %q: %v", c.Name(), part, err)
				}
			}
		}
		if examples < 2 || c.Long == "" {
			t.Errorf("%s: %d examples, description %q", c.Name(), examples, c.Long)
		}
	}
}

// What a user installs with `go install` is what is in the repository: a replaced module would
// make that fail.
func TestTheModuleCanBeInstalledByItsVersion(t *testing.T) {
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct{ Replace, Exclude []any }
	if err := json.Unmarshal(out, &mod); err != nil || len(mod.Replace)+len(mod.Exclude) > 0 {
		t.Errorf("go.mod replaces or excludes modules: %v %v, %v", mod.Replace, mod.Exclude, err)
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

// The command line and the Lambdas must build where there is no Node.js, and drive no browser.
func TestTheCommandLineLinksNeitherTheCDKNorABrowser(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".", "../../functions/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		if strings.Contains(dep, "jsii") || strings.Contains(dep, "aws-cdk-go") || strings.Contains(dep, "cronfence/infra") || strings.Contains(dep, "chromedp") || strings.HasSuffix(dep, "/webtest") {
			t.Errorf("links %s", dep)
		}
	}
}
