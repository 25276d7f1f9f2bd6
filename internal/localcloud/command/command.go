// Package command runs a job as a command that the user names, where the deployed job is
// a Lambda function or a container.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
)

// RunVariable is the environment variable in which a command finds the run object.
const RunVariable = "CRONFENCE_RUN"

// ErrorFailed names the error of a command that ended with anything but exit status 0.
const ErrorFailed = "Command.Failed"

// Grace is how long a command has between SIGTERM and SIGKILL, in real time.
const Grace = 5 * time.Second

// Handler runs one command for every invocation, in a process group of its own. Exit
// status 0 is success. When the invocation's context ends the group gets SIGTERM, and
// SIGKILL after the grace; whatever of it is left when the command has ended is killed.
type Handler struct {
	Job  string
	Line string        // for the shell
	Out  io.Writer     // the command's output and errors, each line with the job's name
	Wait time.Duration // the grace; 0 means Grace
}

// Handle is the Lambda handler.
func (h *Handler) Handle(ctx context.Context, run json.RawMessage) (any, error) {
	out := &lineWriter{out: h.Out, prefix: "[" + h.Job + "] "}
	defer out.flush()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", h.Line)
	cmd.Env = append(os.Environ(), RunVariable+"="+string(run))
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = h.Wait
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = Grace
	}
	ownGroup(cmd)
	cmd.Cancel = func() error { return signalGroup(cmd, terminate) }
	if err := cmd.Start(); err != nil {
		return nil, h.failed(err.Error())
	}
	err := cmd.Wait()
	_ = signalGroup(cmd, kill) // nothing left is the usual case
	switch {
	case ctx.Err() != nil:
		return nil, h.failed(fmt.Sprintf("stopped: %v", context.Cause(ctx)))
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // a child of it kept the output open
		return map[string]any{}, nil
	}
	return nil, h.failed(err.Error())
}

// failed gives the error as aws-lambda-go must get it to keep its name: as a plain value.
func (h *Handler) failed(message string) error {
	return messages.InvokeResponse_Error{
		Type: ErrorFailed, Message: fmt.Sprintf("the command of job %q: %s", h.Job, message),
	}
}
