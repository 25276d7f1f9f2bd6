package dynamodbapi_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/dispatch"
	"github.com/cronfence/cronfence/internal/localcloud/dynamodbapi"
	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencedynamo"
	"github.com/cronfence/cronfence/pkg/job/notes"
	"github.com/cronfence/cronfence/pkg/policy"
)

const schedulerTable = "Scheduler-Table"

// held is a job whose guard a run holds.
func held(t *testing.T) (w *testworld.World, spec schema.Spec, started dispatch.Reply, run job.Run) {
	t.Helper()
	w = testworld.New(t, nil)
	spec = testworld.Minutely("cleanup")
	spec.Overlap, spec.GraceSeconds = policy.Replace, 20
	w.Established(spec, "01:59")
	w.At("02:00:00")
	started = w.Tick(spec, "02:00")
	return w, spec, started, job.Run{Scheduler: testworld.Scheduler, Table: schedulerTable, Job: "cleanup", Tick: started.Tick, ID: started.Run, Fence: started.Fence}
}

func TestAJobReadsItsGuardAndChecksItInATransaction(t *testing.T) {
	w, spec, started, run := held(t)
	client := serve(t, "", dynamodbapi.SchedulerTable(schedulerTable, w.Store), orders("orders"))
	state, err := fencedynamo.Guard(client)(t.Context(), run)
	if err != nil || !state.Held || state.Stop != nil || !state.LeaseUntil.Equal(testworld.Midnight.Add(2*time.Hour+2*time.Minute)) {
		t.Errorf("its guard: %+v, %v", state, err)
	}
	fenced := fencedynamo.New(client, run)
	book := func(id string) error {
		_, err := fenced.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: aws.String("orders"), Item: order(id)}},
		}})
		return err
	}
	if err := book("a"); err != nil {
		t.Errorf("a transaction of the holder: %v", err)
	}
	w.At("02:01:00")
	w.Tick(spec, "02:01")
	if state, err = fencedynamo.Guard(client)(t.Context(), run); err != nil || state.Stop == nil || state.Stop.ByTick != "2026-09-07T02:01:00Z" {
		t.Errorf("asked to stop: %+v, %v", state, err)
	}
	if _, err := w.Succeed(started); err != nil {
		t.Fatal(err)
	}
	if state, err = fencedynamo.Guard(client)(t.Context(), run); err != nil || state.Held {
		t.Errorf("its end: %+v, %v", state, err)
	}
	var refused *job.FencedError
	if err := book("b"); !errors.As(err, &refused) {
		t.Errorf("a late transaction: %v", err)
	}
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("orders")})
	if err != nil || len(out.Items) != 1 {
		t.Errorf("%d orders, %v: want the one", len(out.Items), err)
	}
}

// A job sees the same guard here as in the table that the DynamoDB store writes.
func TestAGuardIsTheItemThatTheStoreWrites(t *testing.T) {
	moto := rig.Moto(t)
	there, table := dynamodb.NewFromConfig(moto.Config), moto.Table(t)
	store := dynamo.New(there, table)
	w := testworld.New(t, store)
	spec := testworld.Minutely("cleanup")
	spec.Overlap, spec.GraceSeconds = policy.Replace, 20
	w.Established(spec, "01:59")
	w.At("02:00:00")
	w.Tick(spec, "02:00")
	w.At("02:01:00")
	w.Tick(spec, "02:01")
	here := serve(t, "", dynamodbapi.SchedulerTable(table, store))
	in := &dynamodb.GetItemInput{TableName: &table, Key: attributes{"pk": s("cleanup"), "sk": s("guard")}, ConsistentRead: aws.Bool(true)}
	want, err := there.GetItem(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := here.GetItem(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := result(nil, want.Item), result(nil, got.Item); a != b {
		t.Errorf("got\n%s\nwant\n%s", b, a)
	}
}

func TestNotesAreKeptAndNothingElseOfASchedulersTableIsWritten(t *testing.T) {
	w, _, _, run := held(t)
	client := serve(t, "", dynamodbapi.SchedulerTable(schedulerTable, w.Store))
	at := time.Date(2026, 9, 7, 2, 0, 5, 0, time.UTC)
	if err := notes.Put(t.Context(), client, run, "page", "1 of 3", at); err != nil {
		t.Fatal(err)
	}
	older := run
	older.Fence--
	if err := notes.Put(t.Context(), client, older, "page", "0 of 3", at); !errors.Is(err, job.ErrFenced) {
		t.Errorf("an older attempt's note: %v", err)
	}
	got, err := notes.List(t.Context(), client, schedulerTable, run.Job, run.Tick)
	if want := []notes.Note{{Name: "page", Text: "1 of 3", At: at, Run: run.ID, Fence: run.Fence}}; err != nil || !cmp.Equal(want, got) {
		t.Errorf("notes: %+v, %v", got, err)
	}
	guardKey := attributes{"pk": s("cleanup"), "sk": s("guard")}
	here := account{client, schedulerTable}
	for what, err := range map[string]string{
		"put":    result(second(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &here.table, Item: guardKey})), ""),
		"update": here.update(guardKey, "SET fence = :f", "", nil, attributes{":f": n(9)}, ""),
		"delete": result(second(client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &here.table, Key: guardKey})), ""),
		"row":    result(second(client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &here.table, Key: attributes{"pk": s("cleanup"), "sk": s("tick#" + run.Tick)}})), ""),
		"query":  here.query("pk = :pk", attributes{":pk": s("cleanup")}, nil),
		"scan":   result(second(client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &here.table})), ""),
	} {
		if err != "AccessDeniedException" {
			t.Errorf("%s: %s", what, err)
		}
	}
	if g := w.Guard("cleanup"); g.Fence != run.Fence {
		t.Errorf("the guard's fence is %d: want %d", g.Fence, run.Fence)
	}
}

func second[T any](_ T, err error) error { return err }

func TestWhatIsNotServedIsRefusedByName(t *testing.T) {
	client := serve(t, "", orders("orders"), orders("carts"))
	for want, err := range map[string]error{
		"does not serve BatchWriteItem; it serves GetItem,": second(client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{"orders": {{PutRequest: &types.PutRequest{Item: order("a")}}}},
		})),
		`does not serve the parameter "IndexName"`: second(client.Query(t.Context(), &dynamodb.QueryInput{
			TableName: aws.String("orders"), IndexName: aws.String("i"), KeyConditionExpression: aws.String("pk = :pk"),
		})),
		`table "nowhere" is not in the local cloud: it has the tables that the assembly declares, carts, orders`: second(client.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("nowhere"), Key: order("a"),
		})),
		"status is a reserved word: call it by a name such as #status": second(client.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("orders"), Item: order("a"), ConditionExpression: aws.String("attribute_not_exists(status)"),
		})),
		"cannot be read at": second(client.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("orders"), Item: order("a"), ConditionExpression: aws.String("a ! b"),
		})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v: want %s", err, want)
		}
	}
}

// The SDK repeats a transaction whose answer was lost, with the same token.
func TestATransactionIsDoneOnceByItsToken(t *testing.T) {
	client := serve(t, "", orders("orders"))
	add := func(id, token string) error {
		_, err := client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{ClientRequestToken: &token, TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{TableName: aws.String("orders"), Key: order(id), UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: attributes{":one": n(1)}}},
		}})
		return err
	}
	var mismatch *types.IdempotentParameterMismatchException
	if err := errors.Join(add("a", "1"), add("a", "1"), add("a", "2")); err != nil {
		t.Error(err)
	}
	if err := add("b", "2"); !errors.As(err, &mismatch) {
		t.Errorf("a token used twice: %v", err)
	}
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: order("a")})
	if err != nil || !cmp.Equal(out.Item["n"].(*types.AttributeValueMemberN).Value, "2") {
		t.Errorf("n is %v, %v: want 2", out.Item["n"], err)
	}
}

// Where the caller has an emulator his own tables are there.
func TestOtherTablesAreTheEmulators(t *testing.T) {
	moto := rig.Moto(t)
	there, table := dynamodb.NewFromConfig(moto.Config), moto.Table(t)
	w, _, _, run := held(t)
	url := *serve(t, moto.Endpoint, dynamodbapi.SchedulerTable(schedulerTable, w.Store)).Options().BaseEndpoint
	client := dynamodb.NewFromConfig(moto.Config, func(o *dynamodb.Options) { o.BaseEndpoint = &url })
	if _, err := fencedynamo.New(client, run).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: order("a")}); err != nil {
		t.Error(err)
	}
	out, err := there.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: order("a")})
	if err != nil || len(out.Item) != 3 {
		t.Errorf("in the emulator: %v, %v", out.Item, err)
	}
	if state, err := fencedynamo.Guard(client)(t.Context(), run); err != nil || !state.Held {
		t.Errorf("its guard: %+v, %v", state, err)
	}
	_, err = fencedynamo.New(client, run).TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: &table, Item: order("b")}},
	}})
	if err == nil || !strings.Contains(err.Error(), "one request for a scheduler's table and for tables of the emulator") {
		t.Errorf("a transaction over both: %v", err)
	}
}

// A page in a browser can neither send the header nor be at the address.
func TestOnlyWhatAnSDKSendsIsAnswered(t *testing.T) {
	server, err := dynamodbapi.NewServer(loopback(t), []dynamodbapi.Table{orders("orders")}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for name, change := range map[string]func(*http.Request){
		"no target":  func(r *http.Request) { r.Header.Del("X-Amz-Target") },
		"other host": func(r *http.Request) { r.Host = "attacker.example" },
		"get":        func(r *http.Request) { r.Method = http.MethodGet },
	} {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL(), strings.NewReader(`{"TableName":"orders"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.Scan")
		change(r)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, answer.StatusCode)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

var _ dynamodbapi.Guards = guard.Store(nil)

// loopback listens on a free port of 127.0.0.1.
func loopback(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
