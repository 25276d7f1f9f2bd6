package example

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/internal/localcloud/dynamodbapi"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/jobtest"
)

// books are tables that remember what was written; their guard is held by run r with fence 7
// until it is taken.
type books struct {
	Tables
	mu     sync.Mutex
	taken  bool
	notes  []string
	synced int
}

func (b *books) take() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken = true
}

func (b *books) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fence := "7"
	if b.taken {
		fence = "8"
	}
	return &dynamodb.GetItemOutput{Item: map[string]types.AttributeValue{
		"run":   &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "r"}}},
		"fence": &types.AttributeValueMemberN{Value: fence},
	}}, nil
}

func (b *books) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, in.Item["text"].(*types.AttributeValueMemberS).Value)
	return &dynamodb.PutItemOutput{}, nil
}

func (b *books) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.synced++
	return &dynamodb.UpdateItemOutput{}, nil
}

// object is a run object with so long to its deadline.
func object(t *testing.T, maxRun time.Duration) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(schema.RunObject{Scheduler: "example", Table: "t", RunInput: schema.RunInput{
		Job: "a", Tick: "2026-09-07T02:00:00Z", Run: "r", Fence: 7, Attempt: 1, Deadline: time.Now().Add(maxRun).UTC().Format(time.RFC3339), Interval: 900,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestJobsTakeTheirTimeAndKeepBooks(t *testing.T) {
	for name, want := range map[string]struct {
		takes  time.Duration
		notes  int
		last   string
		synced int
	}{
		"cleanup": {2*time.Minute + 50*time.Second, batches, "17 of 17", 0},
		"sync":    {32 * time.Second, 1, "8 of 8, 4s of 36s left", pages},
		"report":  {8 * time.Minute, 0, "", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			b, began := &books{}, time.Now()
			maxRun := 15 * time.Minute
			if name == "sync" {
				maxRun = 45 * time.Second
			}
			err := Jobs[name](App{Tables: b, Clock: realTime{}})(t.Context(), object(t, maxRun))
			last := strings.Join(b.notes[max(0, len(b.notes)-1):], "")
			if took := time.Since(began); err != nil || took != want.takes || len(b.notes) != want.notes || last != want.last || b.synced != want.synced {
				t.Errorf("%s: %v, took %v, notes %q, synced %d: want %+v", name, err, took, b.notes, b.synced, want)
			}
		})
	}
}

// A sync that has less time takes up fewer pages and ends in time.
func TestTheSyncKeepsToItsBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &books{}
		if err := Sync(App{Tables: b, Clock: realTime{}})(t.Context(), object(t, 20*time.Second)); err != nil || b.synced != 4 {
			t.Errorf("%v, %d pages: want 4 in 16 s", err, b.synced)
		}
	})
}

func TestJobsEndWhenTheirGuardIsTaken(t *testing.T) {
	for name, handler := range Jobs {
		synctest.Test(t, func(t *testing.T) {
			b := &books{}
			time.AfterFunc(5*time.Second, b.take)
			began := time.Now()
			err := handler(App{Tables: b, Clock: realTime{}})(t.Context(), object(t, 15*time.Minute))
			var named messages.InvokeResponse_Error
			if !errors.As(err, &named) || named.Type != schema.ErrorLeaseLost || time.Since(began) != 10*time.Second {
				t.Errorf("%s: %v after %v: want %s at the next look", name, err, time.Since(began), schema.ErrorLeaseLost)
			}
		})
	}
}

// instant is a clock on which nothing takes time.
type instant struct{}

func (instant) Now() time.Time { return time.Time{} }

func (instant) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func TestLateWritesOfTheSyncAreRefused(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, err := dynamodbapi.NewServer(listener, []dynamodbapi.Table{
		{Name: "catalog", Hash: dynamodbapi.Key{Name: CatalogKey, Type: "S"}}, dynamodbapi.SchedulerTable("scheduler", nil),
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client := dynamodb.New(dynamodb.Options{
		Region: "local-1", BaseEndpoint: aws.String(server.URL()),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
	read := func(ctx context.Context) ([]map[string]types.AttributeValue, error) {
		out, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("catalog")})
		if err != nil {
			return nil, err
		}
		return out.Items, nil
	}
	tried := jobtest.Drill(t, jobtest.Job{
		Work: App{Tables: client, Catalog: "catalog", Clock: instant{}}.sync,
		Run:  job.Run{Table: "scheduler"},
		Reset: func(ctx context.Context) error {
			items, err := read(ctx)
			for _, i := range items {
				_, failed := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("catalog"), Key: map[string]types.AttributeValue{CatalogKey: i[CatalogKey]}})
				err = errors.Join(err, failed)
			}
			return err
		},
		State: func(ctx context.Context) (any, error) {
			items, err := read(ctx)
			state := map[string]string{}
			for _, i := range items {
				state[i[CatalogKey].(*types.AttributeValueMemberS).Value] = fmt.Sprint(i["syncedFor"])
			}
			return state, err
		},
	})
	if tried < pages*pages {
		t.Errorf("tried %d interleavings", tried)
	}
}
