package awsops

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// The answer is there a second after the request was sent, and says what time it was meanwhile.
func TestClockIsMeasuredAtEveryAnswer(t *testing.T) {
	there := time.Date(2026, 9, 7, 2, 0, 0, 0, time.UTC)
	date, status := "", http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = []string{date}
		w.WriteHeader(status)
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	now := there
	c := &clock{now: func() time.Time { now = now.Add(time.Second); return now }}
	client := dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", BaseEndpoint: &server.URL, Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
		}),
	}, func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, c.watch) })
	ask := func() { _, _ = client.ListTables(t.Context(), &dynamodb.ListTablesInput{}) }

	if _, known := c.Ahead(); known {
		t.Error("known before anything was asked")
	}
	for _, tt := range []struct {
		date   string
		status int
		want   time.Duration
	}{
		{"Mon, 07 Sep 2026 02:00:01 GMT", http.StatusOK, 0}, // sent at :01, there at :02: it was 01.5
		{"Mon, 07 Sep 2026 01:56:01 GMT", http.StatusOK, 4 * time.Minute},
		{"Mon, 07 Sep 2026 02:04:01 GMT", http.StatusBadRequest, -4 * time.Minute},
		{"yesterday", http.StatusOK, -4 * time.Minute}, // the last that was known
	} {
		now, date, status = there, tt.date, tt.status
		ask()
		if got, known := c.Ahead(); !known || got != tt.want {
			t.Errorf("Date %q: %v ahead, known %v, want %v", tt.date, got, known, tt.want)
		}
	}
	server.Close()
	ask()
	if got, _ := c.Ahead(); got != -4*time.Minute {
		t.Errorf("no answer: %v", got)
	}
}
