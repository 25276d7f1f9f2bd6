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
	file     string // where the token is
	http     *http.Server
	done     chan struct{} // closed when serving ended
}

// Listen opens the address, HOST:PORT with port 0 for any free one, and leaves the token for
// its user. Requests wait until Serve. Close must be called.
func Listen(ctx context.Context, address string) (*Server, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &InUseError{address}
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	s := &Server{listener: l, token: rand.Text()}
	if s.file, err = leaveToken(s.port(), s.token); err != nil {
		_ = l.Close()
		return nil, err
	}
	return s, nil
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

// Serve begins to answer, over operators by the names of their schedulers and over faults, and
// returns.
func (s *Server) Serve(operators map[string]ops.Operator, f Faults) {
	s.http = &http.Server{
		Handler:           access{token: s.token, loopback: s.Loopback(), next: routes(operators, f)},
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
	removeToken(s.file, s.token)
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
