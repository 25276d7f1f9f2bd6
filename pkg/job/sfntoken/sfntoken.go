// Package sfntoken answers the task tokens of Step Functions, for job.WithTokens.
package sfntoken

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/cronfence/cronfence/pkg/job"
)

// API is what Tokens need of a *sfn.Client.
type API interface {
	SendTaskHeartbeat(context.Context, *sfn.SendTaskHeartbeatInput, ...func(*sfn.Options)) (*sfn.SendTaskHeartbeatOutput, error)
	SendTaskSuccess(context.Context, *sfn.SendTaskSuccessInput, ...func(*sfn.Options)) (*sfn.SendTaskSuccessOutput, error)
	SendTaskFailure(context.Context, *sfn.SendTaskFailureInput, ...func(*sfn.Options)) (*sfn.SendTaskFailureOutput, error)
}

// Tokens answers task tokens. It is safe for concurrent use.
type Tokens struct{ api API }

var _ job.Tokens = Tokens{}

// New returns tokens of a client, which needs states:SendTaskHeartbeat, SendTaskSuccess and
// SendTaskFailure.
func New(api API) Tokens { return Tokens{api} }

// Heartbeat implements job.Tokens.
func (t Tokens) Heartbeat(ctx context.Context, token string) error {
	_, err := t.api.SendTaskHeartbeat(ctx, &sfn.SendTaskHeartbeatInput{TaskToken: &token})
	return gone(err)
}

// Success implements job.Tokens.
func (t Tokens) Success(ctx context.Context, token string, output json.RawMessage) error {
	text := string(output)
	_, err := t.api.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: &text})
	return gone(err)
}

// Failure implements job.Tokens.
func (t Tokens) Failure(ctx context.Context, token, name, cause string) error {
	_, err := t.api.SendTaskFailure(ctx, &sfn.SendTaskFailureInput{TaskToken: &token, Error: &name, Cause: &cause})
	return gone(err)
}

// gone tells a task that waits no more from a call that failed. An invalid token never was
// one: it stays an error.
func gone(err error) error {
	var timedOut *types.TaskTimedOut
	var unknown *types.TaskDoesNotExist
	if errors.As(err, &timedOut) || errors.As(err, &unknown) {
		return fmt.Errorf("%w: %w", job.ErrTokenGone, err)
	}
	return err
}
