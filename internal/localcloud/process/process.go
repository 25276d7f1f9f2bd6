// Package process runs programs of the user's so that nothing of them is left behind.
package process

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"time"
)

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

// Run runs the program in a process group of its own until it ends. When ctx ends the
// group gets SIGTERM, and SIGKILL after the grace; whatever of it is left when the program
// has ended is killed.
func Run(ctx context.Context, p Program) error {
	out := &lineWriter{out: p.Out, prefix: p.Prefix}
	defer out.flush()
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Env, cmd.Dir = p.Env, p.Dir
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = p.Grace
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = Grace
	}
	ownGroup(cmd)
	cmd.Cancel = func() error { return signalGroup(cmd, terminate) }
	if err := cmd.Start(); err != nil {
		return err
	}
	err := cmd.Wait()
	_ = signalGroup(cmd, kill) // nothing left is the usual case
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		return nil // a child of it kept the output open
	}
	return err
}
