package rig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Front is an endpoint before an emulator. It notes the IAM actions that requests need, for
// programs that make their own clients.
type Front struct {
	URL string
	// Stack is the ARN of the stack that answers for any resource's physical id, by which the
	// emulators find none.
	Stack string
	// Before, if set, sees each action before the emulator gets its request.
	Before func(action string)

	mu      sync.Mutex
	actions map[string]bool
}

// NewFront begins to listen, until the test ends.
func NewFront(t testing.TB, c Cloud) *Front {
	t.Helper()
	target, err := url.Parse(c.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	f := &Front{actions: map[string]bool{}}
	transport := &http.Transport{}
	emulator := httputil.NewSingleHostReverseProxy(target)
	emulator.Transport = transport
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		needed, err := actionsOf(r, body)
		if err != nil {
			t.Error(err)
		}
		f.note(needed)
		if slices.Contains(needed, "cloudformation:DescribeStackResources") && f.Stack != "" {
			f.answerStack(w, body)
			return
		}
		emulator.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.Close()
		transport.CloseIdleConnections()
	})
	f.URL = s.URL
	return f
}

func (f *Front) note(actions []string) {
	for _, a := range actions {
		if f.Before != nil {
			f.Before(a)
		}
		f.mu.Lock()
		f.actions[a] = true
		f.mu.Unlock()
	}
}

// Actions are those that were needed since the last call, in order.
func (f *Front) Actions() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Sorted(maps.Keys(f.actions))
	clear(f.actions)
	return all
}

func (f *Front) answerStack(w http.ResponseWriter, body []byte) {
	form, _ := url.ParseQuery(string(body))
	w.Header().Set("Content-Type", "text/xml")
	_, _ = fmt.Fprintf(w, `<DescribeStackResourcesResponse><DescribeStackResourcesResult><StackResources><member>`+
		`<PhysicalResourceId>%s</PhysicalResourceId><StackId>%s</StackId><LogicalResourceId>Schedule</LogicalResourceId>`+
		`</member></StackResources></DescribeStackResourcesResult></DescribeStackResourcesResponse>`, form.Get("PhysicalResourceId"), f.Stack)
}

// servicePrefixes are IAM's, by how the JSON protocols name a service.
var servicePrefixes = map[string]string{"DynamoDB_20120810": "dynamodb", "AWSStepFunctions": "states", "Logs_20140328": "logs", "AmazonSQS": "sqs"}

// restActions are those of the services whose requests say what they are by method and path.
var restActions = []struct {
	method string
	path   *regexp.Regexp
	action string
}{
	{"GET", regexp.MustCompile(`^/schedule-groups$`), "scheduler:ListScheduleGroups"},
	{"GET", regexp.MustCompile(`^/tags/`), "scheduler:ListTagsForResource"},
	{"GET", regexp.MustCompile(`^/schedules$`), "scheduler:ListSchedules"},
	{"GET", regexp.MustCompile(`^/schedules/[^/]+$`), "scheduler:GetSchedule"},
	{"GET", regexp.MustCompile(`^/2015-03-31/functions/[^/]+/configuration$`), "lambda:GetFunctionConfiguration"},
}

var cborPath = regexp.MustCompile(`^/service/GraniteServiceVersion20100801/operation/(\w+)$`)

// actionsOf are the IAM actions that a request needs.
func actionsOf(r *http.Request, body []byte) ([]string, error) {
	if service, op, ok := strings.Cut(r.Header.Get("X-Amz-Target"), "."); ok {
		prefix := servicePrefixes[service]
		if prefix == "" {
			return nil, fmt.Errorf("service %s has no prefix here", service)
		}
		if op == "TransactWriteItems" {
			return transactActions(body)
		}
		return []string{prefix + ":" + op}, nil
	}
	if found := cborPath.FindStringSubmatch(r.URL.Path); found != nil {
		return []string{"cloudwatch:" + found[1]}, nil
	}
	for _, rest := range restActions {
		if r.Method == rest.method && rest.path.MatchString(r.URL.Path) {
			return []string{rest.action}, nil
		}
	}
	// The credential's scope names the service: KEY/DATE/REGION/SERVICE/aws4_request.
	form, err := url.ParseQuery(string(body))
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if parts := strings.Split(scope, "/"); err == nil && form.Get("Action") != "" && len(parts) > 3 {
		return []string{parts[3] + ":" + form.Get("Action")}, nil
	}
	return nil, fmt.Errorf("%s %s: the action is not known here", r.Method, r.URL.Path)
}

// transactActions are those of a transaction's items: IAM knows no action for the whole.
func transactActions(body []byte) ([]string, error) {
	var in struct{ TransactItems []map[string]any }
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	var actions []string
	for _, item := range in.TransactItems {
		for kind := range item {
			name := map[string]string{"Update": "UpdateItem", "Put": "PutItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}[kind]
			actions = append(actions, "dynamodb:"+name)
		}
	}
	return actions, nil
}
