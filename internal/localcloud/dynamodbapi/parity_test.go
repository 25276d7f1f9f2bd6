package dynamodbapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"go.uber.org/goleak"

	"github.com/cronfence/cronfence/internal/localcloud/dynamodbapi"
	"github.com/cronfence/cronfence/internal/rig"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(rigged{m}) }

// rigged stops the emulators before leaks are looked for.
type rigged struct{ *testing.M }

func (r rigged) Run() int { return rig.Run(r.M) }

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v int) types.AttributeValue    { return &types.AttributeValueMemberN{Value: fmt.Sprint(v)} }

type attributes = map[string]types.AttributeValue

func order(id string, more ...any) attributes {
	a := attributes{"pk": s("orders"), "sk": s(id)}
	for i := 0; i < len(more); i += 2 {
		a[more[i].(string)] = more[i+1].(types.AttributeValue)
	}
	return a
}

func list(v ...types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberL{Value: v}
}
func doc(v attributes) types.AttributeValue { return &types.AttributeValueMemberM{Value: v} }
func set(v ...string) types.AttributeValue  { return &types.AttributeValueMemberSS{Value: v} }

// result is what came of a request, in a form that can be compared.
func result(err error, answer any) string {
	var api smithy.APIError
	var failed *types.ConditionalCheckFailedException
	var cancelled *types.TransactionCanceledException
	switch {
	case err == nil:
		b, _ := json.Marshal(answer)
		return string(b)
	case errors.As(err, &failed):
		b, _ := json.Marshal(failed.Item)
		return "refused, with " + string(b)
	case errors.As(err, &cancelled):
		text := "cancelled:"
		for _, r := range cancelled.CancellationReasons {
			b, _ := json.Marshal(r.Item)
			text += " " + aws.ToString(r.Code) + " " + string(b)
		}
		return text
	case errors.As(err, &api):
		return api.ErrorCode()
	}
	return err.Error()
}

// account is a client and its table.
type account struct {
	*dynamodb.Client
	table string
}

func (a account) update(key attributes, update, condition string, names map[string]string, values attributes, returns types.ReturnValue) string {
	in := &dynamodb.UpdateItemInput{
		TableName: &a.table, Key: key, ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValues: returns,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if update != "" {
		in.UpdateExpression = &update
	}
	if condition != "" {
		in.ConditionExpression = &condition
	}
	out, err := a.UpdateItem(context.Background(), in)
	if err != nil {
		return result(err, nil)
	}
	return result(nil, out.Attributes)
}

func (a account) query(condition string, values attributes, change func(*dynamodb.QueryInput)) string {
	in := &dynamodb.QueryInput{TableName: &a.table, KeyConditionExpression: &condition, ExpressionAttributeValues: values, ConsistentRead: aws.Bool(true)}
	if change != nil {
		change(in)
	}
	out, err := a.Query(context.Background(), in)
	if err != nil {
		return result(err, nil)
	}
	return result(nil, []any{out.Items, out.Count, out.ScannedCount, out.LastEvaluatedKey})
}

// steps are requests one after the other, each of which must come to the same here as there.
var steps = []func(a account) string{
	func(a account) string {
		out, err := a.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &a.table, Item: order("a", "n", n(5), "tags", set("x", "y"), "m", doc(attributes{"l": list(n(1), n(2), n(3))})), ReturnValues: "ALL_OLD"})
		return result(err, out)[:1]
	},
	func(a account) string {
		return a.update(order("a"), "SET n = n + :one, #m.l[1] = :x REMOVE nothing ADD amount :one DELETE tags :tag", "n >= :five AND contains(tags, :t) AND attribute_type(#m, :map)",
			map[string]string{"#m": "m"}, attributes{":one": n(1), ":x": s("x"), ":tag": set("x"), ":five": n(5), ":t": s("y"), ":map": s("M")}, "ALL_NEW")
	},
	func(a account) string {
		return a.update(order("a"), "SET n = :v", "(attribute_not_exists(n) OR n <= :v) AND NOT n IN (:v, :w)", nil, attributes{":v": n(6), ":w": n(9)}, "")
	},
	func(a account) string {
		return a.update(order("b"), "SET n = if_not_exists(n, :zero) + :one, entries = list_append(if_not_exists(entries, :none), :more)", "attribute_not_exists(pk)",
			nil, attributes{":zero": n(0), ":one": n(1), ":none": list(), ":more": list(s("hello"))}, "ALL_NEW")
	},
	func(a account) string {
		return a.update(order("b"), "REMOVE m.l[0], n", "size(entries) = :one AND n BETWEEN :one AND :two AND begins_with(sk, :b) AND missing <> :one", nil, attributes{":one": n(1), ":two": n(2), ":b": s("b")}, "ALL_OLD")
	},
	func(a account) string {
		return a.update(order("a"), "REMOVE m.l[0], m.l[1]", "", nil, nil, "ALL_NEW")
	},
	func(a account) string {
		return a.update(order("a"), "SET sk = :v", "", nil, attributes{":v": s("z")}, "")
	},
	func(a account) string {
		return a.update(order("a"), "SET n = :v", "", nil, attributes{":v": n(1), ":w": n(2)}, "")
	},
	func(a account) string { return a.update(order("a"), "SET n = nowhere", "", nil, nil, "") },
	func(a account) string {
		return a.update(order("fresh"), "SET n = :v", "", nil, attributes{":v": n(1)}, "ALL_NEW")
	},
	func(a account) string {
		return a.update(order("a"), "SET total = :v", "", nil, attributes{":v": n(1)}, "")
	}, // a reserved word
	func(a account) string {
		_, err := a.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: &a.table, Key: attributes{"pk": s("orders")}})
		return result(err, "")
	},
	func(a account) string {
		return a.query("pk = :pk AND sk > :sk", attributes{":pk": s("orders"), ":sk": s("a")}, nil)
	},
	func(a account) string {
		return a.query("pk = :pk", attributes{":pk": s("orders"), ":n": n(5)}, func(in *dynamodb.QueryInput) {
			in.Limit, in.ScanIndexForward, in.FilterExpression = aws.Int32(2), aws.Bool(false), aws.String("n > :n")
		})
	},
	func(a account) string {
		return a.query("pk = :pk", attributes{":pk": s("orders")}, func(in *dynamodb.QueryInput) {
			in.ExclusiveStartKey, in.ProjectionExpression = order("a"), aws.String("sk, entries")
		})
	},
	func(a account) string {
		return a.query("pk = :pk AND begins_with(sk, :sk)", attributes{":pk": s("orders"), ":sk": s("b")}, func(in *dynamodb.QueryInput) { in.Select = "COUNT" })
	},
	func(a account) string { return a.query("pk > :pk", attributes{":pk": s("orders")}, nil) },
	func(a account) string { return a.query("sk = :sk", attributes{":sk": s("a")}, nil) },
	func(a account) string {
		out, err := a.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &a.table, Key: order("a"), ProjectionExpression: aws.String("n, tags")})
		if err != nil {
			return result(err, nil)
		}
		return result(nil, out.Item)
	},
	func(a account) string {
		return a.transact(
			types.TransactWriteItem{Put: &types.Put{TableName: &a.table, Item: order("c")}},
			types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: &a.table, Key: order("a"), ConditionExpression: aws.String("attribute_not_exists(pk)"), ReturnValuesOnConditionCheckFailure: "ALL_OLD"}})
	},
	func(a account) string {
		return a.transact(
			types.TransactWriteItem{Put: &types.Put{TableName: &a.table, Item: order("d")}},
			types.TransactWriteItem{Update: &types.Update{TableName: &a.table, Key: order("a"), UpdateExpression: aws.String("REMOVE tags, m")}},
			types.TransactWriteItem{Delete: &types.Delete{TableName: &a.table, Key: order("b")}})
	},
	func(a account) string {
		return a.transact(
			types.TransactWriteItem{Put: &types.Put{TableName: &a.table, Item: order("e")}},
			types.TransactWriteItem{Delete: &types.Delete{TableName: &a.table, Key: order("e")}})
	},
	func(a account) string { return a.query("pk = :pk", attributes{":pk": s("orders")}, nil) },
	func(a account) string {
		_, err := a.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("nowhere"), Key: order("a")})
		return result(err, "")
	},
}

func (a account) transact(items ...types.TransactWriteItem) string {
	_, err := a.TransactWriteItems(context.Background(), &dynamodb.TransactWriteItemsInput{TransactItems: items})
	return result(err, "")
}

// client speaks with a server as a job would, with credentials that mean nothing.
func client(url string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "local-1", BaseEndpoint: &url, RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
}

func serve(t *testing.T, elsewhere string, tables ...dynamodbapi.Table) *dynamodb.Client {
	t.Helper()
	server, err := dynamodbapi.NewServer(loopback(t), tables, elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return client(server.URL())
}

func orders(name string) dynamodbapi.Table {
	return dynamodbapi.Table{Name: name, Hash: dynamodbapi.Key{Name: "pk", Type: "S"}, Sort: dynamodbapi.Key{Name: "sk", Type: "S"}}
}

// The same requests come to the same on an emulator that has been used for years.
func TestRequestsComeToWhatTheyComeToOnMoto(t *testing.T) {
	moto := rig.Moto(t)
	there := account{dynamodb.NewFromConfig(moto.Config, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 }), moto.Table(t)}
	here := account{serve(t, "", orders("orders")), "orders"}
	for i, step := range steps {
		want := step(there)
		if got := step(here); got != want {
			t.Errorf("step %d: got\n%s\nwant\n%s", i, got, want)
		}
	}
}
