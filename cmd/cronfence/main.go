// Command cronfence operates scheduled jobs, runs them locally and explains schedules. See README.md.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/cronfence/cronfence/internal/ops"
)

func main() {
	ctx, stop := untilSignal(context.Background())
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// untilSignal is a context that the first signal ends, in order; more of them change nothing,
// so that no child process is left behind by an impatient hand or a closed terminal. SIGQUIT is one
// of them: Go's answer to it, a trace and the end at once, would leave them all.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(ctx, signals...)
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	out, errOut = printer{out, screenOf(out).colour}, printer{errOut, false}
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err != nil {
		_, _ = fmt.Fprintln(errOut, "cronfence: "+ops.Printable(err.Error()))
	}
	return exitCode(err)
}
