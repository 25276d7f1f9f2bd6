package bench

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"github.com/cronfence/cronfence/internal/rig"
)

// front is an endpoint before the emulator that counts what contenders send, so that nobody's
// own word is taken for it. It reads operations as DynamoDB charges them.
type front struct {
	url string

	mu  sync.Mutex
	sum Requests
}

// Requests is what was sent, all repeats counted.
type Requests struct {
	Requests float64 `json:"requests"`
	// WriteUnits are DynamoDB's for items of at most 1 KB: one for a write, refused or not, two for
	// each item of a transaction.
	WriteUnits float64 `json:"writeUnits"`
	// ReadUnits are for items of at most 4 KB: one for a consistent read, half for another.
	ReadUnits float64            `json:"readUnits"`
	Kinds     map[string]float64 `json:"kinds"`
}

func newFront(t *testing.T, endpoint string) *front {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	f := &front{}
	transport := &http.Transport{MaxIdleConnsPerHost: atOnce}
	emulator := httputil.NewSingleHostReverseProxy(target)
	emulator.Transport = transport
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		f.count(rig.Operation(r), body)
		emulator.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.Close()
		transport.CloseIdleConnections()
	})
	f.url = s.URL
	return f
}

func (f *front) count(operation string, body []byte) {
	var in struct {
		TransactItems  []json.RawMessage
		ConsistentRead bool
	}
	_ = json.Unmarshal(body, &in) // what is no DynamoDB request counts as its operation alone
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sum.Kinds == nil {
		f.sum.Kinds = map[string]float64{}
	}
	f.sum.Requests++
	f.sum.Kinds[operation]++
	switch operation {
	case "PutItem", "UpdateItem", "DeleteItem":
		f.sum.WriteUnits++
	case "TransactWriteItems":
		f.sum.WriteUnits += 2 * float64(len(in.TransactItems))
	case "GetItem", "Query":
		f.sum.ReadUnits += 0.5
		if in.ConsistentRead {
			f.sum.ReadUnits += 0.5
		}
	}
}

// take returns what was counted since the last call.
func (f *front) take() Requests {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := f.sum
	f.sum = Requests{}
	return sum
}
