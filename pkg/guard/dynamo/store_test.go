package dynamo_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/guardtest"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

const job = "cleanup"

var now = schema.MillisOf(time.Date(2026, 9, 7, 2, 0, 5, 0, time.UTC)) // just after tick 0 of guardtest

func newStore(t *testing.T, c rig.Cloud) *dynamo.Store {
	t.Helper()
	return dynamo.New(strict{dynamodb.NewFromConfig(c.Config), t, rand.Text()[:8]}, c.Table(t))
}

// readyStore returns a store whose job has a guard that is ready and free.
func readyStore(t *testing.T, c rig.Cloud) *dynamo.Store {
	t.Helper()
	s := newStore(t, c)
	guardtest.Ready(t, s, job)
	c.Requests.Reset()
	return s
}

func claim(t *testing.T, token string) guard.Decision {
	t.Helper()
	dec, ok := guard.BlindClaim(guardtest.Delivery(job, 0, token), now)
	if !ok {
		t.Fatal("the tick cannot be claimed blindly")
	}
	return dec
}

func commit(t *testing.T, s guard.Store, c *guard.Commit) {
	t.Helper()
	if err := s.Commit(t.Context(), *c); err != nil {
		t.Fatal(err)
	}
}

func refused(t *testing.T, err error) *guard.Refused {
	t.Helper()
	r := new(guard.Refused)
	if !errors.As(err, &r) {
		t.Fatalf("got error %v, want the commit refused", err)
	}
	return r
}

func TestStoreConformsOnMoto(t *testing.T) {
	guardtest.Exercise(t, func(t *testing.T) guard.Store { return newStore(t, rig.Moto(t)) })
}

func TestStoreConformsOnMinistack(t *testing.T) {
	guardtest.Exercise(t, func(t *testing.T) guard.Store { return newStore(t, rig.Ministack(t)) })
}

// To DynamoDB a field is missing from a row that is not there.
func TestAWriteNeedsItsRowEvenIfEveryFieldMayBeMissing(t *testing.T) {
	for name, s := range map[string]guard.Store{"memory": guard.NewMemory(), "moto": newStore(t, rig.Moto(t))} {
		r := refused(t, s.Commit(t.Context(), guard.Commit{Job: job, Writes: []guard.Write{{
			SK:    schema.GuardSK,
			If:    []guard.Cond{{Field: "mark", Op: guard.Missing}, {Field: "live", Op: guard.MissingOrLess, Value: int64(1)}},
			Patch: guard.Patch{Add: map[string]int64{"version": 1}},
		}}}))
		if !r.GuardRefused || r.Guard != nil {
			t.Errorf("%s: refusal %+v, want the guard refused and missing", name, r)
		}
	}
}

func TestEveryCallIsOneRequest(t *testing.T) {
	c := rig.Moto(t)
	s := readyStore(t, c)
	dec := claim(t, "claim")
	beat := guard.BlindBeat(guard.Beat{Job: job, Run: dec.Row.Run, Fence: dec.Row.Fence, Lease: time.Minute * 3}, now)
	for _, step := range []struct {
		name string
		do   func() error
		op   string
	}{
		{"guard and row", func() error { return s.Commit(t.Context(), *dec.Commit) }, "TransactWriteItems"},
		{"guard alone", func() error { return s.Commit(t.Context(), beat) }, "UpdateItem"},
		{"read guard", func() error { _, err := s.Guard(t.Context(), job); return err }, "GetItem"},
		{"read row", func() error { _, err := s.Row(t.Context(), job, dec.Row.Tick); return err }, "GetItem"},
		{"read rows", func() error { _, err := s.Rows(t.Context(), guard.RowQuery{Job: job}); return err }, "Query"},
		{"a duplicate", func() error {
			_ = refused(t, s.Commit(t.Context(), *claim(t, "again").Commit))
			return nil
		}, "TransactWriteItems"},
	} {
		c.Requests.Reset()
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if diff := cmp.Diff(map[string]int{step.op: 1}, c.Requests.Counts()); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s", step.name, diff)
		}
	}
}

// A lost answer makes the SDK send a plain update again, which then meets its own effect.
func TestARepeatedBeatIsRefusedWithItsOwnLease(t *testing.T) {
	c := rig.Moto(t)
	s := readyStore(t, c)
	dec := claim(t, "claim")
	commit(t, s, dec.Commit)
	beat := guard.Beat{Job: job, Run: dec.Row.Run, Fence: dec.Row.Fence, Lease: 3 * time.Minute}
	loseFirstAnswer(c, "UpdateItem")
	r := refused(t, s.Commit(t.Context(), guard.BlindBeat(beat, now)))
	if got := guard.JudgeBeat(beat, r.Guard, nil, now.Add(beat.Lease), now); got != guard.Renewed {
		t.Errorf("judged %v, want Renewed: the lease is as the beat set it", got)
	}
}

// Not on moto, which applies a transaction twice whatever its token.
func TestARepeatedTransactionIsAnsweredAsTheFirst(t *testing.T) {
	c := rig.Ministack(t)
	s := readyStore(t, c)
	loseFirstAnswer(c, "TransactWriteItems")
	commit(t, s, claim(t, "claim").Commit)
	if got := c.Requests.Counts()["TransactWriteItems"]; got != 2 {
		t.Errorf("%d requests, want 2", got)
	}
}

// loseFirstAnswer lets the first request of the operation through and loses its answer.
func loseFirstAnswer(c rig.Cloud, op string) {
	var once sync.Once
	c.Requests.Around(func(got string, send rig.Send) (*http.Response, error) {
		resp, err := send()
		if got == op {
			once.Do(func() {
				if err == nil {
					resp.Body.Close()
				}
				resp, err = nil, errors.New("connection reset by peer")
			})
		}
		return resp, err
	})
}

func TestWritersOfOneGuardLoseNoUpdate(t *testing.T) {
	c := rig.Moto(t)
	s := readyStore(t, c)
	before, err := s.Guard(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 5
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for n := range each {
				if err := increment(t.Context(), s, fmt.Sprintf("w%d-%d", i, n)); err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	after, err := s.Guard(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := after.Version, before.Version+writers*each; got != want {
		t.Errorf("version %d after %d increments, want %d", got, writers*each, want)
	}
}

// increment raises the guard's version by one, against the version seen, with a row.
func increment(ctx context.Context, s guard.Store, tick string) error {
	for {
		g, err := s.Guard(ctx, job)
		if err != nil {
			return err
		}
		err = s.Commit(ctx, guard.Commit{Job: job, Token: tick + fmt.Sprint(g.Version), Writes: []guard.Write{
			{
				SK: schema.GuardSK, If: []guard.Cond{{Field: "version", Op: guard.Is, Value: g.Version}},
				Patch: guard.Patch{Set: guard.Fields{{Name: "version", Value: g.Version + 1}}},
			},
			{SK: schema.TickSK(tick), Absent: true, Patch: guard.Patch{Set: guard.Fields{{Name: "tick", Value: tick}}}},
		}})
		if r := new(guard.Refused); !errors.As(err, &r) {
			return err
		}
	}
}

func TestTheIndexListsGuardsAlone(t *testing.T) {
	c := rig.Moto(t)
	s := readyStore(t, c)
	commit(t, s, claim(t, "claim").Commit)
	client := dynamodb.NewFromConfig(c.Config)
	tables, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{
		TableName: &tables.TableNames[len(tables.TableNames)-1], IndexName: aws.String(schema.GuardIndex),
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.Count != 1 {
		t.Errorf("the index has %d items after a guard and a row were written, want the guard alone", out.Count)
	}
}
