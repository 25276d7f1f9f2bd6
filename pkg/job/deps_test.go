package job_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Nobody links what he does not use: which modules each package may bring into a program.
var mayLink = map[string][]string{
	".":             {"github.com/aws/aws-lambda-go"},
	"./fencesql":    {"github.com/aws/aws-lambda-go"},
	"./fenceredis":  {"github.com/aws/aws-lambda-go"},
	"./fencehttp":   {"github.com/aws/aws-lambda-go"},
	"./jobtest":     {"github.com/aws/aws-lambda-go"},
	"./fencedynamo": append(slices.Clone(sdk), "github.com/aws/aws-sdk-go-v2/service/dynamodb", "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams", "github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue", "github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding", "github.com/aws/aws-sdk-go-v2/service/internal/endpoint-discovery"),
	"./notes":       append(slices.Clone(sdk), "github.com/aws/aws-sdk-go-v2/service/dynamodb", "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams", "github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue", "github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding", "github.com/aws/aws-sdk-go-v2/service/internal/endpoint-discovery"),
	"./sfntoken":    append(slices.Clone(sdk), "github.com/aws/aws-sdk-go-v2/service/sfn"),
	"./fences3":     append(slices.Clone(sdk), "github.com/aws/aws-sdk-go-v2/service/s3", "github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream", "github.com/aws/aws-sdk-go-v2/internal/v4a", "github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding", "github.com/aws/aws-sdk-go-v2/service/internal/checksum", "github.com/aws/aws-sdk-go-v2/service/internal/presigned-url", "github.com/aws/aws-sdk-go-v2/service/internal/s3shared"),
}

// The work calls what a drill needs of it (job.Point) in production.
func TestNoPackageButTheDrillLinksTesting(t *testing.T) {
	for pkg := range mayLink {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", pkg).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", pkg, err)
		}
		if slices.Contains(strings.Fields(string(out)), "testing") != (pkg == "./jobtest") {
			t.Errorf("%s: that it links testing is wrong", pkg)
		}
	}
}

// sdk is the part of the AWS SDK that every client of it links.
var sdk = []string{
	"github.com/aws/aws-lambda-go", "github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go",
	"github.com/aws/aws-sdk-go-v2/internal/configsources", "github.com/aws/aws-sdk-go-v2/internal/endpoints/v2",
}

func TestNobodyLinksWhatHeDoesNotUse(t *testing.T) {
	for pkg, modules := range mayLink {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Main}}{{end}}", pkg).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", pkg, err)
		}
		for line := range strings.Lines(string(out)) {
			module, main, ok := strings.Cut(strings.TrimSpace(line), " ")
			if ok && main == "false" && !slices.Contains(modules, module) {
				t.Errorf("%s links %s", pkg, module)
				modules = append(modules, module) // once is enough
			}
		}
	}
}
