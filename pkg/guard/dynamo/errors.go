package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// How often and how long a request is tried before the store is said to be busy: about
// two seconds on average and 4.5 at most, well inside every caller's timeout.
const (
	maxAttempts = 8
	baseDelay   = 50 * time.Millisecond
	maxDelay    = time.Second
)

// conditionFailed is the code of a refused plain write. In a transaction's reasons it
// stands without "Exception".
const (
	conditionFailed       = "ConditionalCheckFailedException"
	conditionFailedReason = "ConditionalCheckFailed"
)

// busyCodes say that DynamoDB decided nothing, as an error of a request or among the
// reasons of a cancelled transaction. None is ever read as a refused condition.
var busyCodes = map[string]bool{
	"TransactionConflict":                    true,
	"TransactionConflictException":           true,
	"TransactionInProgressException":         true,
	"ProvisionedThroughputExceeded":          true,
	"ProvisionedThroughputExceededException": true,
	"ThrottlingError":                        true,
	"ThrottlingException":                    true,
	"RequestLimitExceeded":                   true,
	"ReplicatedWriteConflictException":       true,
}

// newRetryer returns the one place where requests are repeated. The SDK's own retries know
// throttling but no transaction conflicts, and a second loop around them would multiply
// attempts just when the table is overloaded. Its token bucket is shared by all requests
// of the store and ends retries when most of them fail.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.Backoff = retry.BackoffDelayerFunc(delay)
		o.Retryables = append([]retry.IsErrorRetryable{retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			if busy(err) {
				return aws.TrueTernary
			}
			return aws.UnknownTernary
		})}, o.Retryables...)
	})
}

// delay is fully jittered, so that those who collided do not meet again.
func delay(attempt int, _ error) (time.Duration, error) {
	ceiling := min(maxDelay, baseDelay<<min(attempt, 10))
	return rand.N(ceiling), nil
}

// pause waits before a try that the retryer does not see.
func pause(ctx context.Context, attempt int) error {
	d, err := delay(attempt, nil)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// busy tells whether DynamoDB answered without deciding. Codes are compared as text: an
// emulator may send one whose status keeps the SDK from finding its type.
func busy(err error) bool {
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		for _, reason := range cancelled.CancellationReasons {
			if busyCodes[aws.ToString(reason.Code)] {
				return true
			}
		}
		return false
	}
	return busyCodes[code(err)]
}

func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

func busyOr(err error) error {
	if busy(err) {
		return fmt.Errorf("%w: %w", guard.ErrBusy, err)
	}
	return err
}

// refusedUpdate turns the error of a plain write into what it says about the condition.
func refusedUpdate(job string, w guard.Write, err error) error {
	if code(err) != conditionFailed {
		return busyOr(err)
	}
	var old item
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		old = failed.Item
	}
	refused := newRefused()
	if err := addRefused(refused, job, w, old); err != nil {
		return err
	}
	return refused
}

// refusedTransaction turns the error of a transaction into what it says about its
// conditions. A conflict or a throttle among the reasons decides nothing, whatever the
// other reasons are.
func refusedTransaction(c guard.Commit, err error) error {
	var cancelled *types.TransactionCanceledException
	if busy(err) || !errors.As(err, &cancelled) {
		return busyOr(err)
	}
	refused := newRefused()
	for i, reason := range cancelled.CancellationReasons {
		if aws.ToString(reason.Code) != conditionFailedReason || i >= len(c.Writes) {
			continue
		}
		if err := addRefused(refused, c.Job, c.Writes[i], reason.Item); err != nil {
			return err
		}
	}
	if !refused.GuardRefused && len(refused.Rows) == 0 && len(refused.Gaps) == 0 {
		return err // refused for what it is: too large, malformed
	}
	return refused
}

func newRefused() *guard.Refused { return &guard.Refused{Rows: map[string]*guard.Row{}} }

func addRefused(r *guard.Refused, job string, w guard.Write, old item) error {
	if w.SK == schema.GuardSK {
		g, err := guardOf(job, old)
		r.GuardRefused, r.Guard = true, g
		return err
	}
	if guard.IsGap(w.SK) {
		r.Gaps = append(r.Gaps, w.SK)
		return nil
	}
	row, err := rowOf(job, old)
	r.Rows[guard.TickOf(w.SK)] = row
	return err
}
