package cronfence

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Architectures of functions.
const (
	ARM64  = "arm64"
	X86_64 = "x86_64" //nolint:revive // AWS's own name
)

const functionMemoryMB = 256

// goPackageKey is the resource metadata that names a function's Go package; `cronfence
// dev` finds in-repository handlers by it.
const goPackageKey = "cronfence:go-package"

// GoFunctionProps are the props of a [NewGoFunction].
type GoFunctionProps struct {
	// Package is the import path of the function's main package. Required.
	Package string
	// Timeout is the function's own, a second to 15 minutes. Required: a job's maximum run
	// time comes from it.
	Timeout time.Duration
	// MemoryMB is 128 to 10240. Default: 256.
	MemoryMB int
	// Environment holds environment variables. Default: none.
	Environment map[string]string
	// Architecture is [ARM64] or [X86_64]. Default: [ARM64].
	Architecture string
	// LogRetention is how long logs are kept. Default: 90 days.
	LogRetention time.Duration
	// RemovalPolicy says what becomes of the logs when the stack is deleted. Default: RETAIN.
	RemovalPolicy awscdk.RemovalPolicy
	// Build makes the code. Default: [BuildGo], in the module of the working directory.
	Build Builder
}

// NewGoFunction makes a Lambda function from a Go main package, as the library makes its
// own: runtime provided.al2023, logs in JSON, a role that may write its log and nothing
// else. It panics with a [PropsError] if the props are wrong.
func NewGoFunction(scope constructs.Construct, id string, props *GoFunctionProps) awslambda.Function {
	if props == nil {
		props = &GoFunctionProps{}
	}
	props.check().check(*scope.Node().Path() + "/" + id)
	f := &goFunction{
		pkg: props.Package, timeout: props.Timeout, memoryMB: props.MemoryMB, environment: props.Environment,
		architecture: props.Architecture, logRetention: props.LogRetention, removal: props.RemovalPolicy, build: props.Build,
	}
	if f.memoryMB == 0 {
		f.memoryMB = functionMemoryMB
	}
	if f.removal == "" {
		f.removal = awscdk.RemovalPolicy_RETAIN
	}
	return newGoFunction(scope, id, f)
}

func (p *GoFunctionProps) check() problems {
	var bad problems
	if p.Package == "" || strings.HasPrefix(p.Package, ".") || strings.HasPrefix(p.Package, "/") {
		bad.addf("package %q: must be an import path, such as \"example.com/app/jobs/cleanup\"", p.Package)
	}
	if p.Timeout < time.Second || p.Timeout > schema.MaxFunctionTimeout || p.Timeout%time.Second != 0 {
		bad.addf("timeout %v: must be whole seconds, 1s to %v", p.Timeout, schema.MaxFunctionTimeout)
	}
	if p.MemoryMB != 0 && (p.MemoryMB < 128 || p.MemoryMB > 10240) {
		bad.addf("memory %d MB: must be 128 to 10240, or 0 for %d", p.MemoryMB, functionMemoryMB)
	}
	bad.add(checkArchitecture(p.Architecture))
	_, err := logRetention(p.LogRetention)
	bad.add(err)
	return bad
}

// goFunction is a checked set of props.
type goFunction struct {
	pkg, description string
	timeout          time.Duration
	memoryMB         int
	environment      map[string]string
	architecture     string
	logRetention     time.Duration
	removal          awscdk.RemovalPolicy
	logKey           awskms.IKey // nil for CloudWatch's own
	build            Builder
}

func newGoFunction(scope constructs.Construct, id string, f *goFunction) awslambda.Function {
	days, err := logRetention(f.logRetention)
	if err != nil { // the props were checked
		panic(err)
	}
	logs := awslogs.NewLogGroup(scope, jsii.String(id+"Logs"), &awslogs.LogGroupProps{
		Retention: days, RemovalPolicy: f.removal, EncryptionKey: f.logKey,
	})
	role := awsiam.NewRole(scope, jsii.String(id+"Role"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
	})
	logs.GrantWrite(role)
	architecture := awslambda.Architecture_ARM_64()
	if f.architecture == X86_64 {
		architecture = awslambda.Architecture_X86_64()
	}
	props := &awslambda.FunctionProps{
		Runtime:       awslambda.Runtime_PROVIDED_AL2023(),
		Handler:       jsii.String("bootstrap"),
		Architecture:  architecture,
		MemorySize:    jsii.Number(float64(f.memoryMB)),
		Timeout:       duration(f.timeout),
		LogGroup:      logs,
		LoggingFormat: awslambda.LoggingFormat_JSON,
		Role:          role,
	}
	if f.description != "" {
		props.Description = &f.description
	}
	if len(f.environment) > 0 {
		props.Environment = stringMap(f.environment)
	}
	fn := withCode(scope, f, func(code awslambda.Code) awslambda.Function {
		props.Code = code
		return awslambda.NewFunction(scope, &id, props)
	})
	fn.Node().DefaultChild().(awslambda.CfnFunction).AddMetadata(jsii.String(goPackageKey), f.pkg)
	return fn
}

// withCode builds the function's code into a directory that lives until the CDK has
// staged it, or not at all where this stack's assets are not asked for (cdk list).
func withCode(scope constructs.Construct, f *goFunction, use func(awslambda.Code) awslambda.Function) awslambda.Function {
	dir, err := os.MkdirTemp("", "cronfence-build-")
	if err != nil {
		panic(fmt.Errorf("cronfence: build %s: %w", f.pkg, err))
	}
	defer func() { _ = os.RemoveAll(dir) }()
	build := f.build
	if build == nil {
		build = BuildGo
	}
	if !*awscdk.Stack_Of(scope).BundlingRequired() {
		build = BuildPlaceholder
	}
	b := GoBuild{Package: f.pkg, Architecture: f.architecture, Dir: dir}
	if b.Architecture == "" {
		b.Architecture = ARM64
	}
	if err := build(b); err != nil {
		panic(fmt.Errorf("cronfence: construct %q: build %s: %w", *scope.Node().Path(), f.pkg, err))
	}
	return use(awslambda.Code_FromAsset(&dir, nil))
}

func checkArchitecture(a string) error {
	if a == "" || a == ARM64 || a == X86_64 {
		return nil
	}
	return fmt.Errorf("architecture %q: must be %q or %q", a, ARM64, X86_64)
}

func stringMap(m map[string]string) *map[string]*string {
	out := make(map[string]*string, len(m))
	for k, v := range m {
		out[k] = jsii.String(v)
	}
	return &out
}
