package dynamo

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// item is a row of the table as DynamoDB has it.
type item = map[string]types.AttributeValue

// Records carry JSON tags alone, and types that write themselves as text, such as the
// overlap policy, do so here too: a number would change its meaning with the next policy.
var (
	encoder = attributevalue.NewEncoder(func(o *attributevalue.EncoderOptions) {
		o.TagKey = "json"
		o.UseEncodingMarshalers = true
	})
	decoder = attributevalue.NewDecoder(func(o *attributevalue.DecoderOptions) {
		o.TagKey = "json"
		o.UseEncodingUnmarshalers = true
	})
)

func marshal(v any) (types.AttributeValue, error) { return encoder.Encode(v) }

func key(job, sk string) item {
	return item{
		schema.PK: &types.AttributeValueMemberS{Value: job},
		schema.SK: &types.AttributeValueMemberS{Value: sk},
	}
}

// decode reads an item into a record. Attributes that the record does not know, of a
// newer version or the table's own, are left alone.
func decode(from item, record any) error {
	return decoder.Decode(&types.AttributeValueMemberM{Value: from}, record)
}

// guardOf returns the guard an item holds, or nil when there is none.
func guardOf(job string, from item) (*guard.Guard, error) {
	if len(from) == 0 {
		return nil, nil
	}
	g := guard.Guard{Job: job}
	if err := decode(from, &g); err != nil {
		return nil, fmt.Errorf("read guard of %q: %w", job, err)
	}
	if g.Spec == nil { // somebody wrote it by hand: a spec that nobody can run, never a nil one
		g.Spec = &schema.Spec{}
	}
	return &g, nil
}

// rowOf returns the ledger row an item holds, or nil when there is none.
func rowOf(job string, from item) (*guard.Row, error) {
	if len(from) == 0 {
		return nil, nil
	}
	r := guard.Row{Job: job}
	if err := decode(from, &r); err != nil {
		return nil, fmt.Errorf("read ledger row of %q: %w", job, err)
	}
	return &r, nil
}
