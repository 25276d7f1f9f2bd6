package dynamo_test

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// strict is a client that fails the test when an expression it is sent has a name in it
// that is not an alias, or an alias without a use, as some emulators let pass, or when a read
// is not consistent. It makes request tokens the test's own: they are the account's, so that
// a table of its own is not enough.
type strict struct {
	dynamo.Client
	t     *testing.T
	scope string
}

func (c strict) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	for _, w := range in.TransactItems {
		if u := w.Update; u != nil {
			c.check(u.ExpressionAttributeNames, u.ExpressionAttributeValues, u.ConditionExpression, u.UpdateExpression)
		}
		if k := w.ConditionCheck; k != nil {
			c.check(k.ExpressionAttributeNames, k.ExpressionAttributeValues, k.ConditionExpression)
		}
	}
	if in.ClientRequestToken != nil {
		in.ClientRequestToken = aws.String(c.scope + *in.ClientRequestToken)
	}
	return c.Client.TransactWriteItems(ctx, in, o...)
}

func (c strict) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	c.check(in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.ConditionExpression, in.UpdateExpression)
	return c.Client.UpdateItem(ctx, in, o...)
}

func (c strict) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	c.consistent(in.ConsistentRead)
	return c.Client.GetItem(ctx, in, o...)
}

// consistent: no emulator answers with what was true a moment ago, DynamoDB may.
func (c strict) consistent(read *bool) {
	c.t.Helper()
	if !aws.ToBool(read) {
		c.t.Error("a read is not consistent")
	}
}

func (c strict) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	for _, keys := range in.RequestItems {
		c.consistent(keys.ConsistentRead)
	}
	return c.Client.BatchGetItem(ctx, in, o...)
}

func (c strict) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if in.IndexName == nil { // an index cannot be read so
		c.consistent(in.ConsistentRead)
	}
	c.check(in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.KeyConditionExpression, in.FilterExpression, in.ProjectionExpression)
	return c.Client.Query(ctx, in, o...)
}

var (
	alias       = regexp.MustCompile(`#\w+`)
	placeholder = regexp.MustCompile(`:\w+`)
	word        = regexp.MustCompile(`[A-Za-z_]\w*`)
	syntax      = strings.Fields("AND OR BETWEEN SET REMOVE ADD attribute_exists attribute_not_exists")
)

func (c strict) check(names map[string]string, values map[string]types.AttributeValue, expressions ...*string) {
	c.t.Helper()
	var all []string
	for _, e := range expressions {
		all = append(all, aws.ToString(e))
	}
	text := strings.Join(all, " ; ")
	if diff := cmp.Diff(sorted(maps.Keys(names)), sortedUses(alias, text)); diff != "" {
		c.t.Errorf("%s: aliases (-defined +used):\n%s", text, diff)
	}
	if diff := cmp.Diff(sorted(maps.Keys(values)), sortedUses(placeholder, text)); diff != "" {
		c.t.Errorf("%s: values (-defined +used):\n%s", text, diff)
	}
	rest := placeholder.ReplaceAllString(alias.ReplaceAllString(text, ""), "")
	for _, w := range word.FindAllString(rest, -1) {
		if !slices.Contains(syntax, w) {
			c.t.Errorf("%s: %q is no alias", text, w)
		}
	}
}

func sorted(seq func(func(string) bool)) []string { return slices.Sorted(seq) }

func sortedUses(what *regexp.Regexp, text string) []string {
	uses := what.FindAllString(text, -1)
	slices.Sort(uses)
	return slices.Compact(uses)
}

// Every field a record can have, and with it every reserved word among them, is set,
// compared and removed once.
func TestNoFieldNeedsToAvoidReservedWords(t *testing.T) {
	c := rig.Moto(t)
	s := newStore(t, c)
	for _, field := range strings.Fields("owner lock state status ttl token at by last run why kind error live") {
		set := guard.Write{SK: schema.TickSK(field), Absent: true, Patch: guard.Patch{Set: guard.Fields{{Name: field, Value: int64(1)}}}}
		change := guard.Write{
			SK: schema.TickSK(field),
			If: []guard.Cond{
				{Field: field, Op: guard.Is, Value: int64(1)},
				{Field: field, Op: guard.AtLeast, Value: int64(1)},
				{Field: field, Op: guard.MissingOrLess, Value: int64(2)},
			},
			Patch: guard.Patch{Add: map[string]int64{field: 1}},
		}
		remove := guard.Write{
			SK: schema.TickSK(field), OrAbsent: true,
			If:    []guard.Cond{{Field: field, Op: guard.Greater, Value: int64(1)}},
			Patch: guard.Patch{Remove: []string{field}},
		}
		for _, w := range []guard.Write{set, change, remove} {
			commit(t, s, &guard.Commit{Job: job, Writes: []guard.Write{w}})
		}
	}
}
