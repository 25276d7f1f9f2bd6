// Package awssns sends messages to a topic of Amazon SNS.
package awssns

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/cronfence/cronfence/internal/sentinel"
)

// Client is what is needed of SNS.
type Client interface {
	Publish(context.Context, *sns.PublishInput, ...func(*sns.Options)) (*sns.PublishOutput, error)
}

// Topic is a topic by its ARN.
type Topic struct {
	client Client
	arn    string
}

var _ sentinel.Notices = Topic{}

// New returns the topic of an ARN.
func New(client Client, arn string) Topic { return Topic{client, arn} }

// Notify implements sentinel.Notices.
func (t Topic) Notify(ctx context.Context, subject, text string) error {
	if _, err := t.client.Publish(ctx, &sns.PublishInput{TopicArn: &t.arn, Subject: &subject, Message: &text}); err != nil {
		return fmt.Errorf("publish to %s: %w", t.arn, err)
	}
	return nil
}
