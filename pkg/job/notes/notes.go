// Package notes keeps a run's progress where people find it: short texts under the tick,
// which the command `cronfence why JOB TICK` shows.
//
// A note has a name, and writing it again replaces it, so that a run may say "page 17 of 40"
// as often as it likes. A retried run goes on with the same notes: notes are of the tick. An
// older attempt that wakes up late is refused.
//
// Needs, on the scheduler's table, dynamodb:PutItem - and dynamodb:Query to read - for the
// leading key note#JOB. That key is the notes' alone: no such permission lets a job write its
// guard or its ledger.
package notes

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/internal/fence"
)

// MaxText is how much of a note is kept, in bytes.
const MaxText = 1024

var noteName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,47}$`)

// Note is one text of a tick.
type Note struct {
	Name  string    `json:"name"`
	Text  string    `json:"text"`
	At    time.Time `json:"at"` // to the millisecond, in UTC
	Run   string    `json:"run"`
	Fence int64     `json:"fence"`
}

// record is a note in the table.
type record struct {
	PK    string        `dynamodbav:"pk"`
	SK    string        `dynamodbav:"sk"`
	Name  string        `dynamodbav:"name"`
	Text  string        `dynamodbav:"text"`
	At    schema.Millis `dynamodbav:"at"`
	Run   string        `dynamodbav:"run"`
	Fence int64         `dynamodbav:"fence"`
	TTL   int64         `dynamodbav:"ttl"`
}

// Writer is what Put needs of a *dynamodb.Client.
type Writer interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Put writes a note of the run's tick, or replaces it: one write unit. The name matches
// [A-Za-z0-9][A-Za-z0-9_.-]{0,47}; of the text the first MaxText bytes are kept, for 90
// days: the ledger's own default, also where the scheduler's Retention is another. It returns a *job.FencedError if a newer attempt wrote it.
func Put(ctx context.Context, client Writer, run job.Run, name, text string, now time.Time) error {
	if !noteName.MatchString(name) {
		return fmt.Errorf("note name %q: must match %s", name, noteName)
	}
	if err := fence.Check(run.Fence); err != nil {
		return fmt.Errorf("write note %q: %w", name, err)
	}
	item, err := attributevalue.MarshalMap(record{
		PK: schema.NotePK(run.Job), SK: schema.NoteSK(run.Tick, name),
		Name: name, Text: cut(text), At: schema.MillisOf(now), Run: run.ID, Fence: run.Fence,
		TTL: now.Add(schema.Retention).Unix(),
	})
	if err != nil {
		return fmt.Errorf("write note %q: %w", name, err)
	}
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &run.Table, Item: item,
		ConditionExpression:       aws.String("attribute_not_exists(#fence) OR #fence <= :fence"),
		ExpressionAttributeNames:  map[string]string{"#fence": "fence"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":fence": item["fence"]},
	})
	if failed := new(types.ConditionalCheckFailedException); errors.As(err, &failed) {
		return &job.FencedError{Fence: run.Fence, Why: fmt.Sprintf("a newer attempt has written note %q", name)}
	}
	if err != nil {
		return fmt.Errorf("write note %q: %w", name, err)
	}
	return nil
}

func cut(text string) string {
	if len(text) <= MaxText {
		return text
	}
	return strings.ToValidUTF8(text[:MaxText], "")
}

// Reader is what List needs of a *dynamodb.Client.
type Reader interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// List returns the notes of a tick, ordered by name; none is no error.
func List(ctx context.Context, client Reader, table, jobName, tick string) ([]Note, error) {
	in := &dynamodb.QueryInput{
		TableName:                &table,
		ConsistentRead:           aws.Bool(true),
		KeyConditionExpression:   aws.String("#pk = :pk AND begins_with(#sk, :tick)"),
		ExpressionAttributeNames: map[string]string{"#pk": schema.PK, "#sk": schema.SK},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk":   &types.AttributeValueMemberS{Value: schema.NotePK(jobName)},
			":tick": &types.AttributeValueMemberS{Value: schema.NoteSK(tick, "")},
		},
	}
	var notes []Note
	for {
		out, err := client.Query(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("read notes of %s, tick %s: %w", jobName, tick, err)
		}
		var records []record
		if err := attributevalue.UnmarshalListOfMaps(out.Items, &records); err != nil {
			return nil, fmt.Errorf("read notes of %s, tick %s: %w", jobName, tick, err)
		}
		for _, r := range records {
			notes = append(notes, Note{Name: r.Name, Text: r.Text, At: r.At.Time(), Run: r.Run, Fence: r.Fence})
		}
		if len(out.LastEvaluatedKey) == 0 {
			return notes, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
