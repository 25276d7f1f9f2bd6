package awsops

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/cronfence/cronfence/internal/ops"
)

// clock measures how far this machine's clock is ahead of a service's, at every answer of it: the
// answer's Date lies between the instants at which the request was sent and the answer was there.
// Looking up names, connecting and TLS lie between them too, so it is kept how far apart they are.
type clock struct {
	now  func() time.Time
	last atomic.Pointer[ops.Ahead]
}

// Ahead is an ops.Clock.
func (c *clock) Ahead() (ahead ops.Ahead, known bool) {
	last := c.last.Load()
	if last == nil {
		return ops.Ahead{}, false
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
			// A Date of :01 was written before :02.
			c.last.Store(&ops.Ahead{Least: sent.Sub(date.Add(time.Second)), Most: there.Sub(date)})
		}
	}
	return out, metadata, err
}
