package bench

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// contender does an operation for each number in [from, to) and says how long each took.
type contender func(operation string, from, to int) ([]time.Duration, error)

// timed makes a contender of what does one.
func timed(do func(operation string, i int) error) contender {
	return func(operation string, from, to int) ([]time.Duration, error) {
		took := make([]time.Duration, 0, to-from)
		for i := from; i < to; i++ {
			began := time.Now()
			if err := do(operation, i); err != nil {
				return nil, fmt.Errorf("%s %d: %w", operation, i, err)
			}
			took = append(took, time.Since(began))
		}
		return took, nil
	}
}

// cronfence is the engine over the DynamoDB store. Starting the execution is not in it: it is
// no request to the table, and no contender starts anything. Each round has the same jobs, two
// minutes later.
func cronfence(t *testing.T, client *dynamodb.Client, table string) contender {
	store := dynamo.New(client, table)
	ready(t, store, now, perRound)
	clock := now
	e := &engine.Engine{
		Store: store, Machines: &machines{}, Now: func() time.Time { return clock.Time() }, NewToken: rand.Text, Timeout: schema.DispatcherTimeout,
	}
	held := map[string]guard.Row{}
	deliver := func(job string, at guard.Millis) (engine.Result, error) {
		d, err := engine.ScheduledDelivery(specOf(job), schema.TickID(at.Time()), clock.Time())
		if err != nil {
			return engine.Result{}, err
		}
		return e.Deliver(t.Context(), d)
	}
	return timed(func(operation string, i int) error {
		job, at := nameOf(i%perRound), now.Add(time.Duration(i/perRound)*2*time.Minute)
		run := held[job]
		switch operation {
		case "claim":
			clock = at
			res, err := deliver(job, at)
			held[job] = res.Row
			return want(res.Verdict == guard.Start && res.Sent, res, err)
		case "duplicate":
			clock = at.Add(40 * time.Second)
			res, err := deliver(job, at)
			return want(res.Row.Fence == run.Fence && res.Row.Outcome == guard.Running, res, err) // its start may be sent again
		case "beat":
			clock = at.Add(30 * time.Second)
			answer, _, err := e.Beat(t.Context(), guard.Beat{Job: job, Tick: run.Tick, Run: run.Run, Fence: run.Fence, Lease: spec.Lease()})
			return want(answer == guard.Renewed, answer, err)
		case "skip":
			clock = at.Add(time.Minute)
			res, err := deliver(job, clock)
			return want(res.Row.Outcome == guard.Skipped, res, err)
		default: // settle
			clock = at.Add(70 * time.Second)
			dec, err := e.Settle(t.Context(), guard.End{
				Job: job, Tick: run.Tick, Run: run.Run, Fence: run.Fence, Attempt: run.Attempt, Interval: 60,
				Outcome: guard.Succeeded, StartedAt: at, EndedAt: clock, Token: rand.Text(),
			})
			return want(dec.Row.Outcome == guard.Succeeded, dec, err)
		}
	})
}

// least is what a lock cannot do without: a conditional write each, and nothing is remembered.
func least(t *testing.T, client *dynamodb.Client, table string) contender {
	return timed(func(operation string, i int) error {
		key := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: nameOf(i)}}
		is := func(value string) map[string]types.AttributeValue {
			return map[string]types.AttributeValue{":owner": &types.AttributeValueMemberS{Value: value}}
		}
		switch operation {
		case "beat":
			_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: &table, Key: key, UpdateExpression: aws.String("SET beats = :owner"),
				ConditionExpression: aws.String("holder = :owner"), ExpressionAttributeValues: is("me"),
			})
			return err
		case "settle":
			_, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
				TableName: &table, Key: key, ConditionExpression: aws.String("holder = :owner"), ExpressionAttributeValues: is("me"),
			})
			return err
		default: // claim, and what is refused because it is claimed
			key["holder"] = &types.AttributeValueMemberS{Value: "me"}
			_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
				TableName: &table, Item: key, ConditionExpression: aws.String("attribute_not_exists(id)"),
			})
			if refused := new(types.ConditionalCheckFailedException); operation != "claim" {
				return want(errors.As(err, &refused), "claimed twice", nil)
			}
			return err
		}
	})
}

func want(condition bool, got any, err error) error {
	if err == nil && !condition {
		err = fmt.Errorf("came to %+v", got)
	}
	return err
}

// process is a contender in a process of its own, which reads "OPERATION FROM TO" and answers
// with the microseconds that each took.
func process(t *testing.T, program string, args ...string) contender {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background()) // beyond the test, whose clean-up ends it
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v (scripts/bench installs it)", program, err)
	}
	t.Cleanup(func() {
		_ = in.Close() // it ends at the end of its input
		late := time.AfterFunc(10*time.Second, cancel)
		_ = cmd.Wait()
		late.Stop()
		cancel()
	})
	lines := bufio.NewReader(out)
	return func(operation string, from, to int) ([]time.Duration, error) {
		if _, err := fmt.Fprintln(in, operation, from, to); err != nil {
			return nil, fmt.Errorf("ask for %s: %w", operation, err)
		}
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read answer to %s: %w", operation, err)
		}
		var micros []int64
		if err := json.Unmarshal(line, &micros); err != nil {
			return nil, fmt.Errorf("read answer to %s: %q: %w", operation, line, err)
		}
		took := make([]time.Duration, len(micros))
		for i, m := range micros {
			took[i] = time.Duration(m) * time.Microsecond
		}
		return took, want(len(took) == to-from, len(took), nil)
	}
}
