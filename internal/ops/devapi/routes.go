package devapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/pkg/guard"
)

// routes answers over operators, one a scheduler, and over faults where there can be any.
func routes(operators map[string]ops.Operator, f Faults) *http.ServeMux {
	mux := http.NewServeMux()
	if f != nil {
		faultRoutes(mux, f)
	}
	mux.HandleFunc("GET "+prefix, func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, schedulers{slices.Sorted(maps.Keys(operators))})
	})
	for _, endpoints := range []map[string]endpoint{looking, acting} {
		for pattern, answer := range endpoints {
			method, path, _ := strings.Cut(pattern, " ")
			mux.HandleFunc(method+" "+prefix+"/{scheduler}"+path, func(w http.ResponseWriter, r *http.Request) {
				op, known := operators[r.PathValue("scheduler")]
				err := error(badRequest{fmt.Errorf("scheduler %q is not in the local cloud", r.PathValue("scheduler"))})
				if known {
					err = answer(op, w, r)
				}
				if err != nil {
					writeError(w, err)
				}
			})
		}
	}
	return mux
}

// endpoint answers a request, or returns why it cannot before it has written anything.
type endpoint func(op ops.Operator, w http.ResponseWriter, r *http.Request) error

// looking are the endpoints that change nothing.
var looking = map[string]endpoint{
	"GET /doctor": func(op ops.Operator, w http.ResponseWriter, r *http.Request) error {
		return answer(w)(op.Doctor(r.Context()))
	},
	"GET /jobs": func(op ops.Operator, w http.ResponseWriter, r *http.Request) error {
		stream(w, op.Jobs(r.Context()))
		return nil
	},
	"GET /jobs/{job}/history": func(op ops.Operator, w http.ResponseWriter, r *http.Request) error {
		q, err := historyQuery(r.PathValue("job"), r.URL.Query())
		if err == nil {
			stream(w, op.History(r.Context(), q))
		}
		return err
	},
	"GET /jobs/{job}": func(op ops.Operator, w http.ResponseWriter, r *http.Request) error {
		return answer(w)(op.Status(r.Context(), r.PathValue("job")))
	},
	"GET /jobs/{job}/report": func(op ops.Operator, w http.ResponseWriter, r *http.Request) error {
		q := ops.ReportQuery{Job: r.PathValue("job"), Full: r.URL.Query().Get("full") == "true"}
		return answer(w)(op.Report(r.Context(), q))
	},
	"GET /jobs/{job}/ticks/{tick}": func(op ops.Operator, w http.ResponseWriter, r *http.Request) error {
		tick, err := tickOf(r.PathValue("tick"))
		if err != nil {
			return err
		}
		return answer(w)(op.Tick(r.Context(), r.PathValue("job"), tick))
	},
	"GET /jobs/{job}/ticks/{tick}/why": func(op ops.Operator, w http.ResponseWriter, r *http.Request) error {
		tick, err := tickOf(r.PathValue("tick"))
		if err != nil {
			return err
		}
		return answer(w)(op.Why(r.Context(), r.PathValue("job"), tick))
	},
	"GET /jobs/{job}/logs": func(op ops.Operator, w http.ResponseWriter, r *http.Request) error {
		v := r.URL.Query()
		q := ops.LogQuery{Job: r.PathValue("job"), Groups: v["group"]}
		if tick := v.Get("tick"); tick != "" {
			var err error
			if q.Tick, err = tickOf(tick); err != nil {
				return err
			}
		}
		return answer(w)(op.Logs(r.Context(), q))
	},
}

// acting are the endpoints that change something: type access asks more of their callers.
var acting = map[string]endpoint{
	"POST /jobs/{job}/run": act(func(ctx context.Context, op ops.Operator, job string, q ops.RunRequest) (any, error) {
		q.Job = job
		return op.Run(ctx, q)
	}),
	"POST /jobs/{job}/pause": act(func(ctx context.Context, op ops.Operator, job string, q ops.PauseRequest) (any, error) {
		q.Job = job
		return op.Pause(ctx, q)
	}),
	"POST /jobs/{job}/resume": act(func(ctx context.Context, op ops.Operator, job string, _ resumption) (any, error) {
		return op.Resume(ctx, job)
	}),
	"POST /jobs/{job}/release": act(func(ctx context.Context, op ops.Operator, job string, q ops.ReleaseRequest) (any, error) {
		q.Job = job
		return op.Release(ctx, q)
	}),
	"POST /jobs/{job}/backfill": act(func(ctx context.Context, op ops.Operator, job string, q ops.BackfillRequest) (any, error) {
		q.Job = job
		return op.Backfill(ctx, q)
	}),
	"POST /jobs/{job}/end-backlog": act(func(ctx context.Context, op ops.Operator, job string, q ops.EndBacklogRequest) (any, error) {
		q.Job = job
		return op.EndBacklog(ctx, q)
	}),
	// It changes nothing, and is asked for by those who are about to.
	"POST /jobs/{job}/preview": act(func(ctx context.Context, op ops.Operator, job string, q ops.Act) (any, error) {
		q.Job = job
		return op.Preview(ctx, q)
	}),
}

// act reads the request's body and answers with what came of it.
func act[Q any](do func(ctx context.Context, op ops.Operator, job string, q Q) (any, error)) endpoint {
	return func(op ops.Operator, w http.ResponseWriter, r *http.Request) error {
		q, err := readBody[Q](r)
		if err != nil {
			return err
		}
		return answer(w)(do(r.Context(), op, r.PathValue("job"), q))
	}
}

// readBody reads the JSON of a request.
func readBody[Q any](r *http.Request) (q Q, err error) {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err = d.Decode(&q)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more behind its end: must be one JSON document")
		}
	}
	if err != nil {
		err = badRequest{fmt.Errorf("read request: %w", err)}
	}
	return q, err
}

// tickOf reads a tick's id.
func tickOf(text string) (string, error) {
	tick, err := ops.ParseTick(text)
	if err != nil {
		return "", badRequest{err}
	}
	return tick, nil
}

// answer writes a value unless there is an error, which it returns.
func answer(w http.ResponseWriter) func(v any, err error) error {
	return func(v any, err error) error {
		if err == nil {
			writeJSON(w, http.StatusOK, v)
		}
		return err
	}
}

// historyQuery reads a query string; the zero values select everything.
func historyQuery(job string, v url.Values) (q ops.HistoryQuery, err error) {
	q = ops.HistoryQuery{Job: job, Outcome: guard.Outcome(v.Get("outcome")), Kind: guard.Kind(v.Get("kind"))}
	if since := v.Get("since"); since != "" {
		if q.Since, err = time.Parse(time.RFC3339, since); err != nil {
			return q, badRequest{err}
		}
	}
	if q.Outcome != "" && !slices.Contains(ops.Outcomes, q.Outcome) {
		return q, badRequest{fmt.Errorf("outcome %q: must be one of %v", q.Outcome, ops.Outcomes)}
	}
	if q.Kind != "" && !slices.Contains(ops.Kinds, q.Kind) {
		return q, badRequest{fmt.Errorf("kind %q: must be one of %v", q.Kind, ops.Kinds)}
	}
	if last := v.Get("last"); last != "" {
		if q.Last, err = time.ParseDuration(last); err != nil {
			return q, badRequest{err}
		}
	}
	return q, nil
}

// stream writes a sequence, a line a value. What has been written stands when an error comes:
// the error is the last line.
func stream[T any](w http.ResponseWriter, seq iter.Seq2[T, error]) {
	w.Header().Set("Content-Type", lines)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for v, err := range seq {
		l := line[T]{Value: &v}
		if err != nil {
			p, _ := problemOf(err)
			l = line[T]{Error: &p}
		}
		if e.Encode(l) != nil || err != nil {
			return // in the first case nobody listens any more
		}
	}
}

// badRequest is an error that is the asker's.
type badRequest struct{ error }

func problemOf(err error) (problem, int) {
	p := problem{Kind: kindFailed, Message: err.Error()}
	var refused *guard.Refusal
	var bad badRequest
	var invalid *ops.InvalidError
	switch {
	case errors.As(err, &p.Unknown):
		p.Kind = kindUnknown
		return p, http.StatusNotFound
	case errors.As(err, &refused):
		p.Kind = kindRefused
		return p, http.StatusConflict
	case errors.As(err, &bad), errors.As(err, &invalid):
		p.Kind = kindBad
		return p, http.StatusBadRequest
	}
	return p, http.StatusInternalServerError
}

func writeError(w http.ResponseWriter, err error) {
	p, status := problemOf(err)
	writeProblem(w, status, p)
}

func writeProblem(w http.ResponseWriter, status int, p problem) { writeJSON(w, status, p) }

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // a client that went away
}
