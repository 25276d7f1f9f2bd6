package lambdaapi

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

// instance is one execution environment: one runtime loop that takes one invocation at a
// time. Its name is part of the path under which it finds the Runtime API.
type instance struct {
	name     string
	function *function
	work     chan *invocation
	polled   chan struct{} // closed at the first poll
	once     sync.Once
	stopping chan struct{} // closed when the loop is to end at its next poll
	stopOnce sync.Once

	// Of a program's instance only:
	killing   chan struct{} // closed when the process is to be killed
	killOnce  sync.Once
	ended     chan struct{} // closed when the process is gone
	exit      error         // how, once it is
	initError atomic.Pointer[FunctionError]
}

func (i *instance) stop() { i.stopOnce.Do(func() { close(i.stopping) }) }

// invocation is one call of a function on its way through the Runtime API.
type invocation struct {
	id       string
	instance *instance
	payload  []byte
	watch    Watch
	left     bool      // by its caller
	deadline time.Time // local
	ctx      context.Context
	cancel   context.CancelCauseFunc
	expire   func() bool // stops the timeout

	done     chan struct{} // closed when answer or failed is set
	resolved bool
	answer   []byte
	failed   error
}

// instanceFor returns an idle instance of the function, or starts one: concurrent
// invocations run in instances of their own, as on AWS.
func (s *Server) instanceFor(f *function) (*instance, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, fmt.Errorf("invoke %q: %w", f.Name, errClosing)
	}
	if n := len(f.idle); n > 0 {
		inst := f.idle[n-1]
		f.idle = f.idle[:n-1]
		s.mu.Unlock()
		return inst, nil
	}
	s.next++
	inst := &instance{
		name: strconv.Itoa(s.next), function: f, work: make(chan *invocation, 1),
		polled: make(chan struct{}), stopping: make(chan struct{}),
	}
	if f.Program != nil {
		inst.ended, inst.killing = make(chan struct{}), make(chan struct{})
	}
	s.instances[inst.name] = inst
	s.loops.Add(1)
	s.mu.Unlock()
	if f.Program != nil {
		return inst, s.startProgram(inst)
	}
	return inst, s.start(inst)
}

const apiVariable = "AWS_LAMBDA_RUNTIME_API"

// start runs the loop of aws-lambda-go. The loop reads its address from the environment
// once, before its first poll, so one instance is started at a time. It has no way to
// end but exiting the process; runner.Invoke ends its goroutine instead. As in a process of its
// own, the instance has a handler of its own: the answers of one are in buffers that it uses again.
func (s *Server) start(inst *instance) error {
	s.starting.Lock()
	defer s.starting.Unlock()
	if err := os.Setenv(apiVariable, s.address+"/"+inst.name); err != nil {
		return fmt.Errorf("start function %q: %w", inst.function.Name, err)
	}
	defer func() { _ = os.Unsetenv(apiVariable) }()
	go func() {
		defer s.loops.Done()
		lambda.Start(&runner{server: s, handler: lambda.NewHandler(inst.function.Handler)})
	}()
	<-inst.polled
	return nil
}

// release makes an instance that has nothing to do available again.
func (s *Server) release(inst *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inst.function.idle = append(inst.function.idle, inst)
}

// begin makes the invocation and starts its timeout.
func (s *Server) begin(inst *instance, payload []byte, watch Watch) *invocation {
	ctx, cancel := context.WithCancelCause(context.Background())
	f := inst.function
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	inv := &invocation{
		id: fmt.Sprintf("00000000-0000-4000-8000-%012d", s.next), instance: inst, payload: payload, watch: watch,
		ctx: ctx, cancel: cancel, done: make(chan struct{}), expire: func() bool { return true },
	}
	if s.closed {
		cancel(errClosing)
	}
	if f.Timeout > 0 {
		inv.deadline = s.clock.Now().Add(f.Timeout)
		inv.expire = s.clock.AfterFunc(f.Timeout, func() { s.timeOut(inv) })
	}
	s.invocations[inv.id] = inv
	inv.changeRunning(+1)
	return inv
}

func (inv *invocation) changeRunning(n int) {
	inv.instance.function.running += n
	if inv.watch.Working != nil {
		inv.watch.Working(n)
	}
}

// timeOut answers an invocation that took too long. Lambda kills the environment, and so
// is a process here; a goroutine cannot be killed, so its context ends and its instance is
// not used again.
func (s *Server) timeOut(inv *invocation) {
	message := fmt.Sprintf("RequestId: %s Error: Task timed out after %.2f seconds", inv.id, inv.instance.function.Timeout.Seconds())
	s.resolve(inv, nil, &FunctionError{
		Type: "Sandbox.Timedout", Message: message,
		Payload: fmt.Sprintf(`{"errorType":"Sandbox.Timedout","errorMessage":%q}`, message),
	})
	inv.cancel(context.DeadlineExceeded)
	inv.instance.stop()
}

// resolve gives the invocation its answer, unless it has one.
func (s *Server) resolve(inv *invocation, answer []byte, failed error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if inv.resolved {
		return
	}
	inv.resolved, inv.answer, inv.failed = true, answer, failed
	close(inv.done)
	if inv.left && inv.watch.Late != nil {
		inv.watch.Late(failed)
	}
}

// leave notes that the caller waits no longer, unless there is an answer by now.
func (s *Server) leave(inv *invocation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inv.left = !inv.resolved
}

// end forgets an invocation whose handler has returned.
func (s *Server) end(inv *invocation) {
	inv.expire()
	inv.cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.invocations[inv.id] != nil {
		delete(s.invocations, inv.id)
		inv.changeRunning(-1)
	}
}
