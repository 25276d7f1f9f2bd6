// Package step lets a drill hold a run at its writes. Outside a drill it does nothing.
package step

import "context"

type key struct{}

// With returns a context whose runs call at before and after each fenced write, and
// between the parts of a write that is more than one request.
func With(ctx context.Context, at func()) context.Context { return context.WithValue(ctx, key{}, at) }

// At is such a point.
func At(ctx context.Context) {
	if at, ok := ctx.Value(key{}).(func()); ok {
		at()
	}
}
