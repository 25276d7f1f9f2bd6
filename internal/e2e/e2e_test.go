// Package e2e deploys the example app, as a user would, on an emulator that nobody here wrote,
// and watches it: the synthesized stack, the zips, the CDK's and our own command line. What the
// emulator cannot do is done by package ticker and by help_ministack in internal/rig/emulator.py,
// and nowhere else. Run it with `make e2e`.
package e2e

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/cronfence/cronfence/internal/example"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

var enabled = flag.Bool("e2e", false, "deploy the example app on an emulator and watch it for four minutes")

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

// The scheduler and the jobs that infra/app declares.
const (
	exampleScheduler = "example"
	cleanupJob       = "cleanup" // every minute, guarded by beats, takes nearly three
	syncJob          = "sync"    // every quarter of an hour, without beats, takes 40 s
)

func TestTheExampleAppDeploysTicksAndIsDestroyed(t *testing.T) {
	if !*enabled {
		t.Skip("deploys an app: run `make e2e`")
	}
	cloud := rig.Ministack(t)
	stack := deploy(t, cloud)
	fired := startTicker(t, cloud)
	cli := commandLine{t: t, program: stack.build("./cmd/cronfence"), env: stack.env}

	// The sentinel's first sweep finds the jobs in the schedule group.
	eventually(t, "the sentinel finds all jobs", func() bool {
		var names []string
		for _, j := range lines[ops.Job](cli, "jobs") {
			names = append(names, j.Job)
		}
		return slices.Equal(names, []string{cleanupJob, "report", syncJob})
	})

	first := fired.next(t, schema.ScheduleName(exampleScheduler, cleanupJob))
	started := eventuallyEntry(t, cli, cleanupJob, schema.TickID(first.At), guard.Running)

	manualRuns(t, cli, sfn.NewFromConfig(cloud.Config))

	// The next tick finds the first one's run at work.
	second := fired.next(t, schema.ScheduleName(exampleScheduler, cleanupJob))
	skipped := eventuallyEntry(t, cli, cleanupJob, schema.TickID(second.At), guard.Skipped)
	if skipped.Holder == nil || skipped.Holder.Run != started.Run {
		t.Errorf("the skipped tick names %+v, want run %s as the holder", skipped.Holder, started.Run)
	}
	cli.says([]string{"why", cleanupJob, skipped.Tick}, started.Run)

	// EventBridge Scheduler delivers at least once: while a run may still be starting, its start is
	// sent again, the same to the byte.
	if again := first.again(t); again.Run != started.Run || again.Fence != started.Fence {
		t.Errorf("delivered again, the running tick is %+v, want run %s", again, started.Run)
	}
	if again := second.again(t); again.Result != "Duplicate" {
		t.Errorf("delivered again, the skipped tick is %+v, want Duplicate", again)
	}

	succeeded := eventuallyEntry(t, cli, cleanupJob, started.Tick, guard.Succeeded)
	if least := example.CleanupTakes.Seconds(); succeeded.RunTimeSeconds < least || succeeded.Fence != started.Fence {
		t.Errorf("the run took %v s under fence %d, want at least %v s and fence %d", succeeded.RunTimeSeconds, succeeded.Fence, least, started.Fence)
	}
	cli.says([]string{"why", cleanupJob, started.Tick}, "17 of 17") // its notes
	if again := first.again(t); again.Result != "Duplicate" {
		t.Errorf("delivered again, the finished tick is %+v, want Duplicate", again)
	}
	if again := eventuallyEntry(t, cli, cleanupJob, skipped.Tick, guard.Skipped); !again.EndedAt.Equal(skipped.EndedAt) {
		t.Errorf("the skip changed from %+v to %+v", skipped, again)
	}
	fired.stop()
	everyRowHasItsExecution(t, cli, sfn.NewFromConfig(cloud.Config))
	stack.destroy()
}

// manualRuns shows a success, a refusal and an end that only a status event tells, of a job
// whose runs fit their lease.
func manualRuns(t *testing.T, cli commandLine, executions *sfn.Client) {
	running := runNow(t, cli)
	refused := document[ops.RunResult](cli, 3, "run", syncJob)
	if !refused.Refused || refused.Holder == nil || refused.Holder.Run != running.Run {
		t.Errorf("a second run is answered with %+v, want a refusal that names %s", refused, running.Run)
	}
	eventuallyEntry(t, cli, syncJob, running.Tick, guard.Succeeded)

	stopped := runNow(t, cli)
	arn := executionsOf(t, executions, syncJob)[stopped.Run]
	if _, err := executions.StopExecution(t.Context(), &sfn.StopExecutionInput{ExecutionArn: &arn}); err != nil {
		t.Fatal(err)
	}
	eventuallyEntry(t, cli, syncJob, stopped.Tick, guard.Aborted)
}

// runNow runs the job sync, once no planned tick of it is in the way.
func runNow(t *testing.T, cli commandLine) (run ops.RunResult) {
	t.Helper()
	eventually(t, "a run of "+syncJob+" is let in", func() bool {
		out, code := cli.try("run", syncJob, "--json")
		if code == 0 {
			run = parse[ops.RunResult](t, out)
		}
		return code == 0
	})
	return run
}

// everyRowHasItsExecution compares the ledger with Step Functions, once what was fired last has
// come to its record.
func everyRowHasItsExecution(t *testing.T, cli commandLine, client *sfn.Client) {
	t.Helper()
	for _, job := range []string{cleanupJob, syncJob} {
		eventually(t, "each run of "+job+" on record has an execution, and the other way round", func() bool {
			executions := executionsOf(t, client, job)
			missing := 0
			for _, e := range lines[ops.Entry](cli, "history", job) {
				if _, there := executions[e.Run]; e.Run != "" && !there {
					missing++
				}
				delete(executions, e.Run)
			}
			if missing+len(executions) > 0 {
				t.Logf("%d runs without an execution, executions that no tick knows of: %v", missing, executions)
			}
			return missing+len(executions) == 0
		})
	}
}
