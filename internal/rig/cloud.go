package rig

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Cloud is a test's way to an emulator that its package's tests share.
type Cloud struct {
	Endpoint string
	Config   aws.Config // for the SDK's NewFromConfig functions
	Requests *Requests  // what was sent with Config
}

// Moto returns a way to the package's moto server: the better DynamoDB (transactions with
// old items, races) and Step Functions that remember executions but run none.
func Moto(t testing.TB) Cloud {
	t.Helper()
	return cloud(t, moto, "moto")
}

// MotoSteps returns a way to a moto server of its own that runs state machines. Functions
// that their tasks invoke are those given to Handle.
func MotoSteps(t testing.TB) Cloud {
	t.Helper()
	return cloud(t, motoSteps, "moto")
}

// Ministack returns a way to the package's ministack: slower, but it also deploys stacks and
// runs their Lambda functions and state machines. It fires no schedules: see package ticker.
func Ministack(t testing.TB) Cloud {
	t.Helper()
	return cloud(t, ministack, "ministack")
}

func cloud(t testing.TB, e *emulator, key string) Cloud {
	t.Helper()
	endpoint := e.endpoint(t)
	requests := newRequests()
	// Never a literal aws.Config: without the defaults the SDK gzips some requests, which
	// emulators drop silently. Nothing of the user's own configuration is read.
	cfg, err := config.LoadDefaultConfig(t.Context(),
		config.WithSharedConfigFiles([]string{}),
		config.WithSharedCredentialsFiles([]string{}),
		config.WithRegion("eu-west-1"),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(key, "secret", "")),
		config.WithBaseEndpoint(endpoint),
	)
	if err != nil {
		t.Fatalf("load AWS configuration: %v", err)
	}
	cfg.HTTPClient = requests // not by an option: AWS_CA_BUNDLE in the environment would refuse it
	return Cloud{Endpoint: endpoint, Config: cfg, Requests: requests}
}

// Table makes an empty table with the keys of package schema and returns its name. It is
// deleted when the test ends. Its requests are not counted.
func (c Cloud) Table(t testing.TB) string {
	t.Helper()
	client := dynamodb.NewFromConfig(c.Config)
	name := "cronfence-" + rand.Text()[:12]
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:   &name,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			text(schema.PK), text(schema.SK), text(schema.GuardIndexPK),
		},
		KeySchema: keys(schema.PK, schema.SK),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String(schema.GuardIndex),
			KeySchema:  keys(schema.GuardIndexPK, schema.PK),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	})
	if err != nil {
		t.Fatalf("create table: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second) // the test's own context is over
		defer cancel()
		c.Requests.Around(nil)
		if _, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
			t.Errorf("delete table: %v", err)
		}
	})
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 50*time.Millisecond, 500*time.Millisecond
	})
	if err := waiter.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: &name}, 30*time.Second); err != nil {
		t.Fatalf("wait for table: %v", err)
	}
	c.Requests.Reset()
	return name
}

func text(name string) types.AttributeDefinition {
	return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
}

func keys(hash, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: &hash, KeyType: types.KeyTypeHash},
		{AttributeName: &sort, KeyType: types.KeyTypeRange},
	}
}
