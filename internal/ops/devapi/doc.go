// Package devapi is the HTTP interface of a running `cronfence dev`: a server over package
// ops, with the page of package web beside it, and the client that the command line's --dev
// speaks with. `cronfence ui` serves a deployed scheduler in the same way.
//
// The server is for one user of one machine. It listens on loopback unless told otherwise
// and answers only requests whose Host header is an address or "localhost", so that no name
// on the internet can be pointed at it. A request that changes something also carries the
// token, from a file that only its user can read, and the server's own origin: a page of
// another origin can send neither. Over a deployed scheduler reading needs the token too.
package devapi

import (
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/fault"
	"github.com/cronfence/cronfence/internal/ops"
)

const (
	prefix = "/api/v1/schedulers"
	// faultsPath lists the faults of the local cloud; a POST asks for one, and a DELETE of one
	// of them by its id ends it.
	faultsPath = "/api/v1/faults"
	// maxBody bounds what a request may send.
	maxBody = 64 << 10

	lines = "application/x-ndjson"
)

// schedulers is the answer to a GET of the prefix.
type schedulers struct {
	Schedulers []string `json:"schedulers"`
}

// line is one line of a stream: a value, or the error that ended it.
type line[T any] struct {
	Value *T       `json:"value,omitempty"`
	Error *problem `json:"error,omitempty"`
}

// problem is an error on the wire.
type problem struct {
	Kind    string               `json:"kind"`
	Message string               `json:"message"`
	Unknown *ops.UnknownJobError `json:"unknown,omitempty"`
}

// The kinds of problem.
const (
	kindRefused = "refused"
	kindUnknown = "unknown-job"
	kindBad     = "bad-request"
	kindDenied  = "denied"
	kindFailed  = "failed"
)

// resumption is the body of a resume; a pause and the others have theirs in package ops.
type resumption struct{}

// Faults are the faults of a local cloud: those of package fault's Set.
type Faults interface {
	Entries() []fault.Entry
	Add(f fault.Fault) (fault.Entry, error)
	End(id int) (fault.Entry, error)
}

// faults is the answer to a GET of faultsPath: what can be asked for, and what was, in order.
type faults struct {
	Kinds     []fault.Description `json:"kinds"`
	Functions []string            `json:"functions"`
	Faults    []fault.Entry       `json:"faults"`
}

const readTimeout = 10 * time.Second
