// Package process runs programs of the user's so that nothing of them is left behind.
package process

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// ErrKilled is the cause of a context whose end is no request to stop but the program's death.
var ErrKilled = errors.New("killed")

// Grace is how long a program has between SIGTERM and SIGKILL, in real time.
const Grace = 5 * time.Second

// Program is what to run.
type Program struct {
	Path   string
	Args   []string
	Env    []string // all of it
	Dir    string   // "" is the caller's own
	Out    io.Writer
	Prefix string        // of every line that it writes
	Grace  time.Duration // 0 means Grace
}

// drain is how long the output of a program that has ended is waited for, where something
// outside its group keeps it open.
const drain = time.Second

// Run runs the program in a process group of its own until it ends. When ctx ends the
// group gets SIGTERM, and SIGKILL after the grace, or at once where the cause is ErrKilled. What the program leaves running in its
// group is killed: at once when it ended by itself, and when it was stopped at the end of
// the grace or of its output.
func Run(ctx context.Context, p Program) error {
	// A pipe of our own: with that of exec.Cmd a child in the background, which keeps it
	// open, would hold up the end of a program that is done.
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Env, cmd.Dir = p.Env, p.Dir
	cmd.Stdout, cmd.Stderr = w, w
	cmd.WaitDelay = cmp.Or(p.Grace, Grace)
	ownGroup(cmd)
	var stopped time.Time // read after Wait, which ends after Cancel
	cmd.Cancel = func() error {
		stopped = time.Now()
		if errors.Is(context.Cause(ctx), ErrKilled) {
			return signalGroup(cmd, kill)
		}
		return signalGroup(cmd, terminate)
	}
	err = cmd.Start()
	_ = w.Close() // the program has its own
	if err != nil {
		_ = r.Close()
		return err
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		out := &lineWriter{out: p.Out, prefix: p.Prefix}
		_, _ = io.Copy(out, r) // what cannot be written is lost, and is no fault of the program's
		_, _ = io.Copy(io.Discard, r)
		out.flush()
	}()
	err = cmd.Wait()
	if !stopped.IsZero() {
		await(copied, cmd.WaitDelay-time.Since(stopped))
	}
	_ = signalGroup(cmd, kill) // nothing left is the usual case
	await(copied, drain)
	_ = r.Close()
	<-copied
	return err
}

// await waits until done is closed, for so long at the most.
func await(done <-chan struct{}, most time.Duration) {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}
