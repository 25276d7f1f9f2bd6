package devapi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"github.com/cronfence/cronfence/internal/ops"
)

// Server is the listening side.
type Server struct {
	listener net.Listener
	token    string
	file     string // where the token was left, if it was
	private  bool
	http     *http.Server
	done     chan struct{} // closed when serving ended
}

// Listen opens the address, HOST:PORT with port 0 for any free one. Requests wait until Serve.
// Close must be called.
func Listen(ctx context.Context, address string) (*Server, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &InUseError{address}
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return &Server{listener: l, token: rand.Text()}, nil
}

// LeaveToken leaves the token where this user's clients find it, until Close.
func (s *Server) LeaveToken() (err error) {
	s.file, err = leaveToken(s.port(), s.token)
	return err
}

// InUseError says that somebody else listens on an address.
type InUseError struct{ Address string }

// Error names the address and a way out.
func (e *InUseError) Error() string {
	return fmt.Sprintf("listen on %s: the port is taken, perhaps by another `cronfence dev`: end that one, or name another port, such as --listen 127.0.0.1:0 for any free one", e.Address)
}

func (s *Server) address() *net.TCPAddr { return s.listener.Addr().(*net.TCPAddr) }

func (s *Server) port() int { return s.address().Port }

// Loopback tells whether only this machine can reach the server.
func (s *Server) Loopback() bool { return s.address().IP.IsLoopback() }

// URL is the server's, as --dev takes it.
func (s *Server) URL() string {
	a := *s.address()
	if a.IP.IsUnspecified() {
		a.IP = net.IPv4(127, 0, 0, 1)
	}
	return "http://" + a.String()
}

// PageURL is where a person finds the page. The token is in the part of it that a browser
// keeps to itself: whoever only knows the address may look and not act.
func (s *Server) PageURL() string { return s.URL() + "/#token=" + s.token }

// Private lets nobody read without the token either: what is shown is for those with the caller's
// credentials. The page is asked by its own MayLook. It is called before Serve.
func (s *Server) Private() { s.private = true }

// HasToken tells whether a request carries the token.
func (s *Server) HasToken(r *http.Request) bool { return carries(r, s.token) }

// Serve begins to answer, over operators by the names of their schedulers, over faults - nil
// where nothing can be asked to go wrong - and with the page beside them, and returns.
func (s *Server) Serve(operators map[string]ops.Operator, f Faults, page http.Handler) {
	mux := routes(operators, f)
	mux.Handle("/", page)
	s.http = &http.Server{
		Handler:           patient{access{token: s.token, loopback: s.Loopback(), private: s.private, next: mux}},
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
	}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		_ = s.http.Serve(s.listener) // returns when closed
	}()
}

// Close ends the server and takes the token away. Requests in flight are finished first, as
// long as ctx lasts.
func (s *Server) Close(ctx context.Context) error {
	if s.file != "" {
		removeToken(s.file, s.token)
	}
	if s.http == nil {
		return s.listener.Close()
	}
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	<-s.done
	return err
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
