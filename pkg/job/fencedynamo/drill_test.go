package fencedynamo_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencedynamo"
	"github.com/cronfence/cronfence/pkg/job/internal/fencetest"
	"github.com/cronfence/cronfence/pkg/job/jobtest"
)

const places = 2 // that the sample job writes, one after the other

// drilled is a drill's job over a world, without its work.
func drilled(w world) jobtest.Job {
	return jobtest.Job{
		Run: job.Run{Table: w.table, Fence: 7},
		Reset: func(ctx context.Context) error {
			keys := []item{{"pk": text("drill"), "sk": text("guard")}}
			for n := range places {
				keys = append(keys, w.key(n))
			}
			var errs []error
			for _, key := range keys {
				_, err := w.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &w.table, Key: key})
				errs = append(errs, err)
			}
			return errors.Join(errs...)
		},
		State: func(ctx context.Context) (any, error) {
			var state []string
			for n := range places {
				writes, err := w.landed(ctx, n)
				if err != nil {
					return nil, err
				}
				state = append(state, fmt.Sprint(writes))
			}
			return state, nil
		},
	}
}

// each does a write at each place.
func each(write func(ctx context.Context, run job.Run, n int) error) job.Work {
	return func(ctx context.Context, run job.Run) error {
		for n := range places {
			if err := write(ctx, run, n); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestTheDrillSeesPastEachWayToFenceAnItem(t *testing.T) {
	w := newWorld(t, rig.Ministack(t))
	plain := func(ctx context.Context, run job.Run) error {
		_, err := w.client.UpdateItem(ctx, w.add(0, run.Fence))
		return err
	}
	guarded := func(ctx context.Context, run job.Run) error { return w.begin(ctx, run, places) }
	for name, c := range map[string]struct {
		begin func(ctx context.Context, run job.Run) error
		write func(ctx context.Context, run job.Run, n int) error
	}{
		"condition on the item": {nil, func(ctx context.Context, run job.Run, n int) error {
			_, err := fencedynamo.New(w.client, run).UpdateItem(ctx, w.add(n, run.Fence))
			return err
		}},
		"the condition by itself": {nil, func(ctx context.Context, run job.Run, n int) error {
			defer job.Point(ctx)
			in := w.add(n, run.Fence)
			*in.UpdateExpression += ", #cronfence_fence = :cronfence_fence"
			in.ConditionExpression = aws.String(fencedynamo.Condition)
			maps.Copy(in.ExpressionAttributeNames, fencedynamo.Names())
			maps.Copy(in.ExpressionAttributeValues, fencedynamo.Values(ctx, run))
			_, err := w.client.UpdateItem(ctx, in)
			return fenced(err, run)
		}},
		"check of the guard": {guarded, func(ctx context.Context, run job.Run, n int) error {
			in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{w.inTransaction(n, run.Fence)}}
			_, err := fencedynamo.New(w.client, run).TransactWriteItems(ctx, in)
			return err
		}},
		"the check by itself": {guarded, func(ctx context.Context, run job.Run, n int) error {
			defer job.Point(ctx)
			_, err := w.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
				ClientRequestToken: aws.String(rand.Text()),
				TransactItems:      []types.TransactWriteItem{w.inTransaction(n, run.Fence), fencedynamo.GuardCheck(ctx, run)},
			})
			return fenced(err, run)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			j := drilled(w)
			j.Begin, j.Work = c.begin, each(c.write)
			fencetest.DrillSees(t, j, plain)
		})
	}
}

// fenced is how an author reads a refusal.
func fenced(err error, run job.Run) error {
	if err != nil {
		return errors.Join(&job.FencedError{Fence: run.Fence}, err)
	}
	return nil
}

func TestTheDrillMissesThePointAfterAWriteOfTheAuthors(t *testing.T) {
	w := newWorld(t, rig.Moto(t))
	j := drilled(w)
	for says, work := range map[string]job.Work{
		"fencedynamo.GuardCheck": func(ctx context.Context, run job.Run) error { fencedynamo.GuardCheck(ctx, run); return nil },
		"fencedynamo.Values":     func(ctx context.Context, run job.Run) error { fencedynamo.Values(ctx, run); return nil },
	} {
		j.Work = work
		if said := fencetest.Drill(t, j); !strings.Contains(said, "no point follows a write fenced with "+says) {
			t.Errorf("the drill says %q: want %s named", said, says)
		}
	}
}
