package rig

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
)

// Send sends a request on and returns what the emulator answered.
type Send func() (*http.Response, error)

// Requests is an HTTP client that counts the AWS requests it sends, by operation. Every
// attempt counts: a retry by the SDK is a request.
type Requests struct {
	client *http.Client

	mu     sync.Mutex
	counts map[string]int
	around func(op string, send Send) (*http.Response, error)
}

func newRequests() *Requests {
	return &Requests{client: &http.Client{Transport: &http.Transport{}}, counts: map[string]int{}}
}

// Do implements aws.HTTPClient.
func (r *Requests) Do(req *http.Request) (*http.Response, error) {
	op := Operation(req)
	r.mu.Lock()
	r.counts[op]++
	around := r.around
	r.mu.Unlock()
	if err := buffer(req); err != nil {
		return nil, err
	}
	send := func() (*http.Response, error) { return r.client.Do(req) }
	if around != nil {
		return around(op, send)
	}
	return send()
}

// buffer gives the request a body that net/http knows to be in memory. The SDK's own it
// sends in two parts and looks for a third; when the answer comes before that look, the SDK
// has closed the body, net/http closes the connection under the answer, and the SDK sends
// the request again. A near and fast server gets to see that several times in a thousand.
func buffer(req *http.Request) error {
	if req.Body == nil || req.Body == http.NoBody {
		return nil
	}
	b, err := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(b))
	return err
}

// Operation names a request: "PutItem", "StartExecution". Services of the AWS JSON
// protocols write it into a header.
func Operation(req *http.Request) string {
	if _, op, ok := strings.Cut(req.Header.Get("X-Amz-Target"), "."); ok {
		return op
	}
	return req.Method + " " + req.URL.Path
}

// Counts returns how many requests were sent since the last Reset, by operation.
func (r *Requests) Counts() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.counts)
}

// Total returns how many requests were sent since the last Reset.
func (r *Requests) Total() int {
	total := 0
	for _, n := range r.Counts() {
		total += n
	}
	return total
}

// Reset begins counting anew.
func (r *Requests) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.counts)
}

// Around makes every later request go through f, which may send it, answer itself, or
// lose the answer; nil ends that. f must be safe for concurrent use.
func (r *Requests) Around(f func(op string, send Send) (*http.Response, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.around = f
}

// AWSError is the answer of a DynamoDB or Step Functions endpoint that fails. fields, when
// not empty, are further members of the JSON object, such as `"Item":{}`.
func AWSError(status int, code, fields string) *http.Response {
	body := fmt.Sprintf(`{"__type":"com.amazonaws.fault#%s","message":"injected"`, code)
	if fields != "" {
		body += "," + fields
	}
	return AWSAnswer(status, body+"}")
}

// AWSAnswer is an answer of a DynamoDB or Step Functions endpoint.
func AWSAnswer(status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status,
		Header: http.Header{
			"Content-Type": {"application/x-amz-json-1.0"},
			"X-Amz-Crc32":  {fmt.Sprint(crc32.ChecksumIEEE([]byte(body)))}, // DynamoDB's client checks it
		},
		Body: io.NopCloser(strings.NewReader(body)),
	}
}
