package fences3_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fences3"
)

func Example() {
	var client *s3.Client // s3.NewFromConfig(cfg)
	work := func(ctx context.Context, run job.Run) error {
		// The tick makes the content differ from that of every other run.
		report := fmt.Sprintf("tick,orders\n%s,17\n", run.Tick)
		_, err := fences3.Put(ctx, client, run, &s3.PutObjectInput{
			Bucket: aws.String("reports"), Key: aws.String("latest.csv"), Body: strings.NewReader(report),
		})
		return err
	}
	_ = work
}
