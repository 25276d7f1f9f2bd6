package dispatch_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// overtaken lets somebody else write the guard before each of the next commits on the version
// seen, so that they are lost; times is how often.
func overtaken(t *testing.T, w *testworld.World, times int) {
	w.Store.Fail = func(c guard.Commit) error {
		onVersion := len(c.Writes[0].If) > 0 && c.Writes[0].If[0] == (guard.Cond{Field: "version", Op: guard.Is, Value: w.Guard("cleanup").Version})
		if !onVersion || times == 0 {
			return nil
		}
		times--
		err := w.Store.Store.Commit(t.Context(), guard.Commit{Job: "cleanup", Writes: []guard.Write{{
			SK: schema.GuardSK, If: c.Writes[0].If, Patch: guard.Patch{Add: map[string]int64{"version": 1}},
		}}})
		if err != nil {
			t.Error(err)
		}
		return nil
	}
}

func TestALostRaceCostsAtMostTwoRequests(t *testing.T) {
	for name, store := range map[string]func(t *testing.T) guard.Store{
		"memory": func(*testing.T) guard.Store { return guard.NewMemory() },
		"moto": func(t *testing.T) guard.Store {
			cloud := rig.Moto(t)
			return dynamo.New(dynamodb.NewFromConfig(cloud.Config), cloud.Table(t))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for races := range 4 {
				t.Run(fmt.Sprint(races, " lost"), func(t *testing.T) { lostRaces(t, store(t), races) })
			}
		})
	}
}

func lostRaces(t *testing.T, store guard.Store, races int) {
	w, spec := testworld.New(t, store), testworld.Minutely("cleanup")
	w.Established(spec, "01:59")
	w.At("02:00:00")
	run := w.Tick(spec, "02:00")
	for _, step := range []struct {
		what string
		do   func() string
		free int // requests when no race is lost
		want string
	}{
		{"skip", func() string { w.At("02:01:00"); return w.Tick(spec, "02:01").Result }, 2, "Skipped"},
		{"queue", func() string {
			spec.Overlap = policy.QueueOne
			w.At("02:01:30")
			return w.Tick(spec, "02:02").Result
		}, 2, "Queued"},
		{"settle with a hand-over", func() string {
			w.At("02:02:00")
			r, err := w.Succeed(run)
			if err != nil {
				t.Fatal(err)
			}
			return string(r.Outcome)
		}, 3, "Succeeded"},
	} {
		w.Store.Reset()
		overtaken(t, w, races)
		if got := step.do(); got != step.want {
			t.Errorf("%s: %s, want %s", step.what, got, step.want)
		}
		if got := w.Store.Reset(); got > step.free+2*races || got < step.free+races {
			t.Errorf("%s after %d lost races: %d requests, want at most %d", step.what, races, got, step.free+2*races)
		}
	}
}
