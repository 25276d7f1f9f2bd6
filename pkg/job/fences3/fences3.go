// Package fences3 refuses late writes of S3 objects. Put reads the fence that the object's
// last writer left in its metadata, refuses if that is newer, and puts the object on the
// condition that it is still the one whose fence was read (If-Match, or If-None-Match where
// there was none).
//
//   - Protected: the object, from the moment a newer run has put it.
//   - Not protected: a late write of a run that read the fence before the newer run put the
//     very same bytes that were there before. S3's condition compares the content's hash, and
//     that has not changed. Where the content may come out equal, make it differ: write the
//     tick or the fence into it.
//   - Not protected: an object that was deleted: it remembers no fence, and a late write makes
//     it anew. The same holds for one that a lifecycle rule expired.
//   - Not protected: objects that the newer run has not put yet, writes that do not go through
//     Put, multipart uploads and copies. A bucket policy can refuse puts without a condition
//     (s3:if-match, s3:if-none-match).
//   - For one job: fences of different jobs say nothing about each other, so a second job that
//     puts the object may be shut out of it.
//   - A replica in another Region checks conditions where the write arrives: write in one.
//
// Needs s3:GetObject and s3:PutObject on the object, and s3:ListBucket on the bucket: without
// it S3 says "forbidden" of an object that is not there.
package fences3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/internal/fence"
	"github.com/cronfence/cronfence/pkg/job/internal/step"
)

// Metadata is where an object keeps the fence of the run that put it: the header
// x-amz-meta-cronfence-fence, a decimal number.
const Metadata = "cronfence-fence"

// maxTries is how often Put begins anew when another writer came between: 8 times within
// about three seconds.
const maxTries = 8

// API is what Put needs of a *s3.Client.
type API interface {
	HeadObject(context.Context, *s3.HeadObjectInput, ...func(*s3.Options)) (*s3.HeadObjectOutput, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Put puts an object unless a newer run has: then it returns a *job.FencedError. The body
// must be an io.Seeker, for it may be sent more than once, each time from where it stood, and
// stands there again in the end; IfMatch and IfNoneMatch must not be set. Metadata called like
// the fence is replaced. The input is not changed. It costs one HEAD request more than a plain
// put.
func Put(ctx context.Context, api API, run job.Run, in *s3.PutObjectInput, options ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	body, ok := in.Body.(io.Seeker)
	if in.Body != nil && !ok || in.IfMatch != nil || in.IfNoneMatch != nil {
		return nil, errors.New("fenced put: Body must be an io.Seeker, IfMatch and IfNoneMatch must not be set")
	}
	if err := fence.Check(run.Fence); err != nil {
		return nil, fmt.Errorf("fenced put: %w", err)
	}
	own := *in
	own.Metadata = maps.Clone(in.Metadata)
	if own.Metadata == nil {
		own.Metadata = map[string]string{}
	}
	// Names differ by more than their case: of two such headers S3 gets one, either.
	maps.DeleteFunc(own.Metadata, func(name, _ string) bool { return strings.EqualFold(name, Metadata) })
	own.Metadata[Metadata] = strconv.FormatInt(run.Fence, 10)
	var start int64
	if body != nil {
		var err error
		if start, err = body.Seek(0, io.SeekCurrent); err != nil {
			return nil, fmt.Errorf("fenced put: find where the body stands: %w", err)
		}
		defer func() { _, _ = body.Seek(start, io.SeekStart) }() // so that the same input can be put again
	}
	step.At(ctx)
	defer step.At(ctx)
	for attempt := 1; ; attempt++ {
		var err error
		if own.IfMatch, err = check(ctx, api, run, in); err != nil {
			return nil, err
		}
		own.IfNoneMatch = nil
		if own.IfMatch == nil {
			own.IfNoneMatch = aws.String("*")
		}
		if body != nil {
			if _, err := body.Seek(start, io.SeekStart); err != nil {
				return nil, fmt.Errorf("fenced put: rewind body: %w", err)
			}
		}
		step.At(ctx)
		out, err := api.PutObject(ctx, &own, options...)
		if !changed(err) || attempt == maxTries {
			return out, err
		}
		if pause(ctx, attempt) != nil {
			return nil, err
		}
	}
}

// check returns the tag of the object that may be overwritten, or nil where there is none.
func check(ctx context.Context, api API, run job.Run, in *s3.PutObjectInput) (tag *string, err error) {
	out, err := api.HeadObject(ctx, &s3.HeadObjectInput{Bucket: in.Bucket, Key: in.Key, ExpectedBucketOwner: in.ExpectedBucketOwner})
	switch code(err) {
	case "NotFound", "NoSuchKey":
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read fence of %s: %w", aws.ToString(in.Key), err)
	}
	text, fenced := out.Metadata[Metadata]
	if !fenced {
		return out.ETag, nil // put before its job was fenced
	}
	seen, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read fence of %s: metadata %s is %q: must be a number", aws.ToString(in.Key), Metadata, text)
	}
	if seen > run.Fence {
		return nil, &job.FencedError{Fence: run.Fence, Seen: seen}
	}
	return out.ETag, nil
}

// changed tells whether somebody put or deleted the object since its fence was read.
func changed(err error) bool {
	switch code(err) {
	case "PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey", "NotFound":
		return true
	}
	return false
}

func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// pause is fully jittered, so that those who collided do not meet again.
func pause(ctx context.Context, attempt int) error {
	select {
	case <-time.After(rand.N(10 * time.Millisecond << attempt)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
