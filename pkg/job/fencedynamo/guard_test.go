package fencedynamo_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/guardtest"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencedynamo"
	"github.com/cronfence/cronfence/pkg/job/internal/fencetest"
)

// held is a table whose job's guard a run holds, written by the store itself.
func held(t *testing.T, c rig.Cloud) (world, *dynamo.Store, job.Run) {
	t.Helper()
	w := newWorld(t, c)
	store := dynamo.New(w.client, w.table)
	guardtest.Ready(t, store, "cleanup")
	at := schema.MillisOf(time.Date(2026, 9, 7, 2, 0, 5, 0, time.UTC))
	dec, ok := guard.BlindClaim(guardtest.Delivery("cleanup", 0, "claim"), at)
	if !ok {
		t.Fatal("the tick cannot be claimed")
	}
	if err := store.Commit(t.Context(), *dec.Commit); err != nil {
		t.Fatal(err)
	}
	return w, store, job.Run{Table: w.table, Job: "cleanup", ID: dec.Row.Run, Fence: dec.Row.Fence}
}

func TestTheGuardSaysToItsHolderWhatTheStoreWrote(t *testing.T) {
	w, store, run := held(t, rig.Moto(t))
	read := fencedynamo.Guard(w.client)
	state, err := read(t.Context(), run)
	if err != nil || !state.Held || state.Marked || state.Stop != nil || state.LeaseUntil.IsZero() {
		t.Fatalf("%+v, %v: want it held", state, err)
	}
	for name, other := range map[string]job.Run{
		"older fence": {Table: run.Table, Job: run.Job, ID: run.ID, Fence: run.Fence - 1},
		"another run": {Table: run.Table, Job: run.Job, ID: "r", Fence: run.Fence},
		"no guard":    {Table: run.Table, Job: "other", ID: run.ID, Fence: run.Fence},
	} {
		if state, err := read(t.Context(), other); err != nil || state.Held {
			t.Errorf("%s: %+v, %v: want it not held", name, state, err)
		}
	}
	until := state.LeaseUntil.Add(time.Minute)
	set := guard.Write{SK: schema.GuardSK, Patch: guard.Patch{Set: guard.Fields{
		{Name: "mark", Value: guard.Mark{Why: guard.MarkReplace, By: "a", At: 1}},
		{Name: "stop", Value: guard.StopRequest{ByTick: "2026-09-07T02:15:00Z", At: 1}},
		{Name: "stopDeadline", Value: schema.MillisOf(until)},
	}}}
	if err := store.Commit(t.Context(), guard.Commit{Job: run.Job, Writes: []guard.Write{set}}); err != nil {
		t.Fatal(err)
	}
	got, err := read(t.Context(), run)
	want := job.GuardState{Held: true, Marked: true, LeaseUntil: state.LeaseUntil, Stop: &job.StopError{ByTick: "2026-09-07T02:15:00Z", Until: until}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestATransactionOfTheHoldersCommitsAndAnothersDoesNot(t *testing.T) {
	w, _, run := held(t, rig.Moto(t))
	in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{w.inTransaction(0, 1)}}
	if _, err := fencedynamo.New(w.client, run).TransactWriteItems(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	older := run
	older.Fence--
	_, err := fencedynamo.New(w.client, older).TransactWriteItems(t.Context(), in)
	if fenced := new(job.FencedError); !errors.As(err, &fenced) || fenced.Seen != run.Fence {
		t.Errorf("%v: want it refused, and the newer fence named", err)
	}
	if got, err := w.landed(t.Context(), 0); err != nil || len(got) != 1 {
		t.Errorf("%v, %v: want one write", got, err)
	}
}

func TestAConflictIsTriedAgainAndIsNoRefusal(t *testing.T) {
	c := rig.Moto(t)
	w, _, run := held(t, c)
	in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{w.inTransaction(0, 1)}}
	conflicts, tokens := 2, map[string]bool{}
	c.Requests.Around(func(_ string, send rig.Send) (*http.Response, error) {
		if conflicts--; conflicts >= 0 {
			return rig.AWSError(400, "TransactionCanceledException", `"CancellationReasons":[{"Code":"None"},{"Code":"TransactionConflict"}]`), nil
		}
		return send()
	})
	db := fencedynamo.New(tokenSpy{w.client, tokens}, run)
	if _, err := db.TransactWriteItems(t.Context(), in); err != nil {
		t.Errorf("%v: want it to land at the third try", err)
	}
	if len(tokens) != 1 {
		t.Errorf("%d request tokens, want the same over all tries", len(tokens))
	}
}

// tokenSpy notes the request tokens of transactions.
type tokenSpy struct {
	*dynamodb.Client
	tokens map[string]bool
}

func (s tokenSpy) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	s.tokens[*in.ClientRequestToken] = true
	return s.Client.TransactWriteItems(ctx, in, o...)
}

// Watched, a run ends as soon as its guard is another's.
func TestARunEndsWhenItsGuardIsTaken(t *testing.T) {
	w, store, run := held(t, rig.Moto(t))
	run.Deadline = time.Now().Add(time.Minute)
	err := job.Do(t.Context(), run, func(ctx context.Context, _ job.Run) error {
		set := guard.Write{SK: schema.GuardSK, Patch: guard.Patch{Set: guard.Fields{{Name: "fence", Value: run.Fence + 1}}}}
		if err := store.Commit(ctx, guard.Commit{Job: run.Job, Writes: []guard.Write{set}}); err != nil {
			return err
		}
		<-ctx.Done()
		return fmt.Errorf("stopped: %w", ctx.Err())
	}, job.WithGuard(fencedynamo.Guard(w.client)), job.WithPoll(10*time.Millisecond))
	if !errors.Is(err, job.ErrLeaseLost) {
		t.Errorf("%v: want the lost lease", err)
	}
}

// Nobody has written: the refusal must not say so.
func TestARefusalForAGuardThatIsFreeOrGoneSaysThat(t *testing.T) {
	w := newWorld(t, rig.Moto(t))
	run := job.Run{Table: w.table, Job: "cleanup", ID: "r", Fence: 7}
	for name, guardItem := range map[string]item{
		"free": {"pk": text("cleanup"), "sk": text("guard"), "fence": number(7)},
		"gone": nil,
	} {
		key := item{"pk": text("cleanup"), "sk": text("guard")}
		_, err := w.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &w.table, Key: key})
		if guardItem != nil && err == nil {
			_, err = w.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &w.table, Item: guardItem})
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = fencedynamo.New(w.client, run).TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{w.inTransaction(0, 7)},
		})
		if !errors.Is(err, job.ErrFenced) || !strings.Contains(err.Error(), "does not hold its job's guard") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Known and documented: fences of two jobs say nothing about each other. An item that keeps one
// is for one job; the check of each job's own guard keeps them apart.
func TestTwoJobsMayWriteOneItemUnderTheirGuardsAlone(t *testing.T) {
	w := newWorld(t, rig.Moto(t))
	hourly, minutely := withTable(w, fencetest.NewRun(1, 1)), withTable(w, fencetest.NewRun(2, 2))
	for _, run := range []job.Run{hourly, minutely} {
		if err := w.begin(t.Context(), run, 9); err != nil {
			t.Fatal(err)
		}
	}
	for i, run := range []job.Run{minutely, hourly} {
		db := fencedynamo.New(w.client, run)
		if _, err := db.UpdateItem(t.Context(), w.add(0, run.Fence)); errors.Is(err, job.ErrFenced) != (i == 1) {
			t.Errorf("%s, own item: %v: want the one with the lower fence shut out", run.Job, err)
		}
		in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{w.inTransaction(1, run.Fence)}}
		if _, err := db.TransactWriteItems(t.Context(), in); err != nil {
			t.Errorf("%s, the guard: %v", run.Job, err)
		}
	}
}
