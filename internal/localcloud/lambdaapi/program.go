package lambdaapi

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/process"
)

// Program is a function as it was built: an executable that speaks the Runtime API, such
// as the bootstrap of a provided runtime. Each instance is a process of its own.
type Program struct {
	Path string
	Dir  string
	Env  []string // all of it but the Runtime API's address
	Out  io.Writer
}

// programGrace is short: Lambda itself ends environments without asking.
const programGrace = time.Second

// startProgram runs an instance's process, with a Runtime API of its own at the root of an
// address, where every runtime expects it. It returns at the first poll.
func (s *Server) startProgram(inst *instance) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.loops.Done()
		return fmt.Errorf("start function %q: %w", inst.function.Name, err)
	}
	routes := s.routes()
	api := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = "/" + inst.name + r.URL.Path
		routes.ServeHTTP(w, r)
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = api.Serve(listener) }() // ends with ErrServerClosed
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		select {
		case <-inst.stopping:
			cancel(nil)
		case <-inst.killing:
			cancel(process.ErrKilled)
		case <-inst.ended:
			cancel(nil)
		}
	}()
	go func() {
		defer s.loops.Done()
		p := inst.function.Program
		err := process.Run(ctx, process.Program{
			Path: p.Path, Dir: p.Dir, Env: append(slices.Clone(p.Env), apiVariable+"="+listener.Addr().String()),
			Out: p.Out, Prefix: "[" + inst.function.Name + "] ", Grace: programGrace,
		})
		_ = api.Close()
		<-served
		s.programEnded(inst, err)
	}()
	select {
	case <-inst.polled:
		return nil
	case <-inst.ended:
		return inst.exited("init")
	}
}

// programEnded forgets an instance whose process is gone and answers what it was at.
func (s *Server) programEnded(inst *instance, err error) {
	s.mu.Lock()
	delete(s.instances, inst.name)
	f := inst.function
	f.idle = slices.DeleteFunc(f.idle, func(i *instance) bool { return i == inst })
	var left []*invocation
	for _, inv := range s.invocations {
		if inv.instance == inst {
			left = append(left, inv)
		}
	}
	inst.exit = err
	s.mu.Unlock()
	close(inst.ended)
	for _, inv := range left {
		s.abandon(inv)
	}
}

// abandon ends an invocation whose process is gone.
func (s *Server) abandon(inv *invocation) {
	s.end(inv)
	s.resolve(inv, nil, inv.instance.exited(inv.id))
}

// exited is the error of an invocation during which the process ended. What the runtime
// itself said about its start comes first.
func (i *instance) exited(id string) *FunctionError {
	if e := i.initError.Load(); e != nil {
		return e
	}
	how := "without an error"
	if i.exit != nil {
		how = "with error: " + i.exit.Error()
	}
	return exitError(id, how)
}

func exitError(id, how string) *FunctionError {
	message := fmt.Sprintf("RequestId: %s Error: Runtime exited %s", id, how)
	return &FunctionError{
		Type: "Runtime.ExitError", Message: message,
		Payload: fmt.Sprintf(`{"errorType":"Runtime.ExitError","errorMessage":%q}`, message),
	}
}

// kill ends the process that an invocation is worked on in. A command or a program is really
// killed, and that is its answer; a goroutine cannot be, so its context ends and its instance
// is not used again.
func (s *Server) kill(inv *invocation) {
	switch f := inv.instance.function; {
	case f.Program != nil:
		inv.instance.killOnce.Do(func() { close(inv.instance.killing) })
	case f.Stoppable:
		inv.cancel(process.ErrKilled)
	default:
		s.resolve(inv, nil, exitError(inv.id, "with error: signal: killed"))
		inv.cancel(process.ErrKilled)
		inv.instance.stop()
	}
}

// died answers an invocation whose handler ended its goroutine: here that stands for a process
// that is gone in the middle of its work.
func (s *Server) died(inv *invocation) {
	s.mu.Lock()
	delete(s.instances, inv.instance.name)
	s.mu.Unlock()
	s.end(inv)
	s.resolve(inv, nil, exitError(inv.id, "with error: signal: killed"))
}

// serveInitError takes what a runtime says when it cannot start.
func (s *Server) serveInitError(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	inst := s.instances[r.PathValue("instance")]
	s.mu.Unlock()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPayload))
	if inst != nil && err == nil {
		inst.initError.Store(functionError(body))
	}
	w.WriteHeader(http.StatusAccepted)
}
