package localcloud

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cronfence/cronfence/internal/localcloud/assembly"
	"github.com/cronfence/cronfence/internal/localcloud/dynamodbapi"
	"github.com/cronfence/cronfence/pkg/job/notes"
)

// endpointVariable is where AWS SDKs look for DynamoDB first, emulatorVariable for any service.
const (
	endpointVariable = "AWS_ENDPOINT_URL_DYNAMODB"
	emulatorVariable = "AWS_ENDPOINT_URL"
)

// serveTables makes the DynamoDB that the jobs speak to. Their schedulers' tables are the
// memory stores; the others of the assembly are empty at first, unless the caller has an
// emulator, where they are then.
func (c *Cloud) serveTables(a *assembly.Assembly, environ []string) error {
	var tables []dynamodbapi.Table
	for _, j := range c.jobs {
		if !slices.ContainsFunc(tables, func(t dynamodbapi.Table) bool { return t.Name == j.table }) {
			tables = append(tables, dynamodbapi.SchedulerTable(j.table, c.store(j.table)))
		}
	}
	emulator := cmp.Or(variable(environ, endpointVariable), variable(environ, emulatorVariable))
	for _, t := range a.Tables {
		known := slices.ContainsFunc(tables, func(k dynamodbapi.Table) bool { return k.Name == t.Name })
		if known || emulator != "" {
			continue
		}
		tables = append(tables, dynamodbapi.Table{
			Name: t.Name, Hash: dynamodbapi.Key(t.Hash), Sort: dynamodbapi.Key(t.Sort),
		})
	}
	listener, err := c.config.listen()
	if err != nil {
		return fmt.Errorf("listen for DynamoDB: %w", err)
	}
	if c.tables, err = dynamodbapi.NewServer(listener, tables, emulator); err != nil {
		return err
	}
	c.dynamo = dynamodb.New(dynamodb.Options{
		Region: assembly.Region, BaseEndpoint: aws.String(c.tables.URL()), HTTPClient: http.DefaultClient, // as all else here
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: worthless, SecretAccessKey: worthless}, nil
		}),
	})
	return nil
}

// notesOf reads the progress notes in a scheduler's table.
func (c *Cloud) notesOf(table string) func(ctx context.Context, job, tick string) ([]notes.Note, error) {
	return func(ctx context.Context, job, tick string) ([]notes.Note, error) {
		return notes.List(ctx, c.dynamo, table, job, tick)
	}
}

// worthless is what stands for credentials where none are meant.
const worthless = "local"

// commandEnv is the environment of a user's command: his own, but for DynamoDB, which is the
// local cloud's. AWS SDKs send nothing without credentials: where he names none in his
// environment the command gets worthless ones, and reaches nothing of his by accident.
func commandEnv(environ []string, tables string) []string {
	env := append(slices.Clone(environ), endpointVariable+"="+tables)
	named := slices.ContainsFunc([]string{
		"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	}, func(name string) bool { return variable(environ, name) != "" })
	if !named {
		env = append(env, "AWS_ACCESS_KEY_ID="+worthless, "AWS_SECRET_ACCESS_KEY="+worthless)
	}
	if variable(environ, "AWS_REGION") == "" && variable(environ, "AWS_DEFAULT_REGION") == "" && !named {
		env = append(env, "AWS_REGION="+assembly.Region, "AWS_DEFAULT_REGION="+assembly.Region)
	}
	return env
}

// variable is the value of an environment variable: of several, the last one's.
func variable(environ []string, name string) (value string) {
	for _, v := range environ {
		if n, of, _ := strings.Cut(v, "="); n == name {
			value = of
		}
	}
	return value
}
