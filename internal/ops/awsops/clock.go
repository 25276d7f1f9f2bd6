package awsops

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// clock measures how far this machine's clock is ahead of a service's, at every answer of it: the
// answer's Date lies between the instants at which the request was sent and the answer was there.
type clock struct {
	now  func() time.Time
	last atomic.Pointer[time.Duration]
}

// Ahead is an ops.Clock.
func (c *clock) Ahead() (ahead time.Duration, known bool) {
	last := c.last.Load()
	if last == nil {
		return 0, false
	}
	return *last, true
}

// watch has the requests of a client measured, each attempt for itself.
func (c *clock) watch(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("CronfenceClock", c.measure), middleware.After)
}

func (c *clock) measure(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
	sent := c.now()
	out, metadata, err := next.HandleDeserialize(ctx, in)
	there := c.now()
	if answer, ok := out.RawResponse.(*smithyhttp.Response); ok && answer != nil && answer.Response != nil {
		if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			date = date.Add(time.Second / 2) // it has whole seconds: within half a second of the truth
			ahead := sent.Add(there.Sub(sent) / 2).Sub(date)
			c.last.Store(&ahead)
		}
	}
	return out, metadata, err
}
