//go:build linux

package localcloud_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cronfence/cronfence/internal/localcloud"
	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencedynamo"
	"github.com/cronfence/cronfence/pkg/job/notes"
)

// authorsJob is a job as its author writes it, in a process of its own: a Lambda function, or a
// command. With AUTHORS_JOB=waits its first run does not end before its context does, and then
// tries a late write.
func authorsJob() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	client := dynamodb.NewFromConfig(cfg)
	work := func(ctx context.Context, run job.Run) error { return bookCarts(ctx, client, run) }
	options := []job.Option{job.WithGuard(fencedynamo.Guard(client)), job.WithPoll(20 * time.Millisecond)}
	if os.Getenv(job.EnvRun) == "" {
		lambda.Start(job.Handler(work, options...))
	}
	run, err := job.FromEnv()
	if err == nil {
		err = job.Do(context.Background(), run, work, options...)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

const firstRun = "-1 is the first"

func bookCarts(ctx context.Context, client *dynamodb.Client, run job.Run) error {
	db := fencedynamo.New(client, run)
	cart := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "cart 1"}}
	_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String("carts"), Key: cart, UpdateExpression: aws.String("ADD visits :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	})
	if err != nil {
		return err
	}
	book := func(ctx context.Context) error {
		_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{TableName: aws.String("carts"), Key: cart, UpdateExpression: aws.String("REMOVE gone")}},
		}})
		return err
	}
	if err := book(ctx); err != nil {
		return err
	}
	if err := notes.Put(ctx, client, run, "carts", "booked 1", time.Now()); err != nil {
		return err
	}
	fmt.Println("booked by", run.ID)
	if os.Getenv("AUTHORS_JOB") != "waits" || os.Mkdir(os.Getenv("AUTHORS_DIR")+firstRun, 0o700) != nil {
		return nil
	}
	fmt.Println("waits in", run.ID)
	<-ctx.Done()
	fmt.Println("its context ended:", context.Cause(ctx))
	if errors.Is(context.Cause(ctx), job.ErrLeaseLost) {
		fmt.Println("late write:", book(context.WithoutCancel(ctx)))
	}
	return context.Cause(ctx)
}

// authored is an assembly whose cleanup is the author's job as a Lambda function, with a table
// of the author's own and other words in the job's spec.
func authored(t *testing.T, spec ...string) localcloud.Config {
	t.Helper()
	dir := t.TempDir()
	c := built(t, "", "#!/bin/sh\nAUTHORS_JOB=waits AUTHORS_DIR="+dir+"/ exec "+self(t)+"\n")
	file := filepath.Join(c.Directory, "CronfenceExample.template.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const table = `"Resources":{"Carts":{"Type":"AWS::DynamoDB::GlobalTable","Properties":{"TableName":"carts",
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]}},`
	changed := strings.NewReplacer(append([]string{`"Resources":{`, table}, spec...)...).Replace(string(text))
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	// A process goes by the machine's clock: its deadline must not be over. The first tick is a
	// second away.
	c.Start, c.Speed, c.For = time.Now().UTC().Truncate(time.Minute).Add(59*time.Second), 30, 90*time.Second
	return c
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// running is a local cloud at work.
type running struct {
	*localcloud.Cloud
	t      *testing.T
	log    *buffer
	report chan *localcloud.Report
}

func begin(t *testing.T, c localcloud.Config) *running {
	t.Helper()
	t.Setenv("AWS_ENDPOINT_URL", "") // as if it were not set
	r := &running{t: t, log: &buffer{}, report: make(chan *localcloud.Report, 1)}
	c.Log, c.Out = r.log, r.log
	cloud, err := localcloud.New(c)
	if err != nil {
		t.Fatal(err)
	}
	r.Cloud = cloud
	go func() {
		report, err := cloud.Run(context.WithoutCancel(t.Context()))
		if err != nil {
			t.Error(err)
		}
		r.report <- report
	}()
	return r
}

// await waits until the log has a text.
func (r *running) await(text string) {
	r.t.Helper()
	for range 2000 {
		if strings.Contains(r.log.String(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatalf("no %q in\n%s", text, r.log.String())
}

func (r *running) operator() *ops.Direct {
	r.t.Helper()
	all, err := r.Schedulers()
	if err != nil {
		r.t.Fatal(err)
	}
	return &ops.Direct{Name: all[0].Name, Engine: all[0].Engine, Notes: all[0].Notes}
}

// end waits for the report and returns what became of the cleanup.
func (r *running) end() localcloud.JobReport {
	r.t.Helper()
	report := <-r.report
	if report == nil || len(report.Problems) > 0 {
		r.t.Fatalf("report %+v\n%s", report, r.log.String())
	}
	return jobOf(r.t, report, "cleanup")
}

func TestAStopRequestEndsTheContextOfTheAuthorsJob(t *testing.T) {
	r := begin(t, authored(t, `\"overlap\":\"skip\",\"beats\":true`, `\"overlap\":\"replace\",\"graceSeconds\":50,\"fenced\":true,\"beats\":true`))
	r.await("its context ended: the run is asked to stop: for tick ")
	if got := r.end(); !strings.Contains(r.log.String(), "  Replaced   ") || got.Failed != 0 || got.Succeeded != 1 || got.MaxConcurrent != 1 {
		t.Errorf("got %+v\n%s", got, r.log.String())
	}
}

func TestALostLeaseEndsTheContextOfTheAuthorsJobAndRefusesItsWrites(t *testing.T) {
	r := begin(t, authored(t))
	r.await("waits in ")
	released, err := r.operator().Release(t.Context(), ops.ReleaseRequest{Job: "cleanup", By: "a test", Reason: "to see it end"})
	if err != nil {
		t.Fatal(err)
	}
	r.await("its context ended: the run no longer holds its job's guard")
	r.await("late write: write with fence ")
	if got := r.end(); got.Aborted != 1 || got.MaxConcurrent != 1 {
		t.Errorf("released %s, got %+v\n%s", released.Released, got, r.log.String())
	}
}

func TestACommandWritesNotesAndFencedItems(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"} {
		t.Setenv(name, "") // it works with nothing of the caller's
	}
	c := authored(t)
	c.Exec = map[string]string{"cleanup": "AUTHORS_JOB=works " + self(t)}
	c.For = 30 * time.Second
	r := begin(t, c)
	r.await("booked by ")
	x, err := r.operator().Why(t.Context(), "cleanup", c.Start.Add(time.Second).Format(time.RFC3339))
	if err != nil || len(x.Notes) != 1 || x.Notes[0].Text != "booked 1" || !slices.ContainsFunc(x.Sentences, func(s string) bool { return strings.HasSuffix(s, ": booked 1") }) {
		t.Errorf("why: %v, %q", err, x.Sentences)
	}
	if got := r.end(); got.Succeeded != 1 {
		t.Errorf("got %+v\n%s", got, r.log.String())
	}
}

func TestThatProcessesGoByAnotherClockIsNoted(t *testing.T) {
	for speed, want := range map[float64]bool{1: false, 30: true} {
		c := authored(t)
		c.Speed = speed
		c.Log, c.Out = &buffer{}, &buffer{}
		cloud, err := localcloud.New(c)
		if err != nil {
			t.Fatal(err)
		}
		defer cloud.Close()
		if noted := strings.Contains(strings.Join(cloud.Notices(), "\n"), "go by this machine's clock"); noted != want {
			t.Errorf("at speed %v: noted %v", speed, noted)
		}
	}
}
