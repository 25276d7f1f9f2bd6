package boot

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
)

var errNotSent = errors.New("not sent")

// seen keeps the last request and sends none.
type seen struct{ request *http.Request }

func (s *seen) Do(r *http.Request) (*http.Response, error) { s.request = r; return nil, errNotSent }

// given sets what Lambda does and what is said, and nothing that the machine has.
func given(t *testing.T, environment ...string) {
	t.Helper()
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SFN", "AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT"} {
		t.Setenv(name, "") // set back when the test ends
		_ = os.Unsetenv(name)
	}
	for _, pair := range append([]string{"AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=AKID", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=token"}, environment...) {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
}

func TestEnvironmentSaysWhereRequestsGoAndWhoSignsThem(t *testing.T) {
	for _, c := range []struct{ environment, dynamo, steps string }{
		{"", "https://dynamodb.eu-west-1.amazonaws.com", "https://states.eu-west-1.amazonaws.com"},
		{"AWS_REGION=cn-north-1", "https://dynamodb.cn-north-1.amazonaws.com.cn", "https://states.cn-north-1.amazonaws.com.cn"},
		{"AWS_USE_FIPS_ENDPOINT=true AWS_REGION=us-east-1", "https://dynamodb-fips.us-east-1.amazonaws.com", "https://states-fips.us-east-1.amazonaws.com"},
		{"AWS_USE_DUALSTACK_ENDPOINT=true", "https://dynamodb.eu-west-1.api.aws", "https://states.eu-west-1.api.aws"},
		{"AWS_ENDPOINT_URL=http://127.0.0.1:1", "http://127.0.0.1:1", "http://127.0.0.1:1"},
		{"AWS_ENDPOINT_URL=http://127.0.0.1:1 AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:2", "http://127.0.0.1:2", "http://127.0.0.1:1"},
	} {
		given(t, strings.Fields(c.environment)...)
		dynamo, steps := sent(t)
		if got := origin(dynamo); got != c.dynamo {
			t.Errorf("%s: DynamoDB's are sent to %s, want %s", c.environment, got, c.dynamo)
		}
		if got := origin(steps); got != c.steps {
			t.Errorf("%s: Step Functions' are sent to %s, want %s", c.environment, got, c.steps)
		}
		if a := dynamo.Header.Get("Authorization"); !strings.Contains(a, "Credential=AKID/") || dynamo.Header.Get("X-Amz-Security-Token") != "token" {
			t.Errorf("%s: signed by %s, token %q", c.environment, a, dynamo.Header.Get("X-Amz-Security-Token"))
		}
	}
}

// sent is one request each of the two services.
func sent(t *testing.T) (dynamo, steps *http.Request) {
	t.Helper()
	cfg, err := AWS()
	if err != nil {
		t.Fatal(err)
	}
	client := &seen{}
	cfg.HTTPClient, cfg.Retryer = client, func() aws.Retryer { return aws.NopRetryer{} }
	if _, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), nil); !errors.Is(err, errNotSent) {
		t.Fatal(err)
	}
	dynamo = client.request
	if _, err := sfn.NewFromConfig(cfg).ListStateMachines(t.Context(), nil); !errors.Is(err, errNotSent) {
		t.Fatal(err)
	}
	return dynamo, client.request
}

func origin(r *http.Request) string { return r.URL.Scheme + "://" + r.URL.Host }

func TestWhatLambdaDidNotSetIsSaid(t *testing.T) {
	for _, c := range []struct{ environment, want string }{
		{"AWS_REGION=", "AWS_REGION: must be set"},
		{"AWS_ACCESS_KEY_ID=", "AWS_ACCESS_KEY_ID: must be set"},
		{"AWS_SECRET_ACCESS_KEY=", "AWS_SECRET_ACCESS_KEY: must be set"},
		{"AWS_USE_FIPS_ENDPOINT=yes", `AWS_USE_FIPS_ENDPOINT: "yes": must be true or false`},
	} {
		given(t, c.environment)
		if _, err := AWS(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.environment, err, c.want)
		}
	}
}

// What the functions link is loaded and initialised at every cold start.
func TestNoFunctionLinksASearchForCredentials(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "../../functions/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		for _, not := range []string{"aws-sdk-go-v2/config", "aws-sdk-go-v2/service/sts", "aws-sdk-go-v2/service/sso"} {
			if strings.HasSuffix(strings.TrimSpace(dep), not) {
				t.Errorf("a function links %s", dep)
			}
		}
	}
}
