// Package fencehttp carries a run's fence over HTTP: a Transport puts it into every request's
// headers, and a middleware refuses requests with an older fence than the last one seen.
//
//		client := &http.Client{Transport: &fencehttp.Transport{Run: run}}           // the job
//		http.ListenAndServe(addr, fencehttp.Require(fencehttp.NewMemory(), handler)) // the service
//
//	  - Protected, with Memory: what one process of the service does while it handles a request.
//	    A request with a newer fence is let in only once the older ones inside have ended, and
//	    from then on older ones are answered with 412 Precondition Failed.
//	  - Not protected: what a handler starts and does not wait for; other processes of the same
//	    service, and this one after a restart, which have not seen the fence. Where there are
//	    several, keep the fences where they all see them (implement Fences) or, better, take the
//	    fence from the request (FromContext) on to the database, and check it there.
//	  - Not protected: against a caller who invents fences or names. A fence that is too high shuts
//	    the job out until the process starts anew, and Memory keeps every name it has seen, about
//	    400 bytes each. Authenticate requests before Require sees them.
//	  - Not protected: a server that does not check. The header alone keeps nothing out.
//
// A request whose answer was lost may be sent again with the same fence and is let in again:
// fences put runs in order, they do not count requests.
package fencehttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/internal/fence"
	"github.com/cronfence/cronfence/pkg/job/internal/step"
)

// The headers. A refusal answers with the fence that was seen in HeaderFence.
const (
	HeaderName  = "Cronfence-Name"  // whose fence it is: SCHEDULER/JOB
	HeaderFence = "Cronfence-Fence" // a decimal number from 1 to 2^53-1
)

// maxName is how long a name may be, in bytes: a scheduler's and a job's have 80 at most.
const maxName = 100

// Transport sends requests with the run's fence. A refusal is returned as a
// *job.FencedError: http.Client wraps it in a *url.Error.
type Transport struct {
	Run  job.Run
	Base http.RoundTripper // nil means http.DefaultTransport
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := fence.Check(t.Run.Fence); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a RoundTripper must, also when it fails
		}
		return nil, fmt.Errorf("fenced request: %w", err)
	}
	step.At(req.Context())
	defer step.At(req.Context())
	req = req.Clone(req.Context()) // a RoundTripper must not change its request
	req.Header.Set(HeaderName, t.Run.Name())
	req.Header.Set(HeaderFence, strconv.FormatInt(t.Run.Fence, 10))
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	// A 412 without the header is about a condition of the author's own.
	if seen := resp.Header.Get(HeaderFence); resp.StatusCode == http.StatusPreconditionFailed && seen != "" {
		_ = resp.Body.Close() // it says the same in words
		newest, _ := strconv.ParseInt(seen, 10, 64)
		return nil, &job.FencedError{Fence: t.Run.Fence, Seen: newest}
	}
	return resp, nil
}

// Fences remember the newest fence of each name. They must be safe for concurrent use.
type Fences interface {
	// Enter returns a *job.FencedError if a newer fence of that name has entered. Otherwise it
	// waits until requests with older ones have left, keeps further ones out, and returns what
	// to call in the end. It gives up when ctx is done.
	Enter(ctx context.Context, name string, fence int64) (leave func(), err error)
}

// Fence is what a request said.
type Fence struct {
	Name  string
	Fence int64
}

type contextKey struct{}

// FromContext returns the fence of the request that a handler behind Require handles, to be
// checked again where the handler writes.
func FromContext(ctx context.Context) (Fence, bool) {
	f, ok := ctx.Value(contextKey{}).(Fence)
	return f, ok
}

// Require returns a handler that lets only requests through that carry a fence, and no older
// one than was seen. Others are answered with 428 Precondition Required (no fence), 400 Bad
// Request (no such fence or name, or two of them), 412 Precondition Failed (an older one) and, when older requests did
// not leave in time, 503 Service Unavailable.
func Require(fences Fences, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		f, status, err := read(req)
		if err != nil {
			http.Error(w, err.Error(), status)
			return
		}
		leave, err := fences.Enter(req.Context(), f.Name, f.Fence)
		if fenced := new(job.FencedError); errors.As(err, &fenced) {
			w.Header().Set(HeaderFence, strconv.FormatInt(fenced.Seen, 10))
			http.Error(w, err.Error(), http.StatusPreconditionFailed)
			return
		}
		if err != nil {
			http.Error(w, "check fence: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
		defer leave()
		next.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), contextKey{}, f)))
	})
}

func read(req *http.Request) (f Fence, status int, err error) {
	f.Name = req.Header.Get(HeaderName)
	text := req.Header.Get(HeaderFence)
	if f.Name == "" || text == "" {
		return f, http.StatusPreconditionRequired, fmt.Errorf("headers %s and %s must be set", HeaderName, HeaderFence)
	}
	if len(req.Header.Values(HeaderName)) > 1 || len(req.Header.Values(HeaderFence)) > 1 {
		return f, http.StatusBadRequest, fmt.Errorf("headers %s and %s must be there once", HeaderName, HeaderFence)
	}
	if len(f.Name) > maxName {
		return f, http.StatusBadRequest, fmt.Errorf("header %s: %d bytes: must be SCHEDULER/JOB, %d at most", HeaderName, len(f.Name), maxName)
	}
	if f.Fence, err = strconv.ParseInt(text, 10, 64); err != nil {
		return f, http.StatusBadRequest, fmt.Errorf("header %s: %q: must be a decimal number", HeaderFence, text)
	}
	if err := fence.Check(f.Fence); err != nil {
		return f, http.StatusBadRequest, fmt.Errorf("header %s: %w", HeaderFence, err)
	}
	return f, 0, nil
}
