package asl

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// twoBranches is the shape of a guarded job: work in the first branch, a watcher in the
// second. The arguments are the states of either branch and what the Parallel carries.
func twoBranches(first, second, parallel, rest string) string {
	return fmt.Sprintf(`{"StartAt":"P","States":{"P":{"Type":"Parallel","Branches":[%s,%s]%s}%s}}`, first, second, parallel, rest)
}

const (
	task = `"Type":"Task","Resource":"arn:aws:states:::lambda:invoke"`

	jobThenFinished = `{"StartAt":"Run","States":{"Run":{` + task + `,"Next":"Finished"},
		"Finished":{"Type":"Fail","Error":"Cronfence.Finished","Cause":"done"}}}`
	jobAlone = `{"StartAt":"Run","States":{"Run":{` + task + `,"End":true}}}`
	beats    = `{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":30,"Next":"Beat"},"Beat":{` + task + `,"Next":"Wait"}}}`
	waits    = `{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":3600,"Next":"Late"},"Late":{"Type":"Pass","End":true}}}`

	catches = `,"Catch":[{"ErrorEquals":["Cronfence.Finished"],"ResultPath":"$.end","Next":"Settle"},
		{"ErrorEquals":["States.ALL"],"ResultPath":"$.end","Next":"Failed"}],"Next":"Settle"`
	ends = `,"Settle":{"Type":"Succeed"},"Failed":{"Type":"Fail","ErrorPath":"$.end.Error","CausePath":"$.end.Cause"}`
)

func TestTheJobsEndCancelsTheHeartbeat(t *testing.T) {
	x := try(t, twoBranches(jobThenFinished, beats, catches, ends), `{"a":1}`, work{
		"Run": takes(100 * time.Second), "Beat": takes(time.Second),
	})
	x.wantOutput(t, `{"a":1,"end":{"Error":"Cronfence.Finished","Cause":"done"}}`)
	x.wantTook(t, 100*time.Second)
	if got := x.count("ParallelStateFailed"); got != 1 {
		t.Errorf("the Parallel failed %d times, want once", got)
	}
}

func TestALostLeaseCancelsTheJob(t *testing.T) {
	cancelled := false
	x := try(t, twoBranches(jobThenFinished, beats, catches, ends), `{}`, work{
		"Run": func(ctx context.Context, _ Task) (any, error) {
			<-ctx.Done()
			cancelled = true
			return nil, ctx.Err()
		},
		"Beat": failsAfter(time.Second, "Cronfence.LeaseLost", "taken over"),
	})
	x.wantError(t, "Cronfence.LeaseLost")
	x.wantTook(t, 31*time.Second)
	x.wantNever(t, "Finished")
	if x.Err.Cause != "taken over" || !cancelled {
		t.Errorf("cause %q, job cancelled %v", x.Err.Cause, cancelled)
	}
}

func TestTheJobsOwnErrorKeepsItsName(t *testing.T) {
	x := try(t, twoBranches(jobThenFinished, beats, catches, ends), `{}`, work{
		"Run": failsAfter(time.Minute, "MyError", "because"), "Beat": takes(0),
	})
	x.wantError(t, "MyError")
	x.wantTook(t, time.Minute)
	x.wantNever(t, "Settle")
}

func TestAJobsTimeoutIsNoTaskFailure(t *testing.T) {
	job := `{"StartAt":"Run","States":{"Run":{` + task + `,"TimeoutSeconds":60,"End":true}}}`
	catch := `,"Catch":[{"ErrorEquals":["States.TaskFailed"],"Next":"Settle"},
		{"ErrorEquals":["States.Timeout"],"ResultPath":"$.end","Next":"Failed"}],"Next":"Settle"`
	x := try(t, twoBranches(job, beats, catch, ends), `{}`, work{"Run": takes(time.Hour), "Beat": takes(0)})
	x.wantError(t, "States.Timeout")
	x.wantTook(t, time.Minute)
}

func TestARuntimeErrorOfABranchEndsTheExecution(t *testing.T) {
	bad := `{"StartAt":"Bad","States":{"Bad":{"Type":"Pass","Parameters":{"x.$":"$.missing"},"End":true}}}`
	x := try(t, twoBranches(bad, waits, catches, ends), `{}`, work{})
	x.wantError(t, "States.Runtime")
	x.wantTook(t, 0)
	x.wantNever(t, "Failed")
}

func TestBothBranchesResultsComeInOrder(t *testing.T) {
	quick := `{"StartAt":"Quick","States":{"Quick":{` + task + `,"End":true}}}`
	x := try(t, twoBranches(jobAlone, quick, `,"ResultPath":"$.both","End":true`, ""), `{"a":1}`, work{
		"Run": takes(time.Minute), "Quick": takes(time.Second),
	})
	x.wantOutput(t, `{"a":1,"both":[{"did":"Run"},{"did":"Quick"}]}`)
	x.wantTook(t, time.Minute)
}

func TestAnErrorCaughtInItsBranchLeavesTheOtherAlone(t *testing.T) {
	caught := `{"StartAt":"Run","States":{"Run":{` + task + `,"Catch":[{"ErrorEquals":["States.ALL"],"Next":"Mend"}],"End":true},
		"Mend":{"Type":"Pass","End":true}}}`
	x := try(t, twoBranches(caught, waits, `,"End":true`, ""), `{}`, work{"Run": failsAfter(time.Second, "E", "c")})
	x.wantOutput(t, `[{"Error":"E","Cause":"c"},{}]`)
	x.wantTook(t, time.Hour)
}

func TestARetriedParallelRunsBothBranchesAgain(t *testing.T) {
	tries := 0
	x := try(t, twoBranches(jobAlone, waits, `,"Retry":[{"ErrorEquals":["E"],"IntervalSeconds":5,"MaxAttempts":1}],"End":true`, ""), `{}`, work{
		"Run": func(context.Context, Task) (any, error) {
			if tries++; tries == 1 {
				return nil, &Error{Name: "E"}
			}
			return "done", nil
		},
	})
	x.wantOutput(t, `["done",{}]`)
	x.wantTook(t, 5*time.Second+time.Hour)
	if got := x.count("ParallelStateStarted"); got != 2 {
		t.Errorf("the Parallel started %d times, want 2", got)
	}
}

func TestAFailureCancelsTheOtherBranchesRetry(t *testing.T) {
	retried := `{"StartAt":"Run","States":{"Run":{` + task + `,"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":60}],"End":true}}}`
	fails := `{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":10,"Next":"Stop"},"Stop":{"Type":"Fail","Error":"Stop"}}}`
	x := try(t, twoBranches(retried, fails, `,"End":true`, ""), `{}`, work{"Run": failsAfter(0, "E", "")})
	x.wantError(t, "Stop")
	x.wantTook(t, 10*time.Second)
	if got := x.count("TaskFailed"); got != 1 {
		t.Errorf("the task was tried %d times, want once", got)
	}
}

func TestTheMachinesTimeoutIsNotCaught(t *testing.T) {
	definition := `{"TimeoutSeconds":100,` + twoBranches(jobThenFinished, beats, catches, ends)[1:]
	x := try(t, definition, `{}`, work{"Run": takes(time.Hour), "Beat": takes(0)})
	if !errors.Is(x.err, ErrTimedOut) || x.Err != nil {
		t.Errorf("got %v, %v; want the machine's timeout and no error", x.Err, x.err)
	}
	x.wantTook(t, 100*time.Second)
	x.wantNever(t, "Failed")
}

func TestAStoppedExecutionEntersNothingMore(t *testing.T) {
	x := tryFor(t, twoBranches(jobThenFinished, beats, catches, ends), `{}`, work{"Run": takes(time.Hour), "Beat": takes(0)}, 45*time.Second)
	if !errors.Is(x.err, context.DeadlineExceeded) || x.Err != nil {
		t.Errorf("got %v, %v; want the context's error", x.Err, x.err)
	}
	x.wantTook(t, 45*time.Second)
	x.wantNever(t, "Failed")
}

func TestNoMatchingChoiceIsCaughtOutside(t *testing.T) {
	choice := `{"StartAt":"C","States":{"C":{"Type":"Choice","Choices":[{"Variable":"$.n","NumericEquals":1,"Next":"Yes"}]},"Yes":{"Type":"Succeed"}}}`
	x := try(t, twoBranches(choice, waits, catches, ends), `{"n":2}`, work{})
	x.wantError(t, "States.NoChoiceMatched")
	x.wantTook(t, 0)
}

func TestOfTwoFailuresAtOneInstantOneCounts(t *testing.T) {
	other := `{"StartAt":"Other","States":{"Other":{` + task + `,"End":true}}}`
	for range 50 {
		x := try(t, twoBranches(jobAlone, other, catches, ends), `{}`, work{
			"Run": failsAfter(time.Second, "A", ""), "Other": failsAfter(time.Second, "B", ""),
		})
		if x.Err == nil || (x.Err.Name != "A" && x.Err.Name != "B") || x.count("ParallelStateFailed") != 1 {
			t.Fatalf("got %v and %d failures of the Parallel", x.Err, x.count("ParallelStateFailed"))
		}
	}
}
