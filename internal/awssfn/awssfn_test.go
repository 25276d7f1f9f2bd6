package awssfn_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/smithy-go"

	"github.com/cronfence/cronfence/internal/awssfn"
	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

// fake answers every call with the same error or execution.
type fake struct {
	err  error
	seen sfn.DescribeExecutionOutput
}

func (f fake) StartExecution(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error) {
	return &sfn.StartExecutionOutput{}, f.err
}

func (f fake) DescribeExecution(context.Context, *sfn.DescribeExecutionInput, ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error) {
	return &f.seen, f.err
}

func (f fake) StopExecution(context.Context, *sfn.StopExecutionInput, ...func(*sfn.Options)) (*sfn.StopExecutionOutput, error) {
	return &sfn.StopExecutionOutput{}, f.err
}

func untyped(code string) error { return &smithy.GenericAPIError{Code: code, Message: "injected"} }

func TestErrorsSayWhetherTryingAgainHelps(t *testing.T) {
	kinds := []error{machine.ErrExists, machine.ErrNotFound, machine.ErrPermanent}
	for _, c := range []struct {
		err         error
		start, look error // what it is of kinds; nil: of none
	}{
		{&types.ExecutionAlreadyExists{}, machine.ErrExists, nil},
		{untyped("ExecutionAlreadyExists"), machine.ErrExists, nil},
		{&types.ExecutionDoesNotExist{}, nil, machine.ErrNotFound},
		{&types.StateMachineDoesNotExist{}, machine.ErrPermanent, nil},
		{&types.StateMachineDeleting{}, machine.ErrPermanent, nil},
		{&types.InvalidArn{}, machine.ErrPermanent, nil},
		{&types.InvalidName{}, machine.ErrPermanent, nil},
		{&types.InvalidExecutionInput{}, machine.ErrPermanent, nil},
		{&types.ValidationException{}, machine.ErrPermanent, nil},
		{&types.KmsAccessDeniedException{}, machine.ErrPermanent, nil},
		{untyped("AccessDeniedException"), machine.ErrPermanent, nil},
		{&types.ExecutionLimitExceeded{}, nil, nil},
		{untyped("ThrottlingException"), nil, nil},
		{untyped("ServiceUnavailable"), nil, nil},
		{untyped("ExpiredTokenException"), nil, nil},
		{errors.New("connection reset by peer"), nil, nil},
	} {
		r := awssfn.New(fake{err: c.err})
		_, describe := r.Describe(t.Context(), "arn")
		for call, got := range map[string]struct{ err, want error }{
			"start":    {r.Start(t.Context(), "arn", "name", "{}"), c.start},
			"describe": {describe, c.look},
			"stop":     {r.Stop(t.Context(), "arn", "error", "cause"), c.look},
		} {
			if !errors.Is(got.err, c.err) {
				t.Errorf("%s: %v does not wrap %v", call, got.err, c.err)
			}
			for _, kind := range kinds {
				if is := errors.Is(got.err, kind); is != (kind == got.want) { //nolint:errorlint // one of kinds or nil, nothing wrapped
					t.Errorf("%s: error %v is %q: %v", call, got.err, kind, is)
				}
			}
		}
	}
}

func TestDescribeTellsAllThatIsKnown(t *testing.T) {
	start, stop := time.Unix(100, 0), time.Unix(200, 0)
	for _, c := range []struct {
		seen sfn.DescribeExecutionOutput
		want machine.Execution
	}{
		{
			sfn.DescribeExecutionOutput{Status: types.ExecutionStatusRunning, Input: aws.String("{}"), StartDate: &start},
			machine.Execution{Status: machine.Running, Input: "{}", StartedAt: start},
		},
		{
			sfn.DescribeExecutionOutput{Status: types.ExecutionStatusPendingRedrive, StartDate: &start, StopDate: &stop},
			machine.Execution{Status: machine.Running, StartedAt: start, StoppedAt: stop},
		},
		{
			sfn.DescribeExecutionOutput{
				Status: types.ExecutionStatusFailed, StartDate: &start, StopDate: &stop,
				Error: aws.String("E"), Cause: aws.String("C"),
			},
			machine.Execution{Status: machine.Failed, StartedAt: start, StoppedAt: stop, Error: "E", Cause: "C"},
		},
	} {
		got, err := awssfn.New(fake{seen: c.seen}).Describe(t.Context(), "arn")
		if err != nil || got != c.want {
			t.Errorf("described %+v as %+v, %v; want %+v", c.seen, got, err, c.want)
		}
	}
}

// moto's executions go on for ever unless they are stopped, which suits.
func TestRunnerOnStepFunctions(t *testing.T) {
	cloud := rig.Moto(t)
	client := sfn.NewFromConfig(cloud.Config)
	made, err := client.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name:       aws.String("test_cleanup"),
		Definition: aws.String(`{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":60,"End":true}}}`),
		RoleArn:    aws.String("arn:aws:iam::123456789012:role/test"),
	})
	if err != nil {
		t.Fatal(err)
	}
	r := awssfn.New(client)
	arn := *made.StateMachineArn
	const run = "cleanup-20260907T020000Z-1"
	for range 2 { // the second finds the first still going on, with the same input
		if err := r.Start(t.Context(), arn, run, `{"fence":1}`); err != nil {
			t.Fatalf("start: %v", err)
		}
	}
	if err := r.Start(t.Context(), arn, run, `{"fence":2}`); !errors.Is(err, machine.ErrExists) {
		t.Errorf("start with another input: %v, want ErrExists", err)
	}
	if err := r.Start(t.Context(), arn+"x", run, `{}`); !errors.Is(err, machine.ErrPermanent) {
		t.Errorf("start of a machine that is not there: %v, want ErrPermanent", err)
	}
	execution := "arn:aws:states:eu-west-1:123456789012:execution:test_cleanup:" + run
	x, err := r.Describe(t.Context(), execution)
	if err != nil || x.Status != machine.Running || x.Input != `{"fence":1}` || x.StartedAt.IsZero() || !x.StoppedAt.IsZero() {
		t.Errorf("described %+v, %v; want it running with its input", x, err)
	}
	for range 2 { // stopping what ended is no error
		if err := r.Stop(t.Context(), execution, "Cronfence.LeaseLost", "a test"); err != nil {
			t.Fatalf("stop: %v", err)
		}
	}
	if x, err = r.Describe(t.Context(), execution); err != nil || x.Status != machine.Aborted || x.StoppedAt.IsZero() {
		t.Errorf("described %+v, %v; want it aborted", x, err)
	}
	if err := r.Start(t.Context(), arn, run, `{"fence":1}`); !errors.Is(err, machine.ErrExists) {
		t.Errorf("start under the name of one that ended: %v, want ErrExists", err)
	}
	if _, err := r.Describe(t.Context(), execution+"x"); !errors.Is(err, machine.ErrNotFound) {
		t.Errorf("describe nobody: %v, want ErrNotFound", err)
	}
}
