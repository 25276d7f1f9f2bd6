package dynamo_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/dynamo"
)

// endpoint answers every request in turn; the last answer is repeated.
type endpoint struct {
	answers []func() *http.Response
	asked   int
	bodies  []string
}

func (e *endpoint) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	e.bodies = append(e.bodies, string(body))
	answer := e.answers[min(e.asked, len(e.answers)-1)]
	e.asked++
	return answer(), nil
}

func (e *endpoint) store(t *testing.T) *dynamo.Store {
	t.Helper()
	cfg, err := config.LoadDefaultConfig(t.Context(),
		config.WithSharedConfigFiles([]string{}),
		config.WithRegion("eu-west-1"),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("key", "secret", "")),
	)
	if err != nil {
		t.Fatal(err)
	}
	cfg.HTTPClient = e
	return dynamo.New(dynamodb.NewFromConfig(cfg), "table")
}

func failing(status int, code, fields string) func() *http.Response {
	return func() *http.Response { return rig.AWSError(status, code, fields) }
}

// cancelled is a transaction refused for these reasons, one an item.
func cancelled(reasons ...string) func() *http.Response {
	var list []string
	for _, r := range reasons {
		list = append(list, fmt.Sprintf(`{"Code":%q,"Message":"injected"}`, r))
	}
	return failing(400, "TransactionCanceledException", `"CancellationReasons":[`+strings.Join(list, ",")+`]`)
}

func done() *http.Response { return rig.AWSAnswer(http.StatusOK, "{}") }

func blindBeat() guard.Commit {
	return guard.BlindBeat(guard.Beat{Job: job, Run: "r", Fence: 7, Lease: time.Minute}, now)
}

func blindClaim(t *testing.T) guard.Commit { t.Helper(); return *claim(t, "claim").Commit }

func TestBusyIsRetriedAndNeverReadAsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		answer func() *http.Response
		commit guard.Commit
	}{
		"conflict of an update":       {failing(400, "TransactionConflictException", ""), blindBeat()},
		"throttled update":            {failing(400, "ProvisionedThroughputExceededException", ""), blindBeat()},
		"throttled by the control":    {failing(400, "ThrottlingException", ""), blindBeat()},
		"request limit":               {failing(400, "RequestLimitExceeded", ""), blindBeat()},
		"conflict in a transaction":   {cancelled("None", "TransactionConflict"), blindClaim(t)},
		"throttled in a transaction":  {cancelled("ThrottlingError", "None"), blindClaim(t)},
		"capacity in a transaction":   {cancelled("ProvisionedThroughputExceeded", "None"), blindClaim(t)},
		"refused and in conflict":     {cancelled("ConditionalCheckFailed", "TransactionConflict"), blindClaim(t)},
		"the same token on its way":   {failing(400, "TransactionInProgressException", ""), blindClaim(t)},
		"throttled whole transaction": {failing(400, "ProvisionedThroughputExceededException", ""), blindClaim(t)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				passing := &endpoint{answers: []func() *http.Response{c.answer, c.answer, c.answer, done}}
				began := time.Now()
				if err := passing.store(t).Commit(t.Context(), c.commit); err != nil {
					t.Errorf("after three such answers and a good one: %v", err)
				}
				if passing.asked != 4 || time.Since(began) > 2*time.Second {
					t.Errorf("asked %d times in %v, want 4 times in less than 2 s", passing.asked, time.Since(began))
				}

				lasting := &endpoint{answers: []func() *http.Response{c.answer}}
				began = time.Now()
				err := lasting.store(t).Commit(t.Context(), c.commit)
				if r := new(guard.Refused); !errors.Is(err, guard.ErrBusy) || errors.As(err, &r) {
					t.Errorf("got %v, want ErrBusy", err)
				}
				if took := time.Since(began); lasting.asked > 8 || took > 5*time.Second {
					t.Errorf("asked %d times in %v, want at most 8 times in 5 s", lasting.asked, took)
				}
			})
		})
	}
}

func TestAThrottledReadIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{answers: []func() *http.Response{failing(400, "ThrottlingException", "")}}
		s := e.store(t)
		if _, err := s.Guard(t.Context(), job); !errors.Is(err, guard.ErrBusy) {
			t.Errorf("guard: %v, want ErrBusy", err)
		}
		if _, err := s.Rows(t.Context(), guard.RowQuery{Job: job}); !errors.Is(err, guard.ErrBusy) {
			t.Errorf("rows: %v, want ErrBusy", err)
		}
	})
}

func TestABatchHalfServedIsAskedForTheRestWithPauses(t *testing.T) {
	const (
		cleanup = `{"pk":{"S":"cleanup"},"sk":{"S":"guard"},"version":{"N":"9"}}`
		report  = `{"pk":{"S":"report"},"sk":{"S":"guard"},"version":{"N":"9"}}`
		half    = `{"Responses":{"table":[` + report + `]},"UnprocessedKeys":{"table":{"Keys":[{"pk":{"S":"cleanup"},"sk":{"S":"guard"}}]}}}`
		rest    = `{"Responses":{"table":[` + cleanup + `]},"UnprocessedKeys":{}}`
		none    = `{"Responses":{},"UnprocessedKeys":{"table":{"Keys":[{"pk":{"S":"cleanup"},"sk":{"S":"guard"}}]}}}`
	)
	answer := func(body string) func() *http.Response {
		return func() *http.Response { return rig.AWSAnswer(http.StatusOK, body) }
	}
	listed := answer(`{"Items":[` + cleanup + `,` + report + `],"Count":2}`)
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{answers: []func() *http.Response{listed, answer(half), answer(none), answer(rest)}}
		page, err := e.store(t).Guards(t.Context(), "", 0)
		if err != nil || len(page.Guards) != 2 || page.Guards[0].Job != "cleanup" || page.Guards[1].Job != "report" {
			t.Errorf("guards %+v, %v; want cleanup's and report's", page.Guards, err)
		}
		began := time.Now()
		e = &endpoint{answers: []func() *http.Response{listed, answer(none)}}
		if _, err := e.store(t).Guards(t.Context(), "", 0); !errors.Is(err, guard.ErrBusy) {
			t.Errorf("never served: %v, want ErrBusy", err)
		}
		if took := time.Since(began); took == 0 || e.asked > 10 {
			t.Errorf("asked %d times in %v, want a few times with pauses", e.asked, took)
		}
	})
}

func TestAGuardThatCannotBeReadHidesNoOther(t *testing.T) {
	const (
		broken = `{"pk":{"S":"cleanup"},"sk":{"S":"guard"},"version":{"S":"nine"}}`
		whole  = `{"pk":{"S":"report"},"sk":{"S":"guard"},"version":{"N":"9"}}`
	)
	answer := func(body string) func() *http.Response {
		return func() *http.Response { return rig.AWSAnswer(http.StatusOK, body) }
	}
	e := &endpoint{answers: []func() *http.Response{
		answer(`{"Items":[` + broken + `,` + whole + `],"Count":2}`), answer(`{"Responses":{"table":[` + broken + `,` + whole + `]}}`),
	}}
	page, err := e.store(t).Guards(t.Context(), "", 0)
	if err != nil || len(page.Guards) != 1 || page.Guards[0].Job != "report" {
		t.Errorf("guards %+v, %v; want report's", page.Guards, err)
	}
	if len(page.Unreadable) != 1 || !strings.Contains(page.Unreadable[0].Error(), "cleanup") {
		t.Errorf("unreadable %v; want cleanup's named", page.Unreadable)
	}
}

// An emulator was seen to answer so; the typed error then depends on the code alone.
func TestARefusalIsKnownByItsCodeWhateverTheStatus(t *testing.T) {
	const old = `"Item":{"pk":{"S":"cleanup"},"sk":{"S":"guard"},"version":{"N":"9"},"fence":{"N":"8"}}`
	for _, status := range []int{400, 409, 412} {
		e := &endpoint{answers: []func() *http.Response{failing(status, "ConditionalCheckFailedException", old)}}
		r := refused(t, e.store(t).Commit(t.Context(), blindBeat()))
		if !r.GuardRefused || r.Guard == nil || r.Guard.Fence != 8 || r.Guard.Job != job {
			t.Errorf("status %d: refusal %+v shows guard %+v, want fence 8", status, r, r.Guard)
		}

		reasons := `"CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed","Item":{"tick":{"S":"t"},"fence":{"N":"8"}}}]`
		e = &endpoint{answers: []func() *http.Response{failing(status, "TransactionCanceledException", reasons)}}
		c := blindClaim(t)
		r = refused(t, e.store(t).Commit(t.Context(), c))
		if row := r.Rows[guard.TickOf(c.Writes[1].SK)]; r.GuardRefused || row == nil || row.Fence != 8 {
			t.Errorf("status %d: refusal %+v, want the row alone, with fence 8", status, r)
		}
		if e.asked != 1 {
			t.Errorf("status %d: a refusal was asked for %d times, want once", status, e.asked)
		}
	}
}

func TestOtherErrorsAreNeitherBusyNorRefused(t *testing.T) {
	for name, answer := range map[string]func() *http.Response{
		"access denied":    failing(400, "AccessDeniedException", ""),
		"malformed":        failing(400, "ValidationException", ""),
		"malformed inside": cancelled("ValidationError", "None"),
		"no such table":    failing(400, "ResourceNotFoundException", ""),
	} {
		e := &endpoint{answers: []func() *http.Response{answer}}
		err := e.store(t).Commit(t.Context(), blindClaim(t))
		if r := new(guard.Refused); err == nil || errors.Is(err, guard.ErrBusy) || errors.As(err, &r) {
			t.Errorf("%s: got %v, want an error of its own", name, err)
		}
		if e.asked != 1 {
			t.Errorf("%s: asked %d times, want once", name, e.asked)
		}
	}
}

// DynamoDB refuses a token that it knows with other parameters: retries and repeated
// commits of one decision must say the same.
func TestARepeatedTransactionSaysTheSame(t *testing.T) {
	c := blindClaim(t)
	var first map[string]any
	for range 20 { // a map would seldom be walked in one order so often
		e := &endpoint{answers: []func() *http.Response{cancelled("TransactionConflict", "None"), done}}
		synctest.Test(t, func(t *testing.T) {
			if err := e.store(t).Commit(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		})
		for _, body := range e.bodies {
			var request map[string]any
			if err := json.Unmarshal([]byte(body), &request); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = request
			}
			if diff := cmp.Diff(first, request); diff != "" {
				t.Fatalf("sent another request with the same token (-first +later):\n%s", diff)
			}
		}
	}
	if first["ClientRequestToken"] != c.Token {
		t.Errorf("sent token %v, want the commit's, %q", first["ClientRequestToken"], c.Token)
	}
}
