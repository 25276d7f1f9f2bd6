package localcloud

import (
	"slices"
	"testing"
)

// A command reaches DynamoDB here alone, and nothing of the user's that he did not name.
func TestACommandsEnvironment(t *testing.T) {
	const url = "http://127.0.0.1:1"
	for name, c := range map[string]struct {
		caller                       []string
		key, secret, region, inWhere string
	}{
		"nothing named": {[]string{"HOME=/h"}, "local", "local", "local-1", url},
		"a profile":     {[]string{"AWS_PROFILE=dev"}, "", "", "", url},
		"keys":          {[]string{"AWS_ACCESS_KEY_ID=mine", "AWS_SECRET_ACCESS_KEY=s", "AWS_REGION=eu-west-1"}, "mine", "s", "eu-west-1", url},
		"an emulator":   {[]string{"AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:2", "AWS_REGION=eu-west-1"}, "local", "local", "eu-west-1", url},
	} {
		env := commandEnv(c.caller, url)
		got := []string{variable(env, "AWS_ACCESS_KEY_ID"), variable(env, "AWS_SECRET_ACCESS_KEY"), variable(env, "AWS_REGION"), variable(env, endpointVariable)}
		if want := []string{c.key, c.secret, c.region, c.inWhere}; !slices.Equal(got, want) || !slices.Contains(env, c.caller[0]) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
