package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cronfence/cronfence/internal/rig"
)

const (
	root    = "../.."
	account = "000000000000" // ministack's, whose key it is
	region  = "eu-west-1"
)

// deployment is the example app on an emulator.
type deployment struct {
	t     *testing.T
	cloud rig.Cloud
	env   []string
	out   string // cloud assembly
}

// deploy bootstraps the emulator and deploys the app with the CDK's command line.
func deploy(t *testing.T, cloud rig.Cloud) *deployment {
	t.Helper()
	d := &deployment{t: t, cloud: cloud, env: environment(t, cloud), out: t.TempDir()}
	d.cdk(t.TempDir(), "bootstrap", "aws://"+account+"/"+region) // where no app is, none is synthesized
	d.cdk(root, "deploy", "--require-approval", "never", "--context", "architecture="+architecture(t))
	if d.tables() == 0 {
		t.Fatal("the deployed stack has no table")
	}
	return d
}

// environment leaves out everything that could lead to AWS or to another emulator.
func environment(t *testing.T, cloud rig.Cloud) []string {
	t.Helper()
	credentials, err := cloud.Config.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "AWS_") && !strings.HasPrefix(v, "CDK_") {
			env = append(env, v)
		}
	}
	return append(env,
		"AWS_ENDPOINT_URL="+cloud.Endpoint, "AWS_REGION="+region,
		"AWS_ACCESS_KEY_ID="+credentials.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+credentials.SecretAccessKey,
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull, "AWS_EC2_METADATA_DISABLED=true",
		"CDK_HOME="+t.TempDir(), "CDK_DISABLE_CLI_TELEMETRY=true",
		"JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION=1", "NO_COLOR=1",
	)
}

// architecture is the host's: the emulator runs the functions' binaries as they are.
func architecture(t *testing.T) string {
	t.Helper()
	name, ok := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	if !ok {
		t.Skipf("Lambda has no architecture %s", runtime.GOARCH)
	}
	return name
}

// cdk runs the CDK's command line in a folder.
func (d *deployment) cdk(cwd string, args ...string) {
	d.t.Helper()
	dir := filepath.Join(root, "scripts", "cdk")
	node := rig.Node(d.t, dir)
	script, err := filepath.Abs(filepath.Join(dir, "node_modules", "aws-cdk", "bin", "cdk"))
	if err != nil {
		d.t.Fatal(err)
	}
	args = append(args, "--output", d.out, "--no-notices", "--no-version-reporting", "--progress", "events")
	d.run(cwd, exec.CommandContext(d.t.Context(), node, append([]string{script}, args...)...))
}

// run runs a command. It is ended as a whole: a CDK app is started by a shell and starts Node.js.
func (d *deployment) run(cwd string, cmd *exec.Cmd) {
	d.t.Helper()
	cmd.Dir, cmd.Env = cwd, d.env
	endsWithItsChildren(cmd)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args[1:], " "), err, out)
	}
	d.t.Logf("%s: %v", strings.Join(cmd.Args[1:min(3, len(cmd.Args))], " "), time.Since(began).Round(time.Second))
}

// build builds a program of this repository and returns its path.
func (d *deployment) build(pkg string) string {
	d.t.Helper()
	program := filepath.Join(d.t.TempDir(), filepath.Base(pkg))
	d.run(root, exec.CommandContext(d.t.Context(), "go", "build", "-o", program, pkg))
	return program
}

// destroy takes the stack down, with all that it holds.
func (d *deployment) destroy() {
	d.t.Helper()
	d.cdk(root, "destroy", "--force", "--app", d.out)
	if n := d.tables(); n != 0 {
		d.t.Errorf("%d tables are left, want 0", n)
	}
}

func (d *deployment) tables() int {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	out, err := dynamodb.NewFromConfig(d.cloud.Config).ListTables(ctx, &dynamodb.ListTablesInput{})
	if err != nil {
		d.t.Fatal(err)
	}
	return len(out.TableNames)
}
