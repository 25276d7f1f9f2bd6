// Package awssfn runs executions on AWS Step Functions.
package awssfn

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/smithy-go"

	"github.com/cronfence/cronfence/internal/machine"
)

// Client is what the runner needs of Step Functions.
type Client interface {
	StartExecution(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error)
	DescribeExecution(context.Context, *sfn.DescribeExecutionInput, ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error)
	StopExecution(context.Context, *sfn.StopExecutionInput, ...func(*sfn.Options)) (*sfn.StopExecutionOutput, error)
}

// Runner is a machine.Runner. The SDK repeats what was throttled or lost on the way; all
// three calls may be repeated without harm, a start because name and input are the same.
type Runner struct{ client Client }

var _ machine.Runner = (*Runner)(nil)

// New returns a runner.
func New(client Client) *Runner { return &Runner{client} }

// Start implements machine.Runner.
func (r *Runner) Start(ctx context.Context, machineARN, name, input string) error {
	_, err := r.client.StartExecution(ctx, &sfn.StartExecutionInput{
		StateMachineArn: &machineARN, Name: &name, Input: &input,
	})
	if err != nil {
		return fmt.Errorf("start execution %q: %w", name, startError(err))
	}
	return nil
}

// startError tells the starts that need not be tried again. Codes are compared as text: an
// emulator may send one in a form that keeps the SDK from finding its type.
func startError(err error) error {
	switch code(err) {
	case "ExecutionAlreadyExists":
		return join(machine.ErrExists, err)
	case "StateMachineDoesNotExist", "StateMachineDeleting",
		"InvalidArn", "InvalidName", "InvalidExecutionInput", "ValidationException",
		"AccessDenied", "AccessDeniedException", "KmsAccessDeniedException", "KmsInvalidStateException":
		return join(machine.ErrPermanent, err)
	}
	return err // throttled, over a limit of running executions, lost on the way: later it may pass
}

// Describe implements machine.Runner.
func (r *Runner) Describe(ctx context.Context, executionARN string) (machine.Execution, error) {
	out, err := r.client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &executionARN})
	if err != nil {
		return machine.Execution{}, fmt.Errorf("describe execution %q: %w", executionARN, lookError(err))
	}
	return machine.Execution{
		Status:    status(out.Status),
		Input:     aws.ToString(out.Input),
		StartedAt: aws.ToTime(out.StartDate),
		StoppedAt: aws.ToTime(out.StopDate),
		Error:     aws.ToString(out.Error),
		Cause:     aws.ToString(out.Cause),
	}, nil
}

// status is the execution's status. One that waits to be redriven is about to work again.
func status(s types.ExecutionStatus) machine.Status {
	if s == types.ExecutionStatusPendingRedrive {
		return machine.Running
	}
	return machine.Status(s)
}

// Stop implements machine.Runner.
func (r *Runner) Stop(ctx context.Context, executionARN, errorName, cause string) error {
	_, err := r.client.StopExecution(ctx, &sfn.StopExecutionInput{
		ExecutionArn: &executionARN, Error: &errorName, Cause: &cause,
	})
	if err != nil {
		return fmt.Errorf("stop execution %q: %w", executionARN, lookError(err))
	}
	return nil
}

func lookError(err error) error {
	if code(err) == "ExecutionDoesNotExist" {
		return join(machine.ErrNotFound, err)
	}
	return err
}

func join(kind, err error) error { return fmt.Errorf("%w: %w", kind, err) }

func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}
