package awssns_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/cronfence/cronfence/internal/awssns"
)

type client struct {
	in  *sns.PublishInput
	err error
}

func (c *client) Publish(_ context.Context, in *sns.PublishInput, _ ...func(*sns.Options)) (*sns.PublishOutput, error) {
	c.in = in
	return &sns.PublishOutput{}, c.err
}

func TestNotifyPublishesToTheTopic(t *testing.T) {
	c := &client{}
	if err := awssns.New(c, "arn:aws:sns:us-east-1:000000000000:notices").Notify(t.Context(), "subject", "text"); err != nil {
		t.Fatal(err)
	}
	if *c.in.TopicArn != "arn:aws:sns:us-east-1:000000000000:notices" || *c.in.Subject != "subject" || *c.in.Message != "text" {
		t.Errorf("published %+v", c.in)
	}
	c.err = errors.New("AuthorizationError")
	if err := awssns.New(c, "arn:x").Notify(t.Context(), "s", "t"); err == nil || !strings.Contains(err.Error(), "publish to arn:x: AuthorizationError") {
		t.Errorf("error %v: want the topic and the reason", err)
	}
}
