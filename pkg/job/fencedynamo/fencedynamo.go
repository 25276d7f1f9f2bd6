// Package fencedynamo refuses late writes in DynamoDB, in two ways.
//
// # A condition on the author's own item
//
// PutItem, UpdateItem and DeleteItem of a Client add the attribute cronfence_fence to the
// item and refuse the write when the item has a newer one. It costs nothing.
//
//   - Protected: the item, from the moment a newer run has written it.
//   - Not protected: an item that the newer run has not written yet, or never writes. A run
//     that can begin by writing all its items, or one that all its writes depend on, should.
//   - Not protected: an item that was deleted: it remembers no fence, and a late write makes
//     it anew. Mark it as deleted and let a TTL remove it after longer than the job's maximum
//     run time, or use the check of the guard.
//   - For one job: fences of different jobs say nothing about each other, so a second job that
//     writes the item may be shut out of it. Use the check of the guard there.
//   - BatchWriteItem takes no conditions, and Client has no such method.
//
// # A check of the guard
//
// TransactWriteItems of a Client, and GuardCheck for a transaction of the author's own, hold
// the transaction to the guard itself: run and fence must still be the holder's.
//
//   - Protected: everything in the transaction, at every instant: as soon as the run has
//     lost its guard, before any newer run has written anything.
//   - The price: transactions cost twice the write units, and one that meets a beat of the run
//     or another of its transactions is refused with TransactionConflict. Client tries such a
//     one again; who sends GuardCheck otherwise has to. For a few writes, not for a flood: they
//     all go through one item.
//   - Needs dynamodb:ConditionCheckItem on the scheduler's table for the leading key JOB, and
//     the author's table in the same account and Region.
//   - Not for policy Allow, whose runs hold no guard.
//
// Both: another Region's replica of a global table checks conditions where the write arrives,
// so all runs must write in one Region. Reads are not fenced.
package fencedynamo

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/internal/step"
)

// Attribute is where an item keeps the fence of the run that wrote it last: a number.
const Attribute = "cronfence_fence"

// Placeholders of the package's own in expressions.
const (
	name  = "#cronfence_fence"
	value = ":cronfence_fence"
)

// Condition holds of an item that no newer run has written, or that is not there, for writes
// that Client does not make. It needs the name and value that Names and Values return, and the
// write must set #cronfence_fence to :cronfence_fence.
const Condition = "(attribute_not_exists(" + name + ") OR " + name + " <= " + value + ")"

// Names is what Condition calls by #cronfence_fence.
func Names() map[string]string { return map[string]string{name: Attribute} }

// Values is what Condition calls by :cronfence_fence. The drill of package jobtest may hold
// the run here, before the write; after it the work calls job.Point.
func Values(ctx context.Context, run job.Run) map[string]types.AttributeValue {
	step.At(ctx)
	step.Owe(ctx, "fencedynamo.Values")
	return map[string]types.AttributeValue{value: number(run.Fence)}
}

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// GuardCheck is the item of a transaction that holds it to the guard: the transaction is
// refused unless the run holds its job's guard at that instant. The drill of package jobtest
// may hold the run here, before the transaction; after it the work calls job.Point.
func GuardCheck(ctx context.Context, run job.Run) types.TransactWriteItem {
	step.At(ctx)
	step.Owe(ctx, "fencedynamo.GuardCheck")
	return guardCheck(run)
}

func guardCheck(run job.Run) types.TransactWriteItem {
	condition := "#run.#id = :cronfence_run AND #fence = " + value
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName:                &run.Table,
		Key:                      guardKey(run),
		ConditionExpression:      &condition,
		ExpressionAttributeNames: map[string]string{"#run": "run", "#id": "id", "#fence": "fence"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":cronfence_run": &types.AttributeValueMemberS{Value: run.ID}, value: number(run.Fence),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

func guardKey(run job.Run) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		schema.PK: &types.AttributeValueMemberS{Value: run.Job},
		schema.SK: &types.AttributeValueMemberS{Value: schema.GuardSK},
	}
}

// also returns the author's condition and the fence's.
func also(condition *string) *string {
	both := Condition
	if condition != nil && *condition != "" {
		both = "(" + *condition + ") AND " + Condition
	}
	return &both
}

// set is an update expression's SET clause. SET is a reserved word, so no attribute is
// called so where an expression names it plainly, and an alias begins with # or :.
var set = regexp.MustCompile(`(?i)(^|\s)SET\s`)

// andSet returns the author's update with the fence set besides: a clause may stand only
// once in an expression.
func andSet(update *string) *string {
	const ours = name + " = " + value
	text := "SET " + ours
	if update != nil && *update != "" {
		if at := set.FindStringIndex(*update); at != nil {
			text = (*update)[:at[1]] + ours + ", " + (*update)[at[1]:]
		} else {
			text = *update + " " + text
		}
	}
	return &text
}

// seen reads the fence of an item that refused a write: 0 when it has none.
func seen(item map[string]types.AttributeValue, attribute string) int64 {
	n, ok := item[attribute].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	var fence int64
	if _, err := fmt.Sscan(n.Value, &fence); err != nil {
		return 0
	}
	return fence
}
