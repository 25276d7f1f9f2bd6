// Package dynamodbapi is a DynamoDB for one process: the tables that the jobs of the local
// cloud write, on the loopback interface, in memory.
//
// It serves GetItem, PutItem, UpdateItem, DeleteItem, Query, Scan and TransactWriteItems, with
// their expressions. What it does not serve - indexes, batches, PartiQL, the parameters that
// expressions replaced - it refuses by name. It does not check sizes, throughput and who may do
// what, and no TTL deletes anything.
//
// A scheduler's table is the records that the local cloud's own functions work on: a job may
// read its guard and check it in a transaction, and keep notes; anything else is denied, as it
// would be with what the constructs grant.
package dynamodbapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	targetPrefix = "DynamoDB_20120810."
	// maxBody is more than DynamoDB takes: a transaction of 4 MB.
	maxBody = 16 << 20
)

// Server serves tables.
type Server struct {
	http    *http.Server
	address string
	served  chan struct{}
	// elsewhere answers for tables that are not here; nil where they are nowhere.
	elsewhere http.Handler

	mu     sync.Mutex
	tables map[string]*table
	tokens map[string][sha256.Size]byte // of transactions that were done, by the client's token
}

// NewServer serves on a listener, which is the server's from then on. What is asked of other
// tables is passed on to elsewhere, the URL of an emulator, or refused where that is "". Close
// must be called.
func NewServer(listener net.Listener, tables []Table, elsewhere string) (*Server, error) {
	s := &Server{address: listener.Addr().String(), served: make(chan struct{}), tables: map[string]*table{}, tokens: map[string][sha256.Size]byte{}}
	if elsewhere != "" {
		var err error
		if s.elsewhere, err = passOn(elsewhere); err != nil {
			_ = listener.Close()
			return nil, err
		}
	}
	for _, t := range tables {
		s.tables[t.Name] = &table{Table: t, items: map[string]item{}}
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // ends with ErrServerClosed
	}()
	return s, nil
}

// URL is where the server is: a value for AWS_ENDPOINT_URL_DYNAMODB.
func (s *Server) URL() string { return "http://" + s.address }

// Close ends the server and whatever it is at.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.served
}

// table finds a table by its name or ARN. The caller holds the lock.
func (s *Server) table(name string) (*table, error) {
	if t := s.tables[plainName(name)]; t != nil {
		return t, nil
	}
	return nil, &apiError{code: "ResourceNotFoundException", message: fmt.Sprintf(
		"table %q is not in the local cloud: it has the tables that the assembly declares, %s", name, strings.Join(slices.Sorted(maps.Keys(s.tables)), ", "))}
}

// plainName is a table's name, which may be given as its ARN.
func plainName(name string) string {
	if _, of, isARN := strings.Cut(name, ":table/"); isARN {
		return of
	}
	return name
}

// ServeHTTP answers a request of the JSON 1.0 protocol. A page of another origin cannot send
// its header, nor be at this address.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	operation, ours := strings.CutPrefix(r.Header.Get("X-Amz-Target"), targetPrefix)
	if !ours || r.Method != http.MethodPost || r.Host != s.address {
		http.Error(w, "this is the DynamoDB of a cronfence dev, and takes what the AWS SDKs send", http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		respondError(w, invalid("read request: %v", err))
		return
	}
	if s.elsewhere != nil {
		here, there := s.askedOf(body)
		switch {
		case here && there:
			respondError(w, notHere("one request for a scheduler's table and for tables of the emulator; without AWS_ENDPOINT_URL it has the assembly's tables itself"))
			return
		case there:
			r.Body = io.NopCloser(bytes.NewReader(body))
			s.elsewhere.ServeHTTP(w, r)
			return
		}
	}
	answer, err := s.answer(r.Context(), operation, body)
	if err != nil {
		respondError(w, err)
		return
	}
	respond(w, http.StatusOK, answer)
}

func (s *Server) answer(ctx context.Context, operation string, body []byte) (any, error) {
	switch operation {
	case "GetItem":
		return read(body, func(in getItem) (any, error) { return s.get(ctx, in) })
	case "Query":
		return read(body, func(in search) (any, error) { return s.query(ctx, in) })
	case "Scan":
		return read(body, func(in search) (any, error) { return s.scan(ctx, in) })
	case "PutItem", "UpdateItem", "DeleteItem":
		v := verb(strings.TrimSuffix(operation, "Item"))
		return read(body, func(in write) (any, error) { return s.one(ctx, v, in) })
	case "TransactWriteItems":
		return read(body, func(in transaction) (any, error) { return s.transact(ctx, body, in) })
	}
	return nil, &apiError{code: "UnknownOperationException", message: fmt.Sprintf(
		"the local cloud does not serve %s; it serves GetItem, PutItem, UpdateItem, DeleteItem, Query, Scan and TransactWriteItems", operation)}
}

// read decodes a request. A parameter that is not known changes its meaning, and is refused.
func read[Q any](body []byte, do func(Q) (any, error)) (any, error) {
	var in Q
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		if _, name, unknown := strings.Cut(err.Error(), "unknown field "); unknown {
			return nil, notHere("the parameter %s", name)
		}
		return nil, &apiError{code: "SerializationException", message: err.Error()}
	}
	return do(in)
}

func respondError(w http.ResponseWriter, err error) {
	var e *apiError
	if !errors.As(err, &e) {
		e = &apiError{code: "InternalServerError", message: err.Error()}
	}
	status := http.StatusBadRequest
	if e.code == "InternalServerError" {
		status = http.StatusInternalServerError
	}
	respond(w, status, struct {
		Type                string `json:"__type"`
		Message             string
		Item                item     `json:",omitzero"`
		CancellationReasons []reason `json:",omitzero"`
	}{"com.amazonaws.dynamodb.v20120810#" + e.code, e.message, e.item, e.reasons})
}

func respond(w http.ResponseWriter, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"__type":"InternalServerError"}`)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
