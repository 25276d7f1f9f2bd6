package fencedynamo_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencedynamo"
	"github.com/cronfence/cronfence/pkg/job/internal/fencetest"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// world is a table in which places are items whose attribute log lists the writes.
type world struct {
	client *dynamodb.Client
	table  string
}

func newWorld(t *testing.T, c rig.Cloud) world {
	t.Helper()
	return world{dynamodb.NewFromConfig(c.Config), c.Table(t)}
}

func (w world) key(n int) item {
	return item{"pk": text(fmt.Sprintf("place-%d", n)), "sk": text("log")}
}

// add is the update that appends to the log of a place.
func (w world) add(n int, fence int64) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: &w.table, Key: w.key(n),
		UpdateExpression:         aws.String("SET #log = list_append(if_not_exists(#log, :none), :one)"),
		ExpressionAttributeNames: map[string]string{"#log": "log"},
		ExpressionAttributeValues: item{
			":none": &types.AttributeValueMemberL{Value: []types.AttributeValue{}},
			":one":  &types.AttributeValueMemberL{Value: []types.AttributeValue{number(fence)}},
		},
	}
}

// inTransaction is the same update as part of a transaction.
func (w world) inTransaction(n int, fence int64) types.TransactWriteItem {
	in := w.add(n, fence)
	return types.TransactWriteItem{Update: &types.Update{
		TableName: in.TableName, Key: in.Key, UpdateExpression: in.UpdateExpression,
		ExpressionAttributeNames: in.ExpressionAttributeNames, ExpressionAttributeValues: in.ExpressionAttributeValues,
	}}
}

// begin makes the run the holder of its job's guard, as the dispatcher does, and notes that.
func (w world) begin(ctx context.Context, run job.Run, n int) error {
	_, err := w.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String(rand.Text()),
		TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{
				TableName: &w.table, Key: item{"pk": text(run.Job), "sk": text("guard")},
				UpdateExpression:         aws.String("SET #run = :run, #fence = :fence"),
				ConditionExpression:      aws.String("attribute_not_exists(#fence) OR #fence < :fence"),
				ExpressionAttributeNames: map[string]string{"#run": "run", "#fence": "fence"},
				ExpressionAttributeValues: item{
					":run": &types.AttributeValueMemberM{Value: item{"id": text(run.ID)}}, ":fence": number(run.Fence),
				},
			}},
			w.inTransaction(n, -run.Fence),
		},
	})
	if cancelled := new(types.TransactionCanceledException); errors.As(err, &cancelled) {
		return &job.FencedError{Fence: run.Fence}
	}
	return err
}

func (w world) landed(ctx context.Context, n int) (fences []int64, err error) {
	out, err := w.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.table, Key: w.key(n)})
	if err != nil {
		return nil, err
	}
	list, ok := out.Item["log"].(*types.AttributeValueMemberL)
	if !ok {
		return nil, nil
	}
	for _, v := range list.Value {
		f, err := strconv.ParseInt(v.(*types.AttributeValueMemberN).Value, 10, 64)
		if err != nil {
			return nil, err
		}
		fences = append(fences, f)
	}
	return fences, nil
}

func withTable(w world, run job.Run) job.Run {
	run.Table = w.table
	return run
}

func TestNoLateUpdateLands(t *testing.T) {
	w := newWorld(t, rig.Ministack(t))
	place := fencetest.Place{Landed: w.landed, Write: func(ctx context.Context, run job.Run, n int) error {
		_, err := fencedynamo.New(w.client, run).UpdateItem(ctx, w.add(n, run.Fence))
		return err
	}}
	fencetest.Holds(t, fencetest.Many(t), place)
	place.Write = func(ctx context.Context, run job.Run, n int) error {
		_, err := w.client.UpdateItem(ctx, w.add(n+fencetest.Full, run.Fence))
		return err
	}
	fencetest.LetsThrough(t, 50, place.At(fencetest.Full))
}

// The check of the guard refuses a write as soon as a newer run has begun.
func TestNoLateTransactionLands(t *testing.T) {
	w := newWorld(t, rig.Ministack(t))
	place := fencetest.Place{
		Landed: w.landed,
		Begin:  w.begin,
		Write: func(ctx context.Context, run job.Run, n int) error {
			_, err := fencedynamo.New(w.client, withTable(w, run)).TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{w.inTransaction(n, run.Fence)},
			})
			return err
		},
	}
	fencetest.Holds(t, fencetest.Many(t), place)
}

// So the test above can fail: a condition on the item alone lets an older run's write through
// until the newer one has written.
func TestAConditionOnTheItemAloneIsLaterThanTheGuard(t *testing.T) {
	w := newWorld(t, rig.Ministack(t))
	fencetest.LetsThrough(t, 50, fencetest.Place{
		Landed: w.landed,
		Begin:  w.begin,
		Write: func(ctx context.Context, run job.Run, n int) error {
			_, err := fencedynamo.New(w.client, run).UpdateItem(ctx, w.add(n, run.Fence))
			return err
		},
	})
}

func TestEveryKindOfWriteIsRefusedForANewerFence(t *testing.T) {
	w := newWorld(t, rig.Moto(t))
	newer, older := fencedynamo.New(w.client, fencetest.NewRun(0, 2)), fencedynamo.New(w.client, fencetest.NewRun(0, 1))
	put := &dynamodb.PutItemInput{TableName: &w.table, Item: w.key(0)}
	if _, err := newer.PutItem(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	if len(put.Item) != 2 || put.ConditionExpression != nil {
		t.Errorf("the author's input was changed: %+v", put)
	}
	for name, do := range map[string]func() error{
		"put":    func() error { _, err := older.PutItem(t.Context(), put); return err },
		"update": func() error { _, err := older.UpdateItem(t.Context(), w.add(0, 1)); return err },
		"delete": func() error {
			_, err := older.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &w.table, Key: w.key(0)})
			return err
		},
	} {
		err := do()
		if fenced := new(job.FencedError); !errors.As(err, &fenced) || fenced.Seen != fencetest.Fence(2) {
			t.Errorf("%s: %v: want it refused, and the newer fence named", name, err)
		}
	}
	if _, err := newer.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &w.table, Key: w.key(0)}); err != nil {
		t.Errorf("the newest run's own delete: %v", err)
	}
}

func TestConditionsAndUpdatesOfTheAuthorsStay(t *testing.T) {
	w := newWorld(t, rig.Moto(t))
	db := fencedynamo.New(w.client, fencetest.NewRun(0, 1))
	for _, update := range []string{"SET #a = :one", "remove #b set #a = :one", "REMOVE #b", "ADD #n :one SET #a = :one", ""} {
		in := &dynamodb.UpdateItemInput{TableName: &w.table, Key: w.key(0)}
		names := map[string]string{"#a": "set", "#b": "b", "#n": "n"}
		in.ExpressionAttributeNames = map[string]string{}
		for alias, name := range names {
			if strings.Contains(update, alias) {
				in.ExpressionAttributeNames[alias] = name
			}
		}
		if strings.Contains(update, ":one") {
			in.ExpressionAttributeValues = item{":one": number(1)}
		}
		if update != "" {
			in.UpdateExpression = &update
		}
		if _, err := db.UpdateItem(t.Context(), in); err != nil {
			t.Errorf("%q: %v", update, err)
		}
	}
	_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: &w.table, Item: w.key(0), ConditionExpression: aws.String("attribute_not_exists(pk) OR attribute_exists(nothing)"),
	})
	if failed := new(types.ConditionalCheckFailedException); !errors.As(err, &failed) || errors.Is(err, job.ErrFenced) {
		t.Errorf("%v: want the author's own condition refused", err)
	}
}

// DynamoDB would take the author's value for the fence, and let an old run's write land.
func TestAPlaceholderThatHidesTheFenceIsRefused(t *testing.T) {
	w := newWorld(t, rig.Moto(t))
	newer, older := fencedynamo.New(w.client, fencetest.NewRun(0, 2)), fencedynamo.New(w.client, fencetest.NewRun(0, 1))
	if _, err := newer.UpdateItem(t.Context(), w.add(0, 2)); err != nil {
		t.Fatal(err)
	}
	for name, hide := range map[string]struct {
		names  map[string]string
		values item
		says   string
	}{
		"a value":   {map[string]string{}, item{":cronfence_fence": number(1 << 50)}, ":cronfence_fence is another value"},
		"no number": {map[string]string{}, item{":cronfence_fence": text("x")}, ":cronfence_fence is another value"},
		"a name":    {map[string]string{"#cronfence_fence": "other"}, item{}, `#cronfence_fence is "other"`},
	} {
		update := w.add(0, 1)
		maps.Copy(update.ExpressionAttributeNames, hide.names)
		maps.Copy(update.ExpressionAttributeValues, hide.values)
		_, updated := older.UpdateItem(t.Context(), update)
		_, put := older.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: &w.table, Item: w.key(0), ExpressionAttributeNames: hide.names, ExpressionAttributeValues: hide.values,
		})
		_, deleted := older.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
			TableName: &w.table, Key: w.key(0), ExpressionAttributeNames: hide.names, ExpressionAttributeValues: hide.values,
		})
		for _, err := range []error{updated, put, deleted} {
			if err == nil || !strings.Contains(err.Error(), hide.says) {
				t.Errorf("%s: %v: want an error that says %q", name, err, hide.says)
			}
		}
	}
	own := w.add(0, 2) // the author put them there as the package has them
	maps.Copy(own.ExpressionAttributeNames, fencedynamo.Names())
	maps.Copy(own.ExpressionAttributeValues, fencedynamo.Values(t.Context(), fencetest.NewRun(0, 2)))
	if _, err := newer.UpdateItem(t.Context(), own); err != nil {
		t.Errorf("the package's own placeholders: %v", err)
	}
	if got, err := w.landed(t.Context(), 0); err != nil || len(got) != 2 {
		t.Errorf("%v, %v: want the newer run's two writes", got, err)
	}
}

func TestAFenceThatNoRunCanHaveIsNotWritten(t *testing.T) {
	for name, write := range map[string]func(db *fencedynamo.Client) error{
		"put": func(db *fencedynamo.Client) error {
			_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{})
			return err
		},
		"update": func(db *fencedynamo.Client) error {
			_, err := db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{})
			return err
		},
		"delete": func(db *fencedynamo.Client) error {
			_, err := db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{})
			return err
		},
		"transaction": func(db *fencedynamo.Client) error {
			_, err := db.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{})
			return err
		},
	} {
		fencetest.Refuses(t, name, func(run job.Run) error { return write(fencedynamo.New(nil, run)) })
	}
}
