package dynamo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// maxBatch is how many rows DynamoDB gives in one batch.
const maxBatch = 100

// Gaps implements guard.Store.
func (s *Store) Gaps(ctx context.Context, job, from, to string, limit int) ([]guard.Gap, error) {
	in := &dynamodb.QueryInput{
		TableName:                &s.table,
		ConsistentRead:           aws.Bool(true),
		KeyConditionExpression:   aws.String("#pk = :job AND #sk BETWEEN :first AND :to"),
		ExpressionAttributeNames: map[string]string{"#pk": schema.PK, "#sk": schema.SK},
		ExpressionAttributeValues: item{
			":job":   &types.AttributeValueMemberS{Value: job},
			":first": &types.AttributeValueMemberS{Value: schema.GapSK("")},
			":to":    &types.AttributeValueMemberS{Value: schema.GapSK(to)},
		},
		ScanIndexForward: aws.Bool(false), // gaps lie apart: the first that ends too early is the end
	}
	if limit > 0 {
		in.Limit = aws.Int32(int32(min(limit, 1<<20)))
	}
	var gaps []guard.Gap
	for more := true; more; {
		out, err := s.client.Query(ctx, in, s.options)
		if err != nil {
			return nil, fmt.Errorf("query gaps of %q: %w", job, busyOr(err))
		}
		for _, found := range out.Items {
			gap := guard.Gap{Job: job}
			if err := decode(found, &gap); err != nil {
				return nil, fmt.Errorf("read gap of %q: %w", job, err)
			}
			if more = schema.TickID(gap.To.Time()) >= from && (limit <= 0 || len(gaps) < limit); !more {
				break
			}
			gaps = append(gaps, gap)
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
		more = more && in.ExclusiveStartKey != nil && (limit <= 0 || len(gaps) < limit)
	}
	slices.Reverse(gaps)
	return gaps, nil
}

// Guards implements guard.Store. The index tells which there are, a little late; the guards
// themselves are then read as they are.
func (s *Store) Guards(ctx context.Context, after string, limit int) (guard.GuardPage, error) {
	if limit <= 0 || limit > maxBatch {
		limit = maxBatch
	}
	in := &dynamodb.QueryInput{
		TableName:                 &s.table,
		IndexName:                 aws.String(schema.GuardIndex),
		KeyConditionExpression:    aws.String("#kind = :guard"),
		ExpressionAttributeNames:  map[string]string{"#kind": schema.GuardIndexPK},
		ExpressionAttributeValues: item{":guard": &types.AttributeValueMemberS{Value: schema.GuardSK}},
		Limit:                     aws.Int32(int32(limit)),
	}
	if after != "" {
		in.ExclusiveStartKey = key(after, schema.GuardSK)
		in.ExclusiveStartKey[schema.GuardIndexPK] = &types.AttributeValueMemberS{Value: schema.GuardSK}
	}
	out, err := s.client.Query(ctx, in, s.options)
	if err != nil {
		return guard.GuardPage{}, fmt.Errorf("list guards: %w", busyOr(err))
	}
	var keys []item
	for _, found := range out.Items {
		keys = append(keys, item{schema.PK: found[schema.PK], schema.SK: found[schema.SK]})
	}
	page, err := s.batch(ctx, keys)
	if err != nil {
		return guard.GuardPage{}, err
	}
	if last, ok := out.LastEvaluatedKey[schema.PK].(*types.AttributeValueMemberS); ok {
		page.Next = last.Value
	}
	return page, nil
}

// batch reads guards by their keys, in the order of their jobs. One deleted meanwhile is left out.
func (s *Store) batch(ctx context.Context, keys []item) (guard.GuardPage, error) {
	var page guard.GuardPage
	for tries := 0; len(keys) > 0; tries++ {
		if tries == maxAttempts {
			return page, fmt.Errorf("read guards: %d of them were not given: %w", len(keys), guard.ErrBusy)
		}
		if tries > 0 { // the SDK's retries know nothing of a batch half served
			if err := pause(ctx, tries); err != nil {
				return page, fmt.Errorf("read guards: %w", err)
			}
		}
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			s.table: {Keys: keys, ConsistentRead: aws.Bool(true)},
		}}, s.options)
		if err != nil {
			return page, fmt.Errorf("read guards: %w", busyOr(err))
		}
		for _, found := range out.Responses[s.table] {
			pk, ok := found[schema.PK].(*types.AttributeValueMemberS)
			if !ok {
				return page, fmt.Errorf("read guards: an item has no %s", schema.PK)
			}
			g, err := guardOf(pk.Value, found)
			if err != nil {
				page.Unreadable = append(page.Unreadable, err)
				continue
			}
			page.Guards = append(page.Guards, *g)
		}
		keys = out.UnprocessedKeys[s.table].Keys
	}
	slices.SortFunc(page.Guards, func(a, b guard.Guard) int { return strings.Compare(a.Job, b.Job) })
	return page, nil
}
