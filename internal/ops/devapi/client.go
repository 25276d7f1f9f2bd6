package devapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
)

// Client is an ops.Operator over a running `cronfence dev`.
type Client struct {
	http *http.Client
	root *url.URL
	base string // of the scheduler
	name string
}

var _ ops.Operator = (*Client)(nil)

// Dial finds a scheduler of the local cloud at a URL such as http://127.0.0.1:7171. An empty
// name means the only one.
func Dial(ctx context.Context, rawURL, scheduler string) (*Client, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
		return nil, &URLError{rawURL}
	}
	// No proxy: what is asked for is this machine. A connection a request: nothing is left open.
	c := &Client{root: &url.URL{Scheme: "http", Host: u.Host}, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	list, err := call[schedulers](ctx, c, http.MethodGet, prefix, nil)
	if err != nil {
		return nil, err
	}
	if scheduler == "" && len(list.Schedulers) == 1 {
		scheduler = list.Schedulers[0]
	}
	if !slices.Contains(list.Schedulers, scheduler) {
		return nil, &ops.SchedulerError{Name: scheduler, Known: list.Schedulers, Where: "the local cloud at " + c.root.String()}
	}
	c.name, c.base = scheduler, prefix+"/"+url.PathEscape(scheduler)
	return c, nil
}

// URLError says that a URL is not one of a local cloud.
type URLError struct{ URL string }

// Error says what is allowed.
func (e *URLError) Error() string {
	return fmt.Sprintf("url %q: must be that which `cronfence dev` shows, such as http://127.0.0.1:7171", e.URL)
}

func (c *Client) jobPath(job string, more ...string) string {
	path := c.base + "/jobs/" + url.PathEscape(job)
	for _, m := range more {
		path += "/" + url.PathEscape(m)
	}
	return path
}

// Jobs implements ops.Operator.
func (c *Client) Jobs(ctx context.Context) iter.Seq2[ops.Job, error] {
	return follow[ops.Job](ctx, c, c.base+"/jobs")
}

// History implements ops.Operator.
func (c *Client) History(ctx context.Context, q ops.HistoryQuery) iter.Seq2[ops.Entry, error] {
	v := url.Values{}
	if !q.Since.IsZero() {
		v.Set("since", q.Since.Format(time.RFC3339Nano))
	}
	if q.Last > 0 {
		v.Set("last", q.Last.String())
	}
	if q.Outcome != "" {
		v.Set("outcome", string(q.Outcome))
	}
	if q.Kind != "" {
		v.Set("kind", string(q.Kind))
	}
	return follow[ops.Entry](ctx, c, c.jobPath(q.Job, "history")+"?"+v.Encode())
}

// Status implements ops.Operator.
func (c *Client) Status(ctx context.Context, job string) (ops.Status, error) {
	return call[ops.Status](ctx, c, http.MethodGet, c.jobPath(job), nil)
}

// Tick implements ops.Operator.
func (c *Client) Tick(ctx context.Context, job, tick string) (*ops.Entry, error) {
	return call[*ops.Entry](ctx, c, http.MethodGet, c.jobPath(job, "ticks", tick), nil)
}

// Report implements ops.Operator.
func (c *Client) Report(ctx context.Context, q ops.ReportQuery) (ops.JobReport, error) {
	return call[ops.JobReport](ctx, c, http.MethodGet, c.jobPath(q.Job, "report")+"?full="+strconv.FormatBool(q.Full), nil)
}

// Why implements ops.Operator.
func (c *Client) Why(ctx context.Context, job, tick string) (ops.Explanation, error) {
	return call[ops.Explanation](ctx, c, http.MethodGet, c.jobPath(job, "ticks", tick, "why"), nil)
}

// Run implements ops.Operator.
func (c *Client) Run(ctx context.Context, r ops.RunRequest) (ops.RunResult, error) {
	return call[ops.RunResult](ctx, c, http.MethodPost, c.jobPath(r.Job, "run"), r)
}

// Pause implements ops.Operator.
func (c *Client) Pause(ctx context.Context, r ops.PauseRequest) (ops.Status, error) {
	return call[ops.Status](ctx, c, http.MethodPost, c.jobPath(r.Job, "pause"), r)
}

// Resume implements ops.Operator.
func (c *Client) Resume(ctx context.Context, job string) (ops.Status, error) {
	return call[ops.Status](ctx, c, http.MethodPost, c.jobPath(job, "resume"), resumption{})
}

// Backfill implements ops.Operator.
func (c *Client) Backfill(ctx context.Context, r ops.BackfillRequest) (ops.BackfillResult, error) {
	return call[ops.BackfillResult](ctx, c, http.MethodPost, c.jobPath(r.Job, "backfill"), r)
}

// EndBacklog implements ops.Operator.
func (c *Client) EndBacklog(ctx context.Context, r ops.EndBacklogRequest) (ops.Status, error) {
	return call[ops.Status](ctx, c, http.MethodPost, c.jobPath(r.Job, "end-backlog"), r)
}

// Preview implements ops.Operator.
func (c *Client) Preview(ctx context.Context, a ops.Act) (ops.Preview, error) {
	return call[ops.Preview](ctx, c, http.MethodPost, c.jobPath(a.Job, "preview"), a)
}

// Logs implements ops.Operator.
func (c *Client) Logs(ctx context.Context, q ops.LogQuery) (ops.Logs, error) {
	v := url.Values{"group": q.Groups}
	if q.Tick != "" {
		v.Set("tick", q.Tick)
	}
	return call[ops.Logs](ctx, c, http.MethodGet, c.jobPath(q.Job, "logs")+"?"+v.Encode(), nil)
}

// Doctor implements ops.Operator.
func (c *Client) Doctor(ctx context.Context) (ops.Diagnosis, error) {
	return call[ops.Diagnosis](ctx, c, http.MethodGet, c.base+"/doctor", nil)
}

// Release implements ops.Operator.
func (c *Client) Release(ctx context.Context, r ops.ReleaseRequest) (ops.ReleaseResult, error) {
	return call[ops.ReleaseResult](ctx, c, http.MethodPost, c.jobPath(r.Job, "release"), r)
}

// call sends one request and reads its answer.
func call[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	var v T
	res, err := c.send(ctx, method, path, body)
	if err != nil {
		return v, err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&v); err != nil {
		return v, fmt.Errorf("read the answer of the local cloud: %w", err)
	}
	return v, nil
}

// send sends one request. An answer that is a problem is returned as the error it stands for.
func (c *Client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var content io.Reader = http.NoBody
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write request: %w", err)
		}
		content = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.root.String()+path, content)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if method != http.MethodGet {
		if err := c.authorize(r); err != nil {
			return nil, err
		}
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("no `cronfence dev` answers: %w", err)
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer res.Body.Close()
	var p problem
	text, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil || p.Message == "" {
		return nil, fmt.Errorf("%s is no `cronfence dev` of this version: it answers %s", c.root, res.Status)
	}
	return nil, p.err()
}

func (c *Client) authorize(r *http.Request) error {
	port, err := strconv.Atoi(c.root.Port())
	if err != nil {
		port = 80
	}
	token, err := readToken(port)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Origin", c.root.String())
	r.Header.Set("Content-Type", "application/json")
	return nil
}

func (p problem) err() error {
	switch {
	case p.Kind == kindRefused:
		return &guard.Refusal{Reason: p.Message}
	case p.Kind == kindBad:
		return &ops.InvalidError{Reason: p.Message}
	case p.Kind == kindUnknown && p.Unknown != nil:
		return p.Unknown
	}
	return errors.New(p.Message)
}

// follow reads a stream line by line.
func follow[T any](ctx context.Context, c *Client, path string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		res, err := c.send(ctx, http.MethodGet, path, nil)
		if err != nil {
			yield(none, err)
			return
		}
		defer res.Body.Close()
		d := json.NewDecoder(res.Body)
		for {
			var l line[T]
			err := d.Decode(&l)
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(none, fmt.Errorf("read the answer of the local cloud: %w", err))
				return
			case l.Error != nil:
				yield(none, l.Error.err())
				return
			case l.Value != nil && !yield(*l.Value, nil):
				return
			}
		}
	}
}
