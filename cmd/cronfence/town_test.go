package main

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/engine"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/ops/devapi"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/policy"
)

// town is a scheduler in memory that stands still, behind the HTTP interface of a local cloud.
type town struct {
	*testworld.World
	t   *testing.T
	url string
}

// townAround is what stands around it: a topic that nobody listens to, and a log.
type townAround struct{ w *testworld.World }

func (townAround) Deployed(context.Context) (ops.Deployed, error) {
	return ops.Deployed{Ticks: map[string]bool{"cleanup": true, "invoices-of-all-tenants": true, "report": true}}, nil
}

func (townAround) Examine(_ context.Context, x *ops.Diagnosis) {
	x.Add(ops.FoundSilentAlarm, "", "aws sns subscribe --topic-arn arn:aws:sns:eu-west-1:123456789012:pages --protocol email --notification-endpoint YOU@EXAMPLE.COM",
		"nobody has subscribed to topic arn:aws:sns:eu-west-1:123456789012:pages: its alarms tell nobody")
	x.Skip("schedules against the deployed stacks", "CloudFormation DescribeStackResources: AccessDenied User is not authorized to perform this")
}
func (townAround) Events(context.Context, string) (int64, error) { return 25, nil }

func (a townAround) Logs(_ context.Context, w ops.Work, l *ops.Logs) error {
	l.Lines = append(l.Lines, ops.LogLine{At: w.From.Add(2 * time.Second), Source: "/aws/lambda/cleanup", Text: "deleted 4711 rows \x1b[31mof 9000"})
	l.Links = append(l.Links, ops.Link{What: "execution", URL: "https://console.aws.amazon.com/states/home?region=us-east-1#/v2/executions/details/x"})
	return nil
}

func newTown(t *testing.T) *town {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	w := testworld.New(t, nil)
	token := 0
	op := &ops.Direct{Name: testworld.Scheduler, Around: townAround{w}, Engine: &engine.Engine{
		Store: w.Store, Machines: w.Runs, Now: w.Now, Timeout: engine.CommandLineTimeout,
		NewToken: func() string { token++; return fmt.Sprintf("ops%d", token) },
	}}
	s, err := devapi.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.LeaveToken(); err != nil {
		t.Fatal(err)
	}
	s.Serve(map[string]ops.Operator{op.Name: op}, nil, http.NotFoundHandler())
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &town{w, t, s.URL()}
}

// lived lets a night pass: a run that succeeded, one that failed, one that still goes on and
// made ticks skip, a job that is paused, and one on which a tick waits.
func (w *town) lived() {
	t := w.t
	t.Helper()
	cleanup, report := testworld.Minutely("cleanup"), testworld.Spec("report", "cron(0 2 * * ? *)")
	report.Timezone = "Europe/Berlin"
	invoices := testworld.Spec("invoices-of-all-tenants", "cron(0/15 * * * ? *)")
	invoices.Overlap, invoices.DrainSeconds = policy.QueueOne, 300
	w.Established(cleanup, "01:55")
	w.Established(report, "00:00")
	w.Established(invoices, "01:30")
	do := func(clock string, act func() error) {
		t.Helper()
		w.At(clock)
		if err := act(); err != nil {
			t.Fatal(err)
		}
	}
	first := func() (err error) { _, err = w.Succeed(w.Tick(cleanup, "01:56")); return err }
	do("01:56:00", first)
	w.At("01:57:00")
	failing := w.Tick(cleanup, "01:57")
	do("01:57:40", func() error { _, err := w.Fail(failing, "Database.Locked", "lock wait timeout exceeded"); return err })
	w.At("01:45:02")
	w.Tick(invoices, "01:45")
	w.At("02:00:01")
	w.Tick(cleanup, "02:00")
	w.Tick(invoices, "02:00")
	w.At("02:01:00")
	w.Tick(cleanup, "02:01")
	w.At("02:01:30")
}
