package rig

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Units is what DynamoDB charges for requests on items of at most 1 KB.
type Units struct{ Write, Read float64 }

// UnitsOf reads a request. A write is one unit, refused or not, two for each item of a
// transaction; a read is one, or half if it is eventually consistent. What reads or writes a number
// of items that the request does not tell is an error, and so is what is not known.
func UnitsOf(operation string, body []byte) (Units, error) {
	var in struct {
		TransactItems  []json.RawMessage
		ConsistentRead bool
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Units{}, fmt.Errorf("read %s: %w", operation, err)
	}
	switch operation {
	case "PutItem", "UpdateItem", "DeleteItem":
		return Units{Write: 1}, nil
	case "TransactWriteItems":
		return Units{Write: 2 * float64(len(in.TransactItems))}, nil
	case "GetItem":
		if in.ConsistentRead {
			return Units{Read: 1}, nil
		}
		return Units{Read: 0.5}, nil
	case "DescribeTable":
		return Units{}, nil
	}
	return Units{}, fmt.Errorf("%s: units are not known", operation)
}

// Charged is an HTTP client that sums the units of what it sends through another.
type Charged struct {
	Client interface {
		Do(*http.Request) (*http.Response, error)
	}

	mu  sync.Mutex
	sum Units
	err error // the first
}

// Do implements aws.HTTPClient.
func (c *Charged) Do(req *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	req.Body = io.NopCloser(bytes.NewReader(text))
	units, err := UnitsOf(Operation(req), text)
	c.mu.Lock()
	c.sum.Write += units.Write
	c.sum.Read += units.Read
	c.err = cmp.Or(c.err, err)
	c.mu.Unlock()
	return c.Client.Do(req)
}

// Take returns the sum since the last call; an error if the units of a request are not known.
func (c *Charged) Take() (Units, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, err := c.sum, c.err
	c.sum, c.err = Units{}, nil
	return sum, err
}
