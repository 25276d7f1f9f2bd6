package lambdaapi

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// maxPayload is what Lambda takes and gives at most, in bytes.
const maxPayload = 6 << 20

// stopID is the request id of the invocation that ends a loop.
const stopID = "stop"

// routes serves the Runtime API as https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
// has it, below a path that names the instance.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{instance}/2018-06-01/runtime/invocation/next", s.serveNext)
	mux.HandleFunc("POST /{instance}/2018-06-01/runtime/invocation/{id}/response", s.serveAnswer)
	mux.HandleFunc("POST /{instance}/2018-06-01/runtime/invocation/{id}/error", s.serveError)
	mux.HandleFunc("POST /{instance}/2018-06-01/runtime/init/error", s.serveInitError)
	return mux
}

// serveNext holds the instance's poll until there is work. The poll is also what makes
// an instance free for the next invocation.
func (s *Server) serveNext(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	inst := s.instances[r.PathValue("instance")]
	s.mu.Unlock()
	if inst == nil {
		http.Error(w, "no such instance", http.StatusNotFound)
		return
	}
	first := false
	inst.once.Do(func() { first = true; close(inst.polled) })
	if !first { // the first poll belongs to whoever started the instance
		s.release(inst)
	}
	select {
	case inv := <-inst.work:
		s.writeInvocation(w, inv)
		return
	case <-r.Context().Done():
		return
	case <-inst.stopping:
	}
	if inst.ended != nil { // a process is ended by its signal
		<-r.Context().Done()
		return
	}
	if !s.retire(inst) { // somebody took it at the same moment and is about to hand over work
		s.writeInvocation(w, <-inst.work)
		return
	}
	w.Header().Set("Lambda-Runtime-Aws-Request-Id", stopID)
	w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(time.Hour).UnixMilli(), 10))
}

// retire takes an idle instance away for good. It reports false when the instance is not
// idle: whoever invokes has taken it.
func (s *Server) retire(inst *instance) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(inst.function.idle, inst)
	if i < 0 {
		return false
	}
	inst.function.idle = slices.Delete(inst.function.idle, i, i+1)
	delete(s.instances, inst.name)
	return true
}

func (s *Server) writeInvocation(w http.ResponseWriter, inv *invocation) {
	// The loop's own deadline is real time and only a net: the server is the one that
	// times out, and a handler sees the deadline on the local clock.
	limit := 365 * 24 * time.Hour
	if t := inv.instance.function.Timeout; t > 0 {
		limit = s.clock.Real(t) + time.Second
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
	h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(limit).UnixMilli(), 10))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", inv.instance.function.ARN)
	_, _ = w.Write(inv.payload)
}

func (s *Server) serveAnswer(w http.ResponseWriter, r *http.Request) {
	s.finish(w, r, func(inv *invocation, body []byte) { s.resolve(inv, body, nil) })
}

func (s *Server) serveError(w http.ResponseWriter, r *http.Request) {
	s.finish(w, r, func(inv *invocation, body []byte) {
		s.resolve(inv, nil, functionError(body))
	})
}

func functionError(body []byte) *FunctionError {
	var e struct{ ErrorType, ErrorMessage string }
	_ = json.Unmarshal(body, &e) // an answer that is no error object is still an error
	return &FunctionError{Type: e.ErrorType, Message: e.ErrorMessage, Payload: string(body)}
}

// finish takes a handler's answer. A late one, after the timeout, is accepted and
// dropped: refusing it would end the loop, and with it the process.
func (s *Server) finish(w http.ResponseWriter, r *http.Request, resolve func(*invocation, []byte)) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPayload+1))
	s.mu.Lock()
	inv := s.invocations[r.PathValue("id")]
	s.mu.Unlock()
	if inv != nil {
		s.end(inv) // first: whoever gets the answer may start more of the same work
		switch {
		case err != nil:
			s.resolve(inv, nil, &FunctionError{Type: "Function.ResponseError", Message: err.Error()})
		case len(body) > maxPayload:
			s.resolve(inv, nil, &FunctionError{Type: "Function.ResponseSizeTooLarge", Message: "the answer is over 6 MB"})
		default:
			resolve(inv, body)
		}
	}
	w.WriteHeader(http.StatusAccepted)
}
