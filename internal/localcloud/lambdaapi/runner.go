package lambdaapi

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// runner stands between the runtime loop and a function's handler. The bytes on either
// side are the handler's own; what it adds is what a process of its own would give: an
// end, a deadline on the local clock, and survival of a panic. A handler that ends its goroutine
// has died as a process dies.
type runner struct {
	server  *Server
	handler lambda.Handler
}

func (r *runner) Invoke(ctx context.Context, payload []byte) (answer []byte, err error) {
	lc, _ := lambdacontext.FromContext(ctx)
	if lc.AwsRequestID == stopID {
		// The loop of aws-lambda-go ends the whole process when it ends; ending its
		// goroutine instead runs its deferred calls and nothing else.
		runtime.Goexit()
	}
	r.server.mu.Lock()
	inv := r.server.invocations[lc.AwsRequestID]
	r.server.mu.Unlock()
	if inv == nil {
		return nil, fmt.Errorf("invocation %s: not known", lc.AwsRequestID)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(inv.ctx, func() { cancel(context.Cause(inv.ctx)) })
	defer stop()
	returned := false
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, panicError(p)
		} else if !returned { // runtime.Goexit
			r.server.died(inv)
		}
	}()
	answer, err = r.handler.Invoke(localContext{ctx, inv.deadline}, payload)
	returned = true
	return answer, err
}

// localContext shows the function's deadline on the local clock, on which the handlers
// tell time. The context still ends when the server says so.
type localContext struct {
	context.Context
	deadline time.Time
}

func (c localContext) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }

// panicError is what aws-lambda-go reports for a panic. There the process then exits and
// Lambda starts another; here it goes on.
func panicError(p any) error {
	if typed, ok := p.(messages.InvokeResponse_Error); ok {
		return typed
	}
	t := reflect.TypeOf(p)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return messages.InvokeResponse_Error{Type: t.Name(), Message: fmt.Sprint(p), StackTrace: stackTrace()}
}

func stackTrace() []*messages.InvokeResponse_Error_StackFrame {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)])
	var trace []*messages.InvokeResponse_Error_StackFrame
	for {
		frame, more := frames.Next()
		trace = append(trace, &messages.InvokeResponse_Error_StackFrame{
			Path: frame.File, Line: int32(frame.Line), Label: frame.Function,
		})
		if !more {
			return trace
		}
	}
}
