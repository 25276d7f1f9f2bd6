// Package command runs a job as a command that the user names, where the deployed job is
// a Lambda function or a container.
package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/cronfence/cronfence/internal/localcloud/process"
)

// RunVariable is the environment variable in which a command finds the run object.
const RunVariable = "CRONFENCE_RUN"

// ErrorFailed names the error of a command that ended with anything but exit status 0.
const ErrorFailed = "Command.Failed"

// Handler runs one command for every invocation, in a process group of its own. Exit
// status 0 is success. When the invocation's context ends the group gets SIGTERM, and
// SIGKILL after the grace; what a command that has ended left running in it is killed.
type Handler struct {
	Job  string
	Line string        // for the shell
	Env  []string      // all of it but the run object
	Out  io.Writer     // the command's output and errors, each line with the job's name
	Wait time.Duration // the grace; 0 means process.Grace
}

// Handle is the Lambda handler.
func (h *Handler) Handle(ctx context.Context, run json.RawMessage) (any, error) {
	err := process.Run(ctx, process.Program{
		Path: "/bin/sh", Args: []string{"-c", h.Line}, Env: append(slices.Clone(h.Env), RunVariable+"="+string(run)),
		Out: h.Out, Prefix: "[" + h.Job + "] ", Grace: h.Wait,
	})
	switch {
	case err == nil: // also where the time was over a moment after the end
		return map[string]any{}, nil
	case ctx.Err() != nil:
		return nil, h.failed(fmt.Sprintf("stopped: %v", context.Cause(ctx)))
	}
	return nil, h.failed(err.Error())
}

// failed gives the error as aws-lambda-go must get it to keep its name: as a plain value.
func (h *Handler) failed(message string) error {
	return messages.InvokeResponse_Error{
		Type: ErrorFailed, Message: fmt.Sprintf("the command of job %q: %s", h.Job, message),
	}
}
