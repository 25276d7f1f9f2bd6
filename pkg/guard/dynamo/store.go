// Package dynamo keeps guards and ledger rows in a DynamoDB table. It is the only place
// that writes the table; package schema has its keys.
//
// A commit is one request: a transaction, or a plain update where it touches one row. The
// SDK repeats a request whose answer was lost, so a write may meet its own effect:
//
//   - A transaction carries the commit's token, and DynamoDB answers a repeated one as it
//     answered the first, for ten minutes.
//   - A plain update has no such token. Repeated, its condition may fail on what it wrote
//     itself: it is then refused with its own row as the old one. Whoever decides next
//     recognises that by the row's token or by its values, never by the refusal.
//
// The same holds for errors of unknown effect: a commit that returned one may have been
// applied, and trying again is how to find out.
package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Client is what the store needs of DynamoDB.
type Client interface {
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Store keeps records in one table. It is safe for concurrent use.
type Store struct {
	client  Client
	table   string
	options func(*dynamodb.Options)
}

var _ guard.Store = (*Store)(nil)

// New returns a store on a table whose keys are those of package schema.
func New(client Client, table string) *Store {
	retryer := newRetryer()
	return &Store{
		client: client,
		table:  table,
		// With every call, so that no client can be passed that retries otherwise.
		options: func(o *dynamodb.Options) { o.Retryer = retryer },
	}
}

// Commit implements guard.Store.
func (s *Store) Commit(ctx context.Context, c guard.Commit) error {
	var err error
	if len(c.Writes) == 1 && !c.Writes[0].Patch.Empty() {
		err = s.update(ctx, c.Job, c.Writes[0])
	} else {
		err = s.transact(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("commit to job %q: %w", c.Job, err)
	}
	return nil
}

// update writes one row: half the price of a transaction of one.
func (s *Store) update(ctx context.Context, job string, w guard.Write) error {
	e, err := render(w)
	if err != nil {
		return err
	}
	_, err = s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                           &s.table,
		Key:                                 key(job, w.SK),
		ConditionExpression:                 &e.condition,
		UpdateExpression:                    &e.update,
		ExpressionAttributeNames:            e.names,
		ExpressionAttributeValues:           e.valuesOrNil(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, s.options)
	if err != nil {
		return refusedUpdate(job, w, err)
	}
	return nil
}

func (s *Store) transact(ctx context.Context, c guard.Commit) error {
	items := make([]types.TransactWriteItem, len(c.Writes))
	for i, w := range c.Writes {
		e, err := render(w)
		if err != nil {
			return err
		}
		items[i] = s.transactItem(c.Job, w.SK, e)
	}
	input := &dynamodb.TransactWriteItemsInput{TransactItems: items}
	if c.Token != "" { // else the SDK makes one
		input.ClientRequestToken = &c.Token
	}
	if _, err := s.client.TransactWriteItems(ctx, input, s.options); err != nil {
		return refusedTransaction(c, err)
	}
	return nil
}

func (s *Store) transactItem(job, sk string, e expression) types.TransactWriteItem {
	if e.update == "" {
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName:                           &s.table,
			Key:                                 key(job, sk),
			ConditionExpression:                 &e.condition,
			ExpressionAttributeNames:            e.names,
			ExpressionAttributeValues:           e.valuesOrNil(),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}}
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                           &s.table,
		Key:                                 key(job, sk),
		ConditionExpression:                 &e.condition,
		UpdateExpression:                    &e.update,
		ExpressionAttributeNames:            e.names,
		ExpressionAttributeValues:           e.valuesOrNil(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// Guard implements guard.Store.
func (s *Store) Guard(ctx context.Context, job string) (*guard.Guard, error) {
	found, err := s.get(ctx, job, schema.GuardSK)
	if err != nil {
		return nil, fmt.Errorf("get guard of %q: %w", job, err)
	}
	return guardOf(job, found)
}

// Row implements guard.Store.
func (s *Store) Row(ctx context.Context, job, tick string) (*guard.Row, error) {
	found, err := s.get(ctx, job, schema.TickSK(tick))
	if err != nil {
		return nil, fmt.Errorf("get tick %q of %q: %w", tick, job, err)
	}
	return rowOf(job, found)
}

func (s *Store) get(ctx context.Context, job, sk string) (item, error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &s.table,
		Key:            key(job, sk),
		ConsistentRead: aws.Bool(true),
	}, s.options)
	if err != nil {
		return nil, busyOr(err)
	}
	return out.Item, nil
}
