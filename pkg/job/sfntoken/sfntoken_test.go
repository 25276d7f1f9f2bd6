package sfntoken_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/sfntoken"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

func TestATaskThatWaitsNoMoreIsToldFromACallThatFailed(t *testing.T) {
	c := rig.Moto(t)
	tokens := sfntoken.New(sfn.NewFromConfig(c.Config, func(o *sfn.Options) { o.RetryMaxAttempts = 1 }))
	for code, gone := range map[string]bool{"TaskTimedOut": true, "TaskDoesNotExist": true, "InvalidToken": false, "ThrottlingException": false, "": false} {
		c.Requests.Around(func(string, rig.Send) (*http.Response, error) {
			if code == "" {
				return rig.AWSAnswer(http.StatusOK, "{}"), nil
			}
			return rig.AWSError(http.StatusBadRequest, code, ""), nil
		})
		for name, err := range map[string]error{
			"heartbeat": tokens.Heartbeat(t.Context(), "T"),
			"success":   tokens.Success(t.Context(), "T", []byte("{}")),
			"failure":   tokens.Failure(t.Context(), "T", "JobFailed", "no disk"),
		} {
			if errors.Is(err, job.ErrTokenGone) != gone || (err == nil) != (code == "") {
				t.Errorf("%s answered %q: %v", name, code, err)
			}
		}
	}
	counts := c.Requests.Counts()
	if counts["SendTaskHeartbeat"] != 5 || counts["SendTaskSuccess"] != 5 || counts["SendTaskFailure"] != 5 {
		t.Errorf("requests %v: want five of each", counts)
	}
}

// A worker that takes messages from a queue.
func Example() {
	var client *sfn.Client
	handle := func(ctx context.Context, message string) error {
		run, err := job.FromToken([]byte(message))
		if err != nil {
			return err
		}
		return job.Do(ctx, run, func(_ context.Context, run job.Run) error {
			fmt.Println("working on tick", run.Tick)
			return nil
		}, job.WithTokens(sfntoken.New(client)))
	}
	_ = handle
}
