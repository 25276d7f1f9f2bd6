package localcloud

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
)

// network is one in memory: unlike sockets it lets virtual time pass while somebody waits.
type network struct {
	mu        sync.Mutex
	listeners map[string]*pipes // by address
}

// newNetwork makes a network that the HTTP clients of this process are on until the test ends.
// Both ends belong to the bubble that calls it.
func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{listeners: map[string]*pipes{}}
	before := http.DefaultTransport
	http.DefaultTransport = &http.Transport{DialContext: n.dial}
	t.Cleanup(func() { http.DefaultTransport = before })
	return n
}

func (n *network) listen() (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := &pipes{port: 1 + len(n.listeners), conns: make(chan net.Conn), closed: make(chan struct{})}
	n.listeners[p.Addr().String()] = p
	return p, nil
}

func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	p := n.listeners[address]
	n.mu.Unlock()
	if p == nil {
		return nil, net.UnknownNetworkError(address)
	}
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pipes is a listener in memory.
type pipes struct {
	port   int
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

var _ net.Listener = (*pipes)(nil)

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: p.port} }
