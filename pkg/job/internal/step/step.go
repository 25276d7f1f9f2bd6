// Package step lets a drill hold a run at its writes. Outside a drill it does nothing.
package step

import "context"

type key struct{}

// Watcher is told where a run is.
type Watcher struct {
	// At is called before and after each fenced write, and between the parts of a write that is
	// more than one request.
	At func()
	// Owe, if set, is called where a fenced write begins whose end only the author sees: a point
	// has to follow it. It says what the author called.
	Owe func(what string)
}

// With returns a context whose runs are watched.
func With(ctx context.Context, w Watcher) context.Context { return context.WithValue(ctx, key{}, w) }

// At is a point.
func At(ctx context.Context) {
	if w, ok := ctx.Value(key{}).(Watcher); ok {
		w.At()
	}
}

// Owe says that the next point is the author's to make.
func Owe(ctx context.Context, what string) {
	if w, ok := ctx.Value(key{}).(Watcher); ok && w.Owe != nil {
		w.Owe(what)
	}
}
