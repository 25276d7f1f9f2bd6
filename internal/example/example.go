// Package example holds the jobs of the example app, as a job's author writes them. They take
// their time and keep books about it, like the work they are named after.
package example

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencedynamo"
	"github.com/cronfence/cronfence/pkg/job/notes"
)

// EnvCatalog is the environment variable that names the table which the sync writes.
const EnvCatalog = "CATALOG_TABLE"

// CatalogKey is that table's partition key, of type S.
const CatalogKey = "id"

// App is what the jobs run on: AWS, or the local cloud, which has a time of its own.
type App struct {
	Tables  Tables
	Catalog string // name of the table
	Clock   job.Clock
}

// Tables is what the jobs need of a *dynamodb.Client.
type Tables interface {
	fencedynamo.API
	fencedynamo.Reader
}

// Handler is the handler of a job's Lambda function.
type Handler = func(ctx context.Context, run json.RawMessage) error

// Jobs makes the handlers by the names of their jobs.
var Jobs = map[string]func(App) Handler{"cleanup": Cleanup, "sync": Sync, "report": Report}

// handler watches the guard: a run that is asked to stop, or has lost its lease, ends.
func (a App) handler(work job.Work) Handler {
	return job.Handler(work, job.WithClock(a.Clock), job.WithGuard(fencedynamo.Guard(a.Tables)))
}

// note is a courtesy to whoever asks `cronfence why`: no work fails for it.
func (a App) note(ctx context.Context, run job.Run, name, text string) {
	if err := notes.Put(ctx, a.Tables, run, name, text, a.Clock.Now()); err != nil {
		slog.WarnContext(ctx, "note was not written", "run", run.ID, "error", err)
	}
}

// sleepUntil is the work itself. It ends early with why the run should.
func (a App) sleepUntil(ctx context.Context, t time.Time) error {
	if a.Clock.Sleep(ctx, t.Sub(a.Clock.Now())) != nil {
		return context.Cause(ctx)
	}
	return nil
}

const (
	batches = 17
	batch   = 10 * time.Second

	// CleanupTakes is how long a run of Cleanup takes at the least.
	CleanupTakes = batches * batch
)

// Cleanup does all its batches, however long that takes: with 2 min 50 s on a schedule of one
// minute two of three ticks find it running.
func Cleanup(a App) Handler {
	return a.handler(func(ctx context.Context, run job.Run) error {
		begun := a.Clock.Now()
		for i := range batches {
			if err := a.sleepUntil(ctx, begun.Add(time.Duration(i+1)*batch)); err != nil {
				return err
			}
			a.note(ctx, run, "batches", fmt.Sprintf("%d of %d", i+1, batches))
		}
		return nil
	})
}

const (
	pages = 8
	page  = 4 * time.Second
)

// Sync takes up pages as long as its budget lasts, so that it never meets its next tick, and
// records each in a fenced write: a run that wakes up late cannot set the catalog back.
func Sync(a App) Handler { return a.handler(a.sync) }

func (a App) sync(ctx context.Context, run job.Run) error {
	db := fencedynamo.New(a.Tables, run)
	begun := a.Clock.Now()
	done := 0
	for ; done < pages && run.Budget.More(ctx); done++ {
		if err := a.sleepUntil(ctx, begun.Add(time.Duration(done+1)*page)); err != nil {
			return err
		}
		_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:        &a.Catalog,
			Key:              map[string]types.AttributeValue{CatalogKey: &types.AttributeValueMemberS{Value: fmt.Sprintf("page %d", done+1)}},
			UpdateExpression: aws.String("SET syncedFor = :tick"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":tick": &types.AttributeValueMemberS{Value: run.Tick},
			},
		})
		if err != nil {
			return err // a *job.FencedError ends the run as LeaseLost, not as Failed
		}
	}
	a.note(ctx, run, "pages", fmt.Sprintf("%d of %d, %v", done, pages, run.Budget))
	return context.Cause(ctx)
}

const reportTakes = 8 * time.Minute

// Report runs every night and takes 8 minutes.
func Report(a App) Handler {
	return a.handler(func(ctx context.Context, _ job.Run) error {
		return a.sleepUntil(ctx, a.Clock.Now().Add(reportTakes))
	})
}
