package fencedynamo_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencedynamo"
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

func TestTheDrillPassesBothWaysToFenceAnItem(t *testing.T) {
	w := newWorld(t, rig.Ministack(t))
	t.Run("condition on the item", func(t *testing.T) {
		j := drilled(w)
		j.Work = func(ctx context.Context, run job.Run) error {
			for n := range places {
				if _, err := fencedynamo.New(w.client, run).UpdateItem(ctx, w.add(n, run.Fence)); err != nil {
					return err
				}
			}
			return nil
		}
		jobtest.Drill(t, j)
	})
	t.Run("check of the guard", func(t *testing.T) {
		j := drilled(w)
		j.Begin = func(ctx context.Context, run job.Run) error { return w.begin(ctx, run, places) }
		j.Work = func(ctx context.Context, run job.Run) error {
			for n := range places {
				in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{w.inTransaction(n, run.Fence)}}
				if _, err := fencedynamo.New(w.client, run).TransactWriteItems(ctx, in); err != nil {
					return err
				}
			}
			return nil
		}
		jobtest.Drill(t, j)
	})
}
