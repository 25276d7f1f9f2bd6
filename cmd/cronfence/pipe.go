package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// errUnread says that a pipe's other end is closed.
var errUnread = errors.New("ended early: nobody reads the output any more")

// whileRead runs what has child processes to end: where nobody reads its output any more, as
// behind `| head`, it ends in order, while by default the signal for that would end it alone.
func whileRead(ctx context.Context, out, errOut io.Writer, do func(ctx context.Context, out, errOut io.Writer) error) error {
	broken := make(chan os.Signal, 1) // nobody looks: a closed connection sends the same signal
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	unread := func() { cancel(errUnread) }
	err := do(ctx, pipeWriter{out, unread}, pipeWriter{errOut, unread})
	if errors.Is(context.Cause(ctx), errUnread) {
		return errUnread
	}
	return err
}

// pipeWriter tells when its other end is closed.
type pipeWriter struct {
	io.Writer
	unread func()
}

func (w pipeWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		w.unread()
	}
	return n, err
}
