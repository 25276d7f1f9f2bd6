package job_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cronfence/cronfence/pkg/job"
)

// A container: exit status 0 is success, SIGTERM is the stop.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err := os.Setenv("CRONFENCE_RUN", `{"scheduler":"shop","table":"t","job":"cleanup","tick":"2026-09-07T02:00:00Z",
		"run":"cleanup-20260907T020000Z-1","fence":7,"attempt":1,"deadline":"2100-01-01T00:00:00Z","interval":900,"payload":null}`)
	if err != nil {
		log.Fatal(err)
	}

	run, err := job.FromEnv()
	if err != nil {
		log.Fatal(err)
	}
	err = job.Do(ctx, run, func(ctx context.Context, run job.Run) error {
		orders := []string{"a", "b", "c"}
		for run.Budget.More(ctx) && len(orders) > 0 {
			fmt.Println("order", orders[0], "for tick", run.Tick)
			orders = orders[1:]
		}
		return context.Cause(ctx)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// order a for tick 2026-09-07T02:00:00Z
	// order b for tick 2026-09-07T02:00:00Z
	// order c for tick 2026-09-07T02:00:00Z
}

// What the work makes of the end of its context.
func ExampleDo() {
	run := job.Run{Job: "cleanup", Fence: 7, Deadline: time.Now().Add(10 * time.Millisecond)}
	err := job.Do(context.Background(), run, func(ctx context.Context, _ job.Run) error {
		<-ctx.Done()
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, job.ErrDeadline):
			fmt.Println("out of time")
		case errors.Is(cause, job.ErrStop):
			fmt.Println("a newer tick waits")
		case errors.Is(cause, job.ErrLeaseLost):
			fmt.Println("somebody else runs")
		}
		return ctx.Err()
	})
	fmt.Println(err)
	// Output:
	// out of time
	// the run had its maximum run time: context canceled
}
