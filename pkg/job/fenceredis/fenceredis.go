// Package fenceredis refuses late writes in Redis and Valkey, by a script that compares the
// fence and writes in one step. It links no client: it is given a function that evaluates a
// script.
//
//	eval := func(ctx context.Context, script string, keys []string, args ...any) (any, error) {
//		return rdb.Eval(ctx, script, keys, args...).Result() // github.com/redis/go-redis/v9
//	}
//	_, err := fenceredis.Do(ctx, eval, run, "{cleanup}:fence", "SET", "{cleanup}:cursor", cursor)
//
// The newest fence is kept under a key of its own, which must never expire or be evicted. Each
// job needs another: fences of different jobs say nothing about each other.
//
//   - Protected: every command sent with Do or Run under the same fence key, from the moment
//     a newer run has sent one (Raise, before anything else, makes that the new run's
//     beginning).
//   - Not protected: commands sent otherwise; keys whose runs use different fence keys.
//   - Not protected: what an asynchronous replica did not have yet when it was promoted. The
//     fence falls back with the data, and a late write that comes then is let through. WAIT
//     makes that rarer and does not exclude it. Where it matters keep the data elsewhere.
//
// In a cluster all keys of one call must be in one slot: give them the same {hash tag}.
package fenceredis

import (
	"context"
	"fmt"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/internal/fence"
	"github.com/cronfence/cronfence/pkg/job/internal/step"
)

// Eval evaluates a Lua script, as EVAL does. A null answer may be an error, as some clients
// have it, or nil.
type Eval func(ctx context.Context, script string, keys []string, args ...any) (any, error)

// check comes before the author's own script. Lua's numbers are exact up to 2^53; fences are
// milliseconds since the epoch.
const check = `local seen = redis.call('GET', KEYS[1])
if seen and tonumber(seen) > tonumber(ARGV[1]) then return {'cronfence-fenced', seen} end
redis.call('SET', KEYS[1], ARGV[1])
`

const refused = "cronfence-fenced"

// Do sends one command on one key, unless a newer run has written under fenceKey: then it
// sends nothing and returns a *job.FencedError. It returns what the command does.
func Do(ctx context.Context, eval Eval, run job.Run, fenceKey, command, key string, args ...any) (any, error) {
	return Run(ctx, eval, run, fenceKey, `return redis.call(ARGV[2], KEYS[2], unpack(ARGV, 3))`,
		[]string{key}, append([]any{command}, args...)...)
}

// Run evaluates a script of the author's in the same step as the check. In the script KEYS
// and ARGV begin at 2: the first of each are the fence's. A script that fails in the middle
// keeps what it has written so far, as always in Redis.
func Run(ctx context.Context, eval Eval, run job.Run, fenceKey, script string, keys []string, args ...any) (any, error) {
	if err := fence.Check(run.Fence); err != nil {
		return nil, fmt.Errorf("fenced script: %w", err)
	}
	step.At(ctx)
	defer step.At(ctx)
	answer, err := eval(ctx, check+script, append([]string{fenceKey}, keys...), append([]any{run.Fence}, args...)...)
	if err != nil {
		return nil, err // as the client has it: its null, or a connection's error
	}
	if list, ok := answer.([]any); ok && len(list) == 2 && fmt.Sprint(list[0]) == refused {
		e := &job.FencedError{Fence: run.Fence}
		if _, err := fmt.Sscan(fmt.Sprint(list[1]), &e.Seen); err != nil {
			return nil, fmt.Errorf("read fence under %q: %w", fenceKey, err)
		}
		return nil, e
	}
	return answer, nil
}

// Raise makes the run's fence the newest one seen, so that no older run can write from then
// on. A run calls it before it does anything else.
func Raise(ctx context.Context, eval Eval, run job.Run, fenceKey string) error {
	_, err := Run(ctx, eval, run, fenceKey, `return 1`, nil)
	return err
}
