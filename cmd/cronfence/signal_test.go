//go:build unix

package main

import (
	"os/signal"
	"syscall"
	"testing"
	"time"
)

func TestSignalsEndTheContext(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			continue // the tests themselves run under nohup
		}
		ctx, stop := untilSignal(t.Context())
		if err := syscall.Kill(syscall.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Errorf("%v does not end it", s)
		}
		stop()
	}
}
