package notes_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/internal/fencetest"
	"github.com/cronfence/cronfence/pkg/job/notes"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

var now = time.Date(2026, 9, 7, 2, 0, 5, 123e6, time.UTC)

func TestANoteIsReplacedByItsNameAndNeverByAnOlderAttempt(t *testing.T) {
	c := rig.Moto(t)
	client, table := dynamodb.NewFromConfig(c.Config), c.Table(t)
	first, retried, other := fencetest.NewRun(0, 1), fencetest.NewRun(0, 2), fencetest.NewRun(0, 3)
	retried.Tick = first.Tick
	for _, run := range []*job.Run{&first, &retried, &other} {
		run.Table = table
	}
	for _, w := range []struct {
		run        job.Run
		name, text string
		refused    bool
	}{
		{first, "page", "1 of 3", false},
		{first, "page", "2 of 3", false},
		{retried, "page", "3 of 3", false},
		{first, "page", "2 of 3", true},
		{retried, "long", strings.Repeat("é", notes.MaxText), false},
		{other, "page", "another tick's", false},
	} {
		if err := notes.Put(t.Context(), client, w.run, w.name, w.text, now); errors.Is(err, job.ErrFenced) != w.refused || err != nil && !w.refused {
			t.Errorf("%s %q with fence %d: %v", w.name, w.text, w.run.Fence, err)
		}
	}
	got, err := notes.List(t.Context(), client, table, first.Job, first.Tick)
	if err != nil {
		t.Fatal(err)
	}
	at := now.Truncate(time.Millisecond)
	want := []notes.Note{
		{Name: "long", Text: strings.Repeat("é", notes.MaxText/2), At: at, Run: retried.ID, Fence: retried.Fence},
		{Name: "page", Text: "3 of 3", At: at, Run: retried.ID, Fence: retried.Fence},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	rows, err := dynamo.New(client, table).Rows(t.Context(), guard.RowQuery{Job: first.Job})
	if err != nil || len(rows.Rows) != 0 {
		t.Errorf("the ledger has %d rows, %v: notes must not be among them", len(rows.Rows), err)
	}
}

func TestANoteNeedsAName(t *testing.T) {
	for _, name := range []string{"", "a#b", "-", strings.Repeat("a", 49)} {
		if err := notes.Put(t.Context(), nil, job.Run{}, name, "", now); err == nil {
			t.Errorf("name %q: want an error", name)
		}
	}
}

func ExamplePut() {
	var client *dynamodb.Client
	work := func(ctx context.Context, run job.Run) error {
		for page := 1; run.Budget.More(ctx) && page <= 40; page++ {
			// A note is a courtesy: the work does not fail for it.
			if err := notes.Put(ctx, client, run, "page", fmt.Sprintf("%d of 40", page), time.Now()); err != nil {
				log.Print(err)
			}
		}
		return context.Cause(ctx)
	}
	_ = work
}

func TestAFenceThatNoRunCanHaveIsNotWritten(t *testing.T) {
	fencetest.Refuses(t, "Put", func(run job.Run) error { return notes.Put(t.Context(), nil, run, "page", "1", now) })
}
