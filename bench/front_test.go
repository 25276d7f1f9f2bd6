package bench

import (
	"bytes"
	"cmp"
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
	err error // the first
}

// Requests is what was sent, all repeats counted.
type Requests struct {
	Requests float64 `json:"requests"`
	// WriteUnits and ReadUnits are DynamoDB's for items of at most 1 KB.
	WriteUnits float64            `json:"writeUnits"`
	ReadUnits  float64            `json:"readUnits"`
	Kinds      map[string]float64 `json:"kinds"` // by operation
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
	units, err := rig.UnitsOf(operation, body)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sum.Kinds == nil {
		f.sum.Kinds = map[string]float64{}
	}
	f.sum.Requests++
	f.sum.Kinds[operation]++
	f.sum.WriteUnits += units.Write
	f.sum.ReadUnits += units.Read
	f.err = cmp.Or(f.err, err)
}

// take returns what was counted since the last call; an error if the units of a request are not
// known.
func (f *front) take() (Requests, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum, err := f.sum, f.err
	f.sum, f.err = Requests{}, nil
	return sum, err
}

// What cannot be charged must not be taken for free: a list, a batch, a request of another kind.
func TestRequestsWhoseUnitsAreNotKnownAreRefused(t *testing.T) {
	for operation, want := range map[string]bool{
		"PutItem": true, "TransactWriteItems": true, "GetItem": true, "DescribeTable": true,
		"Query": false, "Scan": false, "BatchWriteItem": false, "BatchGetItem": false, "TransactGetItems": false, "ExecuteStatement": false,
	} {
		f := &front{}
		f.count(operation, []byte(`{"TransactItems":[{},{}],"ConsistentRead":true}`))
		sum, err := f.take()
		if (err == nil) != want || sum.Requests != 1 {
			t.Errorf("%s: %+v, %v", operation, sum, err)
		}
	}
}
