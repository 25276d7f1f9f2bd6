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

// last sorts behind the id of every tick.
const last = "\U0010FFFF"

// Rows implements guard.Store. Open rows are picked here and not by a filter expression:
// reading costs the same, and which outcomes are final is said in one place.
func (s *Store) Rows(ctx context.Context, q guard.RowQuery) (guard.RowPage, error) {
	if q.To != "" && q.From > q.To { // DynamoDB calls that an error
		return guard.RowPage{}, nil
	}
	out, err := s.client.Query(ctx, s.rowQuery(q), s.options)
	if err != nil {
		return guard.RowPage{}, fmt.Errorf("query ticks of %q: %w", q.Job, busyOr(err))
	}
	var page guard.RowPage
	for _, found := range out.Items {
		row, err := rowOf(q.Job, found)
		if err != nil {
			return guard.RowPage{}, err
		}
		if !q.OpenOnly || !row.Outcome.Final() {
			page.Rows = append(page.Rows, *row)
		}
	}
	if sk, ok := out.LastEvaluatedKey[schema.SK].(*types.AttributeValueMemberS); ok {
		page.Next = guard.TickOf(sk.Value)
	}
	return page, nil
}

func (s *Store) rowQuery(q guard.RowQuery) *dynamodb.QueryInput {
	to := q.To
	if to == "" {
		to = last
	}
	in := &dynamodb.QueryInput{
		TableName:                &s.table,
		ConsistentRead:           aws.Bool(true),
		KeyConditionExpression:   aws.String("#pk = :job AND #sk BETWEEN :from AND :to"),
		ExpressionAttributeNames: map[string]string{"#pk": schema.PK, "#sk": schema.SK},
		ExpressionAttributeValues: item{
			":job":  &types.AttributeValueMemberS{Value: q.Job},
			":from": &types.AttributeValueMemberS{Value: schema.TickSK(q.From)},
			":to":   &types.AttributeValueMemberS{Value: schema.TickSK(to)},
		},
		ScanIndexForward: aws.Bool(!q.Newest),
	}
	if q.Limit > 0 {
		in.Limit = aws.Int32(int32(min(q.Limit, 1<<20)))
	}
	if q.After != "" {
		in.ExclusiveStartKey = key(q.Job, schema.TickSK(q.After))
	}
	return in
}
