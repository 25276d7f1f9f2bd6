// Package lambdaapi is a Lambda service for one process: it serves the Lambda Runtime
// API on the loopback interface and runs handlers with the runtime loop of
// aws-lambda-go, the one they are deployed with. Every invocation crosses the API as
// bytes, so errors, payloads and panics come out as they do on AWS. A function that was
// built for a provided runtime runs as that: a process to each instance.
package lambdaapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/process"
)

// Clock is the time in which functions have their timeouts.
type Clock interface {
	Now() time.Time
	Real(time.Duration) time.Duration
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Function is what can be invoked.
type Function struct {
	Name string
	ARN  string
	// Timeout is in local time; 0 means none.
	Timeout time.Duration
	// Handler is what a Lambda main would give to lambda.Start.
	Handler any
	// Program is set instead for a function that runs as built.
	Program *Program
	// Stoppable says that the work ends when nobody waits for its result any more, as a
	// process or a container does. A Lambda function goes on.
	Stoppable bool
	// Invoked is called with every invocation. It may be nil.
	Invoked func()
}

// FunctionError is an invocation that the function answered with an error, or that ran
// out of time.
type FunctionError struct {
	Type    string // errorType: what Step Functions takes as the error's name
	Message string
	Payload string // the whole answer: what Step Functions takes as the cause
}

func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// ErrNoFunction says that no function of that name was added.
var ErrNoFunction = errors.New("no such function")

// Server is the Runtime API and the functions behind it.
type Server struct {
	clock    Clock
	address  string
	http     *http.Server
	served   chan struct{}
	starting sync.Mutex // held while AWS_LAMBDA_RUNTIME_API names one instance
	loops    sync.WaitGroup

	mu          sync.Mutex
	closed      bool
	next        int
	functions   map[string]*function
	instances   map[string]*instance
	invocations map[string]*invocation
}

type function struct {
	Function
	idle    []*instance
	running int
}

// NewServer serves on a listener, which is the server's from then on. What runs as built has
// one of its own, on 127.0.0.1.
func NewServer(clock Clock, listener net.Listener) *Server {
	s := &Server{
		clock: clock, address: listener.Addr().String(), served: make(chan struct{}),
		functions: map[string]*function{}, instances: map[string]*instance{}, invocations: map[string]*invocation{},
	}
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // ends with ErrServerClosed
	}()
	return s
}

// Add makes a function known.
func (s *Server) Add(f Function) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.functions[f.Name] != nil {
		return fmt.Errorf("function %q: there is one of that name already", f.Name)
	}
	s.functions[f.Name] = &function{Function: f}
	return nil
}

// Knows tells whether there is a function of that name.
func (s *Server) Knows(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.functions[name] != nil
}

// Invoke runs the function and returns its answer, or a *FunctionError. When ctx ends
// first Invoke returns at once; the function goes on unless it is stoppable. When the cause is
// process.ErrKilled it dies instead, and the error is that of its death.
func (s *Server) Invoke(ctx context.Context, name string, payload []byte) ([]byte, error) {
	return s.InvokeWatched(ctx, name, payload, Watch{})
}

// Watch hears of work. It must not call the server.
type Watch struct {
	// Working is told when the work begins (+1) and when it has really ended (-1), which may
	// be long after InvokeWatched returned.
	Working func(n int)
	// Late is told how work ended that InvokeWatched had left before.
	Late func(failed error)
}

// InvokeWatched is Invoke that tells somebody of the work.
func (s *Server) InvokeWatched(ctx context.Context, name string, payload []byte, watch Watch) ([]byte, error) {
	s.mu.Lock()
	f := s.functions[name]
	s.mu.Unlock()
	if f == nil {
		return nil, fmt.Errorf("function %q: %w", name, ErrNoFunction)
	}
	if f.Invoked != nil {
		f.Invoked()
	}
	inst, err := s.instanceFor(f)
	if err != nil {
		return nil, err
	}
	inv := s.begin(inst, payload, watch)
	inst.work <- inv // has room: the instance is ours until it answers
	select {
	case <-inv.done:
		return inv.answer, inv.failed
	case <-inst.ended:
		s.abandon(inv) // unless it was answered
		return inv.answer, inv.failed
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), process.ErrKilled) {
			s.kill(inv)
			<-inv.done
			return inv.answer, inv.failed
		}
		if f.Stoppable {
			inv.cancel(context.Cause(ctx))
		}
		s.leave(inv)
		return nil, ctx.Err()
	}
}

// Close cancels what still runs, ends every runtime loop and stops listening. The error
// names functions whose handler did not return before ctx ended.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	for _, inv := range s.invocations {
		inv.cancel(errClosing)
	}
	for _, inst := range s.instances {
		inst.stop()
	}
	s.mu.Unlock()

	stopped := make(chan struct{})
	go func() { s.loops.Wait(); close(stopped) }()
	var err error
	select {
	case <-stopped:
	case <-ctx.Done():
		err = s.stillRunning()
	}
	_ = s.http.Close()
	<-s.served
	return err
}

func (s *Server) stillRunning() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []error
	for name, f := range s.functions {
		if f.running > 0 {
			all = append(all, fmt.Errorf("function %q: %d invocations did not end", name, f.running))
		}
	}
	return errors.Join(all...)
}

var errClosing = errors.New("the local cloud is closing")
