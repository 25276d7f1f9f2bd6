package fenceredis_test

import (
	"context"
	"fmt"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fenceredis"
)

func Example() {
	// With github.com/redis/go-redis/v9: rdb.Eval(ctx, script, keys, args...).Result()
	eval := func(_ context.Context, _ string, keys []string, args ...any) (any, error) {
		fmt.Println("EVAL", keys, args)
		return "OK", nil
	}
	run := job.Run{Job: "cleanup", Fence: 7}
	_, err := fenceredis.Do(context.Background(), eval, run, "{cleanup}:fence", "SET", "{cleanup}:cursor", "m")
	fmt.Println(err)
	// Output:
	// EVAL [{cleanup}:fence {cleanup}:cursor] [7 SET m]
	// <nil>
}
