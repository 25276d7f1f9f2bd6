// Package parity holds the state machine interpreter against moto's Step Functions: the
// same definitions over the same functions end alike. Moto runs in real time, the
// interpreter in virtual time.
package parity

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/localcloud/asl"
	"github.com/cronfence/cronfence/internal/rig"
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "12") // the cases only wait
	os.Exit(rig.Run(m))
}

// answer is what a state's function does at every call: takes its time, then fails or not.
type answer struct {
	takes time.Duration
	err   string
	times int // of failures; 0 fails always
}

const (
	// forever is longer than any case lets a function work. It is no longer since moto
	// ends a Parallel only when the functions of cancelled branches have answered.
	forever = 12 * time.Second
	// patience is how long moto has for one case.
	patience = 2 * time.Minute
)

// end is how an execution ended.
type end struct {
	Status, Error string
	Cause, Output any // as JSON where they are JSON
}

// trials numbers them, for moto's machines and functions to have names of their own.
var trials atomic.Int64

// trial is one definition with its functions and when it is stopped from outside.
type trial struct {
	definition string
	input      string
	functions  map[string]answer // by state
	stopped    bool              // from outside, once a function works
}

// endsAlike runs the trial on moto and in the interpreter and compares the ends. Both
// may be compared with what is wanted of them.
func endsAlike(t *testing.T, x trial, want end) {
	t.Helper()
	local := x.local(t)
	ends := map[string]end{"moto": x.moto(t), "interpreter": local}
	if diff := cmp.Diff(ends["moto"], local); diff != "" {
		t.Errorf("moto (-) and the interpreter (+) differ:\n%s", diff)
	}
	if local.Status != want.Status || local.Error != want.Error || want.Output != nil && !cmp.Equal(local.Output, want.Output) {
		t.Errorf("got %+v, want %+v", local, want)
	}
}

func (x trial) local(t *testing.T) end {
	m, err := asl.Parse([]byte(x.definition))
	if err != nil {
		t.Fatal(err)
	}
	var e end
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		f := newFunctions(x.functions)
		if x.stopped {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			go func() { <-f.begun; cancel() }()
		}
		result, err := m.Run(ctx, asl.Execution{
			ARN: "arn:e", Name: "e", MachineARN: "arn:m", MachineName: "m", Input: []byte(x.input),
			Clock: bubble{}, Tasks: f, Random: func() float64 { return 0 },
		})
		switch {
		case errors.Is(err, asl.ErrTimedOut):
			e.Status = "TIMED_OUT"
		case err != nil:
			e.Status = "ABORTED"
		case result.Err != nil:
			e = end{Status: "FAILED", Error: result.Err.Name}
			if result.Err.Cause != "" {
				e.Cause = parsed(result.Err.Cause)
			}
		default:
			e = end{Status: "SUCCEEDED", Output: parsed(string(result.Output))}
		}
	})
	return e
}

func (x trial) moto(t *testing.T) end {
	client := sfn.NewFromConfig(rig.MotoSteps(t).Config)
	name := fmt.Sprintf("trial-%d", trials.Add(1))
	f := newFunctions(x.functions)
	definition := renamed(t, x.definition, name+"-")
	for state := range tasksOf(t, x.definition) {
		rig.Handle(name+"-"+plainName(state), func(ctx context.Context, _ []byte) ([]byte, string, string) {
			if failed := f.work(ctx, state); failed != "" {
				return nil, failed, "in test"
			}
			return []byte(`{"did":"` + state + `"}`), "", ""
		})
	}
	role := "arn:aws:iam::123456789012:role/r"
	machine, err := client.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{Name: &name, Definition: &definition, RoleArn: &role})
	if err != nil {
		t.Fatal(err)
	}
	started, err := client.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: machine.StateMachineArn, Input: &x.input})
	if err != nil {
		t.Fatal(err)
	}
	if x.stopped {
		<-f.begun
		if _, err := client.StopExecution(t.Context(), &sfn.StopExecutionInput{ExecutionArn: started.ExecutionArn}); err != nil {
			t.Fatal(err)
		}
	}
	return ended(t, client, started.ExecutionArn)
}

// ended waits for the execution's end. There is no event to wait for.
func ended(t *testing.T, client *sfn.Client, arn *string) end {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		x, err := client.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: arn})
		if err != nil {
			t.Fatal(err)
		}
		if x.Status == types.ExecutionStatusRunning {
			continue
		}
		e := end{Status: string(x.Status)}
		if x.Error != nil {
			e.Error = *x.Error
		}
		if x.Cause != nil && e.Error != "" && *x.Cause != "" {
			e.Cause = parsed(*x.Cause)
		}
		if x.Output != nil {
			e.Output = parsed(*x.Output)
		}
		return e
	}
	t.Fatalf("moto did not end the execution within %v", patience)
	return end{}
}

func parsed(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

// causeOf is the cause of a function's error.
func causeOf(name string) string {
	return fmt.Sprintf(`{"errorMessage":"in test","errorType":%q}`, name)
}
