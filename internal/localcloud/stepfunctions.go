package localcloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/asl"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// stateMachine is a machine of the assembly, checked.
type stateMachine struct {
	arn, name, role string
	definition      *asl.Machine
	text            string // of the definition
}

// stepFunctions plays AWS Step Functions for Standard executions.
type stepFunctions struct {
	clock    asl.Clock
	tasks    asl.Tasks
	machines map[string]*stateMachine // by ARN
	// changed hears of every change of status, in a goroutine that work counts.
	changed func(schema.StatusDetail)
	work    *tracker
	hold    func(ctx context.Context, x *execution, state string) // keeps one before a state; may be nil
	observe func(asl.Event)                                       // hears of every event of every execution; may be nil

	ctx context.Context // ends every execution

	mu         sync.Mutex
	executions map[string]*execution // by ARN; a name is free again only in another cloud
	started    map[string]int        // executions by machine ARN
}

type execution struct {
	machine.Execution
	arn, name string
	machine   *stateMachine
	cancel    context.CancelCauseFunc
	done      chan struct{} // closed at the end
	output    []byte        // of a success
}

var _ machine.Runner = (*stepFunctions)(nil)

var executionName = regexp.MustCompile(`^[^\s<>{}\[\]?*"#%\\^|~` + "`" + `$&,;:/\x00-\x1f\x7f-\x9f]{1,80}$`)

const maxInput = 256 << 10

var (
	errAborted = errors.New("the execution was stopped")
	errClosed  = errors.New("the local cloud has ended")
)

// Start implements machine.Runner.
func (f *stepFunctions) Start(_ context.Context, machineARN, name, input string) error {
	m := f.machines[machineARN]
	switch {
	case f.ctx.Err() != nil:
		return fmt.Errorf("start %s: %w", name, errClosed)
	case m == nil:
		return fmt.Errorf("start %s: state machine %q does not exist: %w", name, machineARN, machine.ErrPermanent)
	case !executionName.MatchString(name):
		return fmt.Errorf("start %q: no name for an execution: %w", name, machine.ErrPermanent)
	case len(input) > maxInput || !json.Valid([]byte(input)):
		return fmt.Errorf("start %s: the input must be JSON of at most %d bytes: %w", name, maxInput, machine.ErrPermanent)
	}
	x := &execution{arn: schema.ExecutionARN(machineARN, name), name: name, machine: m, done: make(chan struct{})}
	x.Status, x.Input, x.StartedAt = machine.Running, input, toMillis(f.clock.Now())

	f.mu.Lock()
	defer f.mu.Unlock()
	if old := f.executions[x.arn]; old != nil {
		if old.Status == machine.Running && old.Input == input {
			return nil
		}
		return fmt.Errorf("start %s: %w", name, machine.ErrExists)
	}
	ctx, cancel := context.WithCancelCause(f.ctx)
	x.cancel = cancel
	f.executions[x.arn] = x
	f.started[machineARN]++
	f.tell(x)
	f.work.Go(func() { f.run(ctx, x) })
	return nil
}

func (f *stepFunctions) run(ctx context.Context, x *execution) {
	defer x.cancel(nil)
	var hold func(context.Context, string)
	if f.hold != nil {
		hold = func(ctx context.Context, state string) { f.hold(ctx, x, state) }
	}
	res, err := x.machine.definition.Run(ctx, asl.Execution{
		ARN: x.arn, Name: x.name, RoleARN: x.machine.role,
		MachineARN: x.machine.arn, MachineName: x.machine.name,
		Input: []byte(x.Input), Clock: f.clock, Tasks: f.tasks, Hold: hold, Observe: f.observe,
	})
	switch {
	case errors.Is(err, asl.ErrTimedOut):
		f.end(x, machine.TimedOut, "", "")
	case err != nil:
		f.end(x, machine.Aborted, "", "")
	case res.Err != nil:
		f.end(x, machine.Failed, res.Err.Name, res.Err.Cause)
	default:
		x.output = res.Output // nobody looks before the end
		f.end(x, machine.Succeeded, "", "")
	}
}

// end sets a final status once; what comes later is too late.
func (f *stepFunctions) end(x *execution, status machine.Status, errorName, cause string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if x.Status != machine.Running {
		return
	}
	x.Status, x.Error, x.Cause, x.StoppedAt = status, errorName, cause, toMillis(f.clock.Now())
	close(x.done)
	f.tell(x)
}

func (f *stepFunctions) find(executionARN string) *execution {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.executions[executionARN]
}

// tell reports the execution's status; the caller holds mu. A FAILED event names no
// error, as on AWS.
func (f *stepFunctions) tell(x *execution) {
	d := schema.StatusDetail{
		ExecutionARN: x.arn, MachineARN: x.machine.arn, Name: x.name, Status: string(x.Status),
		StartDate: x.StartedAt.UnixMilli(), Input: x.Input, Output: string(x.output),
	}
	if !x.StoppedAt.IsZero() {
		d.StopDate = x.StoppedAt.UnixMilli()
	}
	f.work.Go(func() { f.changed(d) })
}

// Describe implements machine.Runner.
func (f *stepFunctions) Describe(_ context.Context, executionARN string) (machine.Execution, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.executions[executionARN]
	if x == nil {
		return machine.Execution{}, fmt.Errorf("describe %s: %w", executionARN, machine.ErrNotFound)
	}
	return x.Execution, nil
}

// Stop implements machine.Runner. The status is Aborted at once; tasks wind down on
// their own.
func (f *stepFunctions) Stop(_ context.Context, executionARN, errorName, cause string) error {
	f.mu.Lock()
	x := f.executions[executionARN]
	f.mu.Unlock()
	if x == nil {
		return fmt.Errorf("stop %s: %w", executionARN, machine.ErrNotFound)
	}
	f.end(x, machine.Aborted, errorName, cause)
	x.cancel(errAborted)
	return nil
}

// named returns an execution, or nil.
func (f *stepFunctions) named(machineARN, name string) *execution {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.executions[schema.ExecutionARN(machineARN, name)]
}

// oldestRunning returns the execution of a machine that goes on for the longest time, or nil.
func (f *stepFunctions) oldestRunning(machineARN string) *execution {
	f.mu.Lock()
	defer f.mu.Unlock()
	var oldest *execution
	for _, x := range f.executions {
		if x.machine.arn == machineARN && x.Status == machine.Running && (oldest == nil || x.StartedAt.Before(oldest.StartedAt)) {
			oldest = x
		}
	}
	return oldest
}

// running counts the executions that go on.
func (f *stepFunctions) running() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, x := range f.executions {
		if x.Status == machine.Running {
			n++
		}
	}
	return n
}

func (f *stepFunctions) startedOf(machineARN string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.started[machineARN]
}

// toMillis cuts an instant to what the API returns.
func toMillis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
