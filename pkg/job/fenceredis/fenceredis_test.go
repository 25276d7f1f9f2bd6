package fenceredis_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fenceredis"
	"github.com/cronfence/cronfence/pkg/job/internal/fencetest"
	"github.com/cronfence/cronfence/pkg/job/jobtest"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

func connect(t *testing.T) (*redis.Client, fenceredis.Eval) {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: rig.Redis(t)})
	t.Cleanup(func() { rdb.Close() })
	if err := rdb.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	return rdb, func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
		return rdb.Eval(ctx, script, keys, args...).Result()
	}
}

func fenceKey(n int) string { return fmt.Sprintf("{%d}:fence", n) }
func logKey(n int) string   { return fmt.Sprintf("{%d}:log", n) }

func TestNoLateCommandLands(t *testing.T) {
	rdb, eval := connect(t)
	place := fencetest.Place{Landed: func(ctx context.Context, n int) (fences []int64, err error) {
		err = rdb.LRange(ctx, logKey(n), 0, -1).ScanSlice(&fences)
		return fences, err
	}}
	place.Write = func(ctx context.Context, run job.Run, n int) error {
		_, err := fenceredis.Do(ctx, eval, run, fenceKey(n), "RPUSH", logKey(n), run.Fence)
		return err
	}
	fencetest.Holds(t, fencetest.Many(t), place)
	place.Write = func(ctx context.Context, run job.Run, n int) error {
		return rdb.RPush(ctx, logKey(n+fencetest.Full), run.Fence).Err()
	}
	fencetest.LetsThrough(t, 100, place.At(fencetest.Full))
}

func TestRaiseShutsOutOlderRunsAndKeepsEqualOnes(t *testing.T) {
	rdb, eval := connect(t)
	newer, older := fencetest.NewRun(0, 2), fencetest.NewRun(0, 1)
	if err := fenceredis.Raise(t.Context(), eval, newer, fenceKey(0)); err != nil {
		t.Fatal(err)
	}
	_, err := fenceredis.Do(t.Context(), eval, older, fenceKey(0), "SET", "{0}:k", "late")
	if fenced := new(job.FencedError); !errors.As(err, &fenced) || fenced.Seen != newer.Fence || fenced.Fence != older.Fence {
		t.Errorf("%v: want it refused, with both fences", err)
	}
	if n := rdb.Exists(t.Context(), "{0}:k").Val(); n != 0 {
		t.Error("the late write landed")
	}
	answer, err := fenceredis.Do(t.Context(), eval, newer, fenceKey(0), "INCRBY", "{0}:n", 3)
	if err != nil || answer != int64(3) {
		t.Errorf("%v, %v: want the command's own answer", answer, err)
	}
}

func TestAScriptOfTheAuthorsRunsBehindTheCheck(t *testing.T) {
	rdb, eval := connect(t)
	const move = `redis.call('INCRBY', KEYS[2], -ARGV[2]); return redis.call('INCRBY', KEYS[3], ARGV[2])`
	answer, err := fenceredis.Run(t.Context(), eval, fencetest.NewRun(0, 1), fenceKey(0), move, []string{"{0}:a", "{0}:b"}, 5)
	if err != nil || answer != int64(5) {
		t.Fatalf("%v, %v", answer, err)
	}
	if a, err := rdb.Get(t.Context(), "{0}:a").Result(); err != nil || a != strconv.Itoa(-5) {
		t.Errorf("a is %v, %v: want -5", a, err)
	}
}

func TestAnErrorOfTheCommandIsNoRefusal(t *testing.T) {
	_, eval := connect(t)
	_, err := fenceredis.Do(t.Context(), eval, fencetest.NewRun(0, 1), fenceKey(0), "NOSUCH", "{0}:k")
	if err == nil || errors.Is(err, job.ErrFenced) {
		t.Errorf("%v: want the server's error", err)
	}
}

func TestTheDrillSeesPastAFencedCommand(t *testing.T) {
	rdb, eval := connect(t)
	fencetest.DrillSees(t, jobtest.Job{
		Work: func(ctx context.Context, run job.Run) error {
			_, err := fenceredis.Do(ctx, eval, run, fenceKey(0), "RPUSH", logKey(0), run.Fence)
			return err
		},
		Reset: func(ctx context.Context) error { return rdb.Del(ctx, fenceKey(0), logKey(0)).Err() },
		State: func(ctx context.Context) (any, error) { return rdb.LRange(ctx, logKey(0), 0, -1).Result() },
	}, func(ctx context.Context, run job.Run) error { return rdb.RPush(ctx, logKey(0), run.Fence).Err() })
}

func TestAFenceThatNoRunCanHaveIsNotWritten(t *testing.T) {
	fencetest.Refuses(t, "Raise", func(run job.Run) error { return fenceredis.Raise(t.Context(), nil, run, fenceKey(0)) })
}
