package fencedynamo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/internal/fence"
	"github.com/cronfence/cronfence/pkg/job/internal/step"
)

// API is what Client needs of a *dynamodb.Client.
type API interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Client writes as a *dynamodb.Client does, with the run's fence: a write that is refused for
// a newer one returns a *job.FencedError. Inputs are not changed, and one whose expressions
// call something else #cronfence_fence or :cronfence_fence is an error: it would hide the
// fence. It is safe for concurrent use.
type Client struct {
	api API
	run job.Run
}

// New returns a client for one run.
func New(api API, run job.Run) *Client { return &Client{api: api, run: run} }

// PutItem puts an item unless a newer run has written it. The item gets the attribute
// cronfence_fence.
func (c *Client) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	names, values, err := c.placeholders(in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err != nil {
		return nil, err
	}
	own := *in
	own.Item = maps.Clone(in.Item)
	if own.Item == nil {
		own.Item = map[string]types.AttributeValue{}
	}
	own.Item[Attribute] = number(c.run.Fence)
	own.ConditionExpression = also(in.ConditionExpression)
	own.ExpressionAttributeNames, own.ExpressionAttributeValues = names, values
	own.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	step.At(ctx)
	defer step.At(ctx)
	out, err := c.api.PutItem(ctx, &own, options...)
	return out, c.refused(err)
}

// UpdateItem updates an item unless a newer run has written it. The item gets the attribute
// cronfence_fence. The SDK may send an update twice when an answer is lost: ADD then counts
// twice, with a fence as without.
func (c *Client) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	names, values, err := c.placeholders(in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err != nil {
		return nil, err
	}
	own := *in
	own.UpdateExpression = andSet(in.UpdateExpression)
	own.ConditionExpression = also(in.ConditionExpression)
	own.ExpressionAttributeNames, own.ExpressionAttributeValues = names, values
	own.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	step.At(ctx)
	defer step.At(ctx)
	out, err := c.api.UpdateItem(ctx, &own, options...)
	return out, c.refused(err)
}

// DeleteItem deletes an item unless a newer run has written it. Deleted, it remembers no
// fence: see the package's words on that.
func (c *Client) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	names, values, err := c.placeholders(in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err != nil {
		return nil, err
	}
	own := *in
	own.ConditionExpression = also(in.ConditionExpression)
	own.ExpressionAttributeNames, own.ExpressionAttributeValues = names, values
	own.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	step.At(ctx)
	defer step.At(ctx)
	out, err := c.api.DeleteItem(ctx, &own, options...)
	return out, c.refused(err)
}

// placeholders returns the author's names and values together with the fence's.
func (c *Client) placeholders(names map[string]string, values map[string]types.AttributeValue) (map[string]string, map[string]types.AttributeValue, error) {
	if err := fence.Check(c.run.Fence); err != nil {
		return nil, nil, fmt.Errorf("fenced write: %w", err)
	}
	if attribute, taken := names[name]; taken && attribute != Attribute {
		return nil, nil, fmt.Errorf("fenced write: ExpressionAttributeNames: %s is %q: it must be %s, or not be there", name, attribute, Attribute)
	}
	mine := number(c.run.Fence)
	if own, taken := values[value]; taken && !reflect.DeepEqual(own, mine) {
		return nil, nil, fmt.Errorf("fenced write: ExpressionAttributeValues: %s is another value than the run's fence %d: call yours otherwise", value, c.run.Fence)
	}
	allNames, allValues := maps.Clone(names), maps.Clone(values)
	if allNames == nil {
		allNames = map[string]string{}
	}
	if allValues == nil {
		allValues = map[string]types.AttributeValue{}
	}
	allNames[name], allValues[value] = Attribute, mine
	return allNames, allValues, nil
}

// TransactWriteItems commits a transaction of at most 99 items together with a check that the
// run still holds its job's guard. The items are sent as they are. A transaction that meets
// another on the guard decides nothing and is tried again, up to six times within about two
// seconds.
func (c *Client) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if err := fence.Check(c.run.Fence); err != nil {
		return nil, fmt.Errorf("fenced transaction: %w", err)
	}
	own := *in
	own.TransactItems = append(slices.Clone(in.TransactItems), guardCheck(c.run))
	if own.ClientRequestToken == nil { // the same over all tries: one of them may have been applied
		own.ClientRequestToken = aws.String(rand.Text())
	}
	step.At(ctx)
	defer step.At(ctx)
	for attempt := 0; ; attempt++ {
		out, err := c.api.TransactWriteItems(ctx, &own, options...)
		if !conflict(err) || attempt == maxConflicts {
			return out, c.refusedTransaction(err, len(in.TransactItems))
		}
		if pause(ctx, attempt) != nil {
			return nil, err
		}
	}
}

const maxConflicts = 6

// pause is fully jittered, so that those who collided do not meet again.
func pause(ctx context.Context, attempt int) error {
	select {
	case <-time.After(mathrand.N(50 * time.Millisecond << attempt)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// conflict tells whether a transaction met another and none of its conditions was refused.
// Codes are compared as text: an emulator may send one whose status hides its type.
func conflict(err error) bool {
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		var api smithy.APIError
		return errors.As(err, &api) && (api.ErrorCode() == "TransactionConflictException" || api.ErrorCode() == "TransactionInProgressException")
	}
	found := false
	for _, reason := range cancelled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "ConditionalCheckFailed":
			return false
		case "TransactionConflict":
			found = true
		}
	}
	return found
}

// refused names the fence where it was the reason. A condition of the author's own that was
// refused beside it stays the SDK's error.
func (c *Client) refused(err error) error {
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		return err
	}
	if newest := seen(failed.Item, Attribute); newest > c.run.Fence {
		return &job.FencedError{Fence: c.run.Fence, Seen: newest}
	}
	return err
}

// refusedTransaction looks at the reason of the item at that index, the check of the guard.
func (c *Client) refusedTransaction(err error, index int) error {
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) <= index {
		return err
	}
	reason := cancelled.CancellationReasons[index]
	if aws.ToString(reason.Code) != "ConditionalCheckFailed" {
		return err
	}
	if newest := seen(reason.Item, "fence"); newest > c.run.Fence {
		return &job.FencedError{Fence: c.run.Fence, Seen: newest}
	}
	return &job.FencedError{Fence: c.run.Fence, Why: "the run does not hold its job's guard, which is free or gone"}
}
