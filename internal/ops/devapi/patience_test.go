package devapi

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipe is a listener of one connection without buffers: what is not read is not written.
type pipe struct {
	server net.Conn
	closed chan struct{}
}

func (p *pipe) Accept() (net.Conn, error) {
	if c := p.server; c != nil {
		p.server = nil
		return c, nil
	}
	<-p.closed
	return nil, net.ErrClosed
}

func (p *pipe) Close() error   { close(p.closed); return nil }
func (p *pipe) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// asked serves a page to one client, who has asked for it.
func asked(t *testing.T, page http.HandlerFunc) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	s := &Server{listener: &pipe{server, make(chan struct{})}}
	s.Serve(nil, nil, page)
	t.Cleanup(func() {
		_ = client.Close()
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return client
}

func TestAClientThatNeverReadsIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		asked(t, func(w http.ResponseWriter, _ *http.Request) {
			defer close(let)
			for {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		})
		select {
		case <-let:
		case <-time.After(time.Hour):
			t.Error("it is held after an hour")
		}
	})
}

// The whole takes longer than a client may be idle, and than the server waits for a request.
func TestALongAnswerToAClientThatReadsIsNotCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := asked(t, func(w http.ResponseWriter, r *http.Request) {
			for range 5 {
				_, _ = io.WriteString(w, "a line\n")
				time.Sleep(10 * time.Minute)
				if r.Context().Err() != nil {
					t.Errorf("the request is given up: %v", context.Cause(r.Context()))
				}
			}
		})
		answer, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil || strings.Count(string(text), "a line") != 5 {
			t.Errorf("read %q, %v", text, err)
		}
	})
}
