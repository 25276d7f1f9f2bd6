package fences3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fences3"
	"github.com/cronfence/cronfence/pkg/job/internal/fencetest"
	"github.com/cronfence/cronfence/pkg/job/jobtest"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

// bucket makes a bucket that keeps every version, so that no write is forgotten.
func bucket(t *testing.T, c rig.Cloud, name string) *s3.Client {
	t.Helper()
	client := s3.NewFromConfig(c.Config, func(o *s3.Options) { o.UsePathStyle = true })
	_, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{
		Bucket:                    &name,
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(c.Config.Region)},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{
		Bucket: &name, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// bucketOf is the bucket of a place: listing versions goes through a whole bucket in the
// emulator, so that there must be few in each.
func bucketOf(n int) string { return fmt.Sprintf("fenced-puts-%d", n/100) }

// content is what a run writes: as many bytes as its rank.
func content(run job.Run) io.Reader {
	return strings.NewReader(strings.Repeat("x", int(run.Fence-fencetest.Fence(0))))
}

// landed lists the versions of an object, the oldest first, by the rank in their size.
func landed(client *s3.Client) func(ctx context.Context, n int) ([]int64, error) {
	return func(ctx context.Context, n int) (fences []int64, err error) {
		bucket, key := bucketOf(n), strconv.Itoa(n)+"/"
		out, err := client.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: &bucket, Prefix: &key})
		if err != nil {
			return nil, err
		}
		for _, v := range slices.Backward(out.Versions) {
			fences = append(fences, fencetest.Fence(aws.ToInt64(v.Size)))
		}
		return fences, nil
	}
}

func TestNoLatePutLands(t *testing.T) {
	many := fencetest.Many(t)
	var client *s3.Client
	for n := 0; n < many+50; n += 100 {
		client = bucket(t, rig.Ministack(t), bucketOf(n))
	}
	input := func(run job.Run, n int) *s3.PutObjectInput {
		return &s3.PutObjectInput{Bucket: aws.String(bucketOf(n)), Key: aws.String(fmt.Sprintf("%d/o", n)), Body: content(run)}
	}
	place := fencetest.Place{Landed: landed(client), Write: func(ctx context.Context, run job.Run, n int) error {
		_, err := fences3.Put(ctx, client, run, input(run, n))
		return err
	}}
	fencetest.Holds(t, many, place)
	place.Write = func(ctx context.Context, run job.Run, n int) error {
		_, err := client.PutObject(ctx, input(run, n+many))
		return err
	}
	fencetest.LetsThrough(t, 50, place.At(many))
}

// Known and documented: S3 compares contents. A run that read the fence before a newer one
// put the same bytes again is not refused.
func TestBytesThatRecurHideANewerFence(t *testing.T) {
	const name, key = "recurring-bytes", "o"
	client := bucket(t, rig.Ministack(t), name)
	put := func(api fences3.API, rank int64, body string) error {
		_, err := fences3.Put(t.Context(), api, fencetest.NewRun(0, rank), &s3.PutObjectInput{
			Bucket: aws.String(name), Key: aws.String(key), Body: strings.NewReader(body),
		})
		return err
	}
	for body, refused := range map[string]bool{"same": false, "other": true} {
		if _, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(name), Key: aws.String(key)}); err != nil {
			t.Fatal(err)
		}
		if err := put(client, 1, "same"); err != nil {
			t.Fatal(err)
		}
		err := put(afterHead{client, func() error { return put(client, 3, body) }}, 2, "late")
		if errors.Is(err, job.ErrFenced) != refused {
			t.Errorf("the newer run put %q: the older one's late put got %v", body, err)
		}
	}
}

// afterHead lets something happen once, between the reading of a fence and the put.
type afterHead struct {
	*s3.Client
	do func() error
}

func (a afterHead) HeadObject(ctx context.Context, in *s3.HeadObjectInput, o ...func(*s3.Options)) (*s3.HeadObjectOutput, error) {
	out, err := a.Client.HeadObject(ctx, in, o...)
	if err == nil && out.Metadata[fences3.Metadata] == strconv.FormatInt(fencetest.Fence(1), 10) {
		err = a.do()
	}
	return out, err
}

func TestAPutKeepsWhatTheAuthorAskedFor(t *testing.T) {
	const name = "kept"
	client := bucket(t, rig.Moto(t), name)
	in := &s3.PutObjectInput{
		Bucket: aws.String(name), Key: aws.String("o"), Body: bytes.NewReader([]byte("hello")),
		Metadata: map[string]string{"owner": "ops"}, ContentType: aws.String("text/csv"),
	}
	for range 2 { // there is none, and there is one
		if _, err := fences3.Put(t.Context(), client, fencetest.NewRun(0, 1), in); err != nil {
			t.Fatal(err)
		}
	}
	if len(in.Metadata) != 1 || in.IfMatch != nil {
		t.Errorf("the author's input was changed: %+v", in)
	}
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: in.Bucket, Key: in.Key})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	if err != nil || string(body) != "hello" || out.Metadata["owner"] != "ops" || aws.ToString(out.ContentType) != "text/csv" {
		t.Errorf("got %q, %v, %s, %v", body, out.Metadata, aws.ToString(out.ContentType), err)
	}
}

func TestAPutRefusesWhatItCannotRepeat(t *testing.T) {
	for name, in := range map[string]*s3.PutObjectInput{
		"stream":    {Body: io.LimitReader(strings.NewReader("x"), 1)},
		"condition": {IfMatch: aws.String("tag")},
	} {
		if _, err := fences3.Put(t.Context(), nil, fencetest.NewRun(0, 1), in); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

func TestTheDrillSeesPastAFencedPut(t *testing.T) {
	const name, key = "drilled", "o"
	client := bucket(t, rig.Moto(t), name)
	input := func(run job.Run) *s3.PutObjectInput {
		return &s3.PutObjectInput{Bucket: aws.String(name), Key: aws.String(key), Body: strings.NewReader(run.Tick)}
	}
	fencetest.DrillSees(t, jobtest.Job{
		Work: func(ctx context.Context, run job.Run) error {
			_, err := fences3.Put(ctx, client, run, input(run))
			return err
		},
		Reset: func(ctx context.Context) error {
			_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String(name), Key: aws.String(key)})
			return err
		},
		State: func(ctx context.Context) (any, error) {
			out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(name), Key: aws.String(key)})
			if absent := new(types.NoSuchKey); errors.As(err, &absent) {
				return "", nil
			}
			if err != nil {
				return nil, err
			}
			defer out.Body.Close()
			body, err := io.ReadAll(out.Body)
			return string(body), err
		},
	}, func(ctx context.Context, run job.Run) error {
		_, err := client.PutObject(ctx, input(run))
		return err
	})
}

func TestAFenceThatNoRunCanHaveIsNotWritten(t *testing.T) {
	fencetest.Refuses(t, "Put", func(run job.Run) error {
		_, err := fences3.Put(t.Context(), nil, run, &s3.PutObjectInput{})
		return err
	})
}

// Headers know no case: the author's would stand in the fence's place every second time.
func TestMetadataCalledLikeTheFenceIsReplaced(t *testing.T) {
	spy := &putSpy{}
	in := &s3.PutObjectInput{Metadata: map[string]string{"Cronfence-Fence": "99", "CRONFENCE-FENCE": "98", "owner": "ops"}}
	if _, err := fences3.Put(t.Context(), spy, fencetest.NewRun(0, 1), in); err != nil {
		t.Fatal(err)
	}
	if got := spy.puts[0].metadata; len(got) != 2 || got[fences3.Metadata] != strconv.FormatInt(fencetest.Fence(1), 10) {
		t.Errorf("sent with %v", got)
	}
}

func TestABodyIsSentFromWhereItStoodEachTime(t *testing.T) {
	body := strings.NewReader("HEADERbody")
	if _, err := body.Seek(int64(len("HEADER")), io.SeekStart); err != nil {
		t.Fatal(err)
	}
	spy := &putSpy{changed: 1}
	if _, err := fences3.Put(t.Context(), spy, fencetest.NewRun(0, 1), &s3.PutObjectInput{Body: body}); err != nil {
		t.Fatal(err)
	}
	if len(spy.puts) != 2 || spy.puts[0].body != "body" || spy.puts[1].body != "body" {
		t.Errorf("sent %+v: want the body twice", spy.puts)
	}
}

// putSpy notes what is put; the first puts find that the object has changed.
type putSpy struct {
	changed int
	puts    []sent
}

type sent struct {
	body     string
	metadata map[string]string
}

func (s *putSpy) HeadObject(context.Context, *s3.HeadObjectInput, ...func(*s3.Options)) (*s3.HeadObjectOutput, error) {
	return nil, &types.NotFound{}
}

func (s *putSpy) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	p := sent{metadata: in.Metadata}
	if in.Body != nil {
		body, err := io.ReadAll(in.Body)
		if err != nil {
			return nil, err
		}
		p.body = string(body)
	}
	s.puts = append(s.puts, p)
	if s.changed--; s.changed >= 0 {
		return nil, &smithy.GenericAPIError{Code: "PreconditionFailed"}
	}
	return &s3.PutObjectOutput{}, nil
}
