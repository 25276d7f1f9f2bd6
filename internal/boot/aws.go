package boot

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// minCompressSize is the SDK's default, in bytes. Zero would compress whatever can be.
const minCompressSize = 10_240

// AWS is the configuration that Lambda gives a function, all in its environment: Region and
// credentials, which stay the same for as long as the process lives. The SDK's own package for
// that finds credentials in many places where no function has any, and links four services for
// it; a quarter of a cold start went there. Of what else it reads, endpoints count here too:
// AWS_ENDPOINT_URL, with a service's name or without, AWS_USE_FIPS_ENDPOINT and
// AWS_USE_DUALSTACK_ENDPOINT.
func AWS() (aws.Config, error) {
	for _, name := range []string{"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		if os.Getenv(name) == "" {
			return aws.Config{}, fmt.Errorf("environment variable %s: must be set, as Lambda sets it", name)
		}
	}
	e := endpoints{}
	for name, set := range map[string]*bool{"AWS_USE_FIPS_ENDPOINT": &e.fips, "AWS_USE_DUALSTACK_ENDPOINT": &e.dualStack} {
		switch v := os.Getenv(name); strings.ToLower(v) {
		case "true":
			*set = true
		case "", "false":
		default:
			return aws.Config{}, fmt.Errorf("environment variable %s: %q: must be true or false", name, v)
		}
	}
	cfg := aws.Config{
		Region:                      os.Getenv("AWS_REGION"),
		Credentials:                 credentials.NewStaticCredentialsProvider(os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")),
		HTTPClient:                  awshttp.NewBuildableClient(), // one for all services
		RequestMinCompressSizeBytes: minCompressSize,
		ConfigSources:               []any{e},
	}
	if url := os.Getenv("AWS_ENDPOINT_URL"); url != "" {
		cfg.BaseEndpoint = &url
	}
	return cfg, nil
}

// endpoints tell the SDK's clients which of their endpoints to use.
type endpoints struct{ fips, dualStack bool }

// GetServiceBaseEndpoint is asked with the SDK's name of a service, such as "DynamoDB".
func (endpoints) GetServiceBaseEndpoint(_ context.Context, service string) (string, bool, error) {
	url := os.Getenv("AWS_ENDPOINT_URL_" + strings.ReplaceAll(strings.ToUpper(service), " ", "_"))
	return url, url != "", nil
}

func (e endpoints) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	return aws.FIPSEndpointStateEnabled, e.fips, nil
}

func (e endpoints) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	return aws.DualStackEndpointStateEnabled, e.dualStack, nil
}
