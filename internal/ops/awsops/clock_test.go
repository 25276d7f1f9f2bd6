package awsops

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cronfence/cronfence/internal/ops"
)

// A service whose clock is right, and the way to it and back: DNS, a proxy and TLS are part of there.
type service struct {
	now         time.Time
	there, back time.Duration
	date        string // "" for the one that is right
	status      int    // 0 for no answer at all
}

func (s *service) Do(*http.Request) (*http.Response, error) {
	s.now = s.now.Add(s.there)
	date := s.date
	if date == "" {
		date = s.now.Format(http.TimeFormat)
	}
	s.now = s.now.Add(s.back)
	if s.status == 0 {
		return nil, errors.New("connection reset")
	}
	return &http.Response{StatusCode: s.status, Header: http.Header{"Date": {date}}, Body: io.NopCloser(bytes.NewReader([]byte("{}")))}, nil
}

func (s *service) ask(t *testing.T, c *clock) {
	client := dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", HTTPClient: s, Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
		}),
	}, func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, c.watch) })
	_, _ = client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
}

func watching(s *service, off time.Duration) *clock {
	return &clock{now: func() time.Time { return s.now.Add(off) }}
}

// Whatever the way takes and wherever in its second the Date was written, the truth lies between the
// bounds, which are as far apart as the way is long and a second more.
func TestTheTruthLiesBetweenTheBounds(t *testing.T) {
	for name, c := range map[string]struct{ there, back, off time.Duration }{
		"exact":                          {0, 0, 0},
		"a usual way":                    {30 * time.Millisecond, 20 * time.Millisecond, 0},
		"a slow connection, clock right": {11 * time.Second, 0, 0},
		"a slow answer, clock right":     {0, 11 * time.Second, 0},
		"a slow connection, ahead":       {11 * time.Second, 0, 4 * time.Minute},
		"a slow answer, behind":          {0, 11 * time.Second, -4 * time.Minute},
		"ahead":                          {time.Millisecond, time.Millisecond, 6 * time.Second},
		"behind":                         {time.Millisecond, time.Millisecond, -6 * time.Second},
	} {
		for _, within := range []time.Duration{0, time.Millisecond, time.Second / 2, 999 * time.Millisecond} {
			s := &service{now: time.Date(2026, 9, 7, 2, 0, 0, 0, time.UTC).Add(within), there: c.there, back: c.back, status: http.StatusOK}
			watched := watching(s, c.off)
			s.ask(t, watched)
			got, known := watched.Ahead()
			if !known || got.Least > c.off || got.Most < c.off || got.Most-got.Least != c.there+c.back+time.Second {
				t.Errorf("%s, %v into a second: %+v, known %v, want %v between", name, within, got, known, c.off)
			}
		}
	}
}

func TestClockIsMeasuredAtEveryAnswerThatHasADate(t *testing.T) {
	two := time.Date(2026, 9, 7, 2, 0, 0, 0, time.UTC)
	s := &service{}
	c := watching(s, 0)
	if _, known := c.Ahead(); known {
		t.Error("known before anything was asked")
	}
	last := ops.Ahead{Least: -5 * time.Minute, Most: -5*time.Minute + 3*time.Second}
	for _, tt := range []struct {
		date   string
		status int
		want   ops.Ahead
		known  bool
	}{
		{"yesterday", http.StatusOK, ops.Ahead{}, false},
		{"Mon, 07 Sep 2026 01:56:00 GMT", http.StatusOK, ops.Ahead{Least: 4*time.Minute - time.Second, Most: 4*time.Minute + 2*time.Second}, true},
		{"Mon, 07 Sep 2026 02:04:59 GMT", http.StatusBadRequest, last, true},
		{"yesterday", http.StatusOK, last, true}, // the last that was known
		{"Mon, 07 Sep 2026 01:56:00 GMT", 0, last, true},
	} {
		*s = service{now: two, there: time.Second, back: time.Second, date: tt.date, status: tt.status}
		s.ask(t, c)
		if got, known := c.Ahead(); known != tt.known || got != tt.want {
			t.Errorf("Date %q, status %d: %+v ahead, known %v, want %+v", tt.date, tt.status, got, known, tt.want)
		}
	}
}
