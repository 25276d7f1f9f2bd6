package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"html/template"
	"net/http"
	"path"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
)

// Page shows schedulers.
type Page struct {
	Operators map[string]ops.Operator // by the scheduler's name
	Where     string                  // what is shown, such as "local cloud"
	Now       func() time.Time        // of the schedulers
	By        string                  // who acts, for the record
	Every     time.Duration           // how often the page looks again
	Faults    Faults                  // what can be let go wrong; nil over a deployed scheduler
	Lines     bool                    // whether a run's lines stand beside why: not where reading them is paid for
	// MayLook tells who is shown anything; nil: whoever asks. The others are told how to.
	MayLook func(*http.Request) bool
	// Fresh is how long in real time what was read is shown to others too: 0 where reading
	// costs nothing.
	Fresh time.Duration

	lists    cache[[]ops.Job]
	records  cache[record]
	statuses cache[ops.Status]
}

//go:embed assets
var assets embed.FS

var templates = template.Must(template.ParseFS(assets, "assets/*.html"))

// version is that of the styles and the script: a page that was made by another is loaded anew.
var version = func() string {
	h := sha256.New()
	for _, name := range []string{"page.css", "page.js"} {
		b, err := assets.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		_, _ = h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}()

// part is the header by which the script asks for the main part of a page alone.
const part = "X-Cronfence-Part"

// shell is a page around its main part.
type shell struct {
	Title, Where, By string
	Now              time.Time
	EveryMillis      int64
	Version          string
	View             string // which template the main part is
	Data             any
}

// Handler serves the page. It must stand beside the HTTP interface of package devapi, behind
// the same checks.
func (p *Page) Handler() http.Handler {
	p.lists.age, p.records.age, p.statuses.age = p.Fresh, p.Fresh, p.Fresh
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.answer("overview", func(r *http.Request, anew bool) (string, any, error) {
		o, err := p.overview(r.Context(), r.URL.Query(), anew)
		return "Jobs", o, err
	}))
	mux.HandleFunc("GET /jobs/{scheduler}/{job}", p.answer("job", func(r *http.Request, anew bool) (string, any, error) {
		scheduler, job := r.PathValue("scheduler"), r.PathValue("job")
		if p.Operators[scheduler] == nil {
			return scheduler, nil, errNoScheduler
		}
		v, err := p.job(r.Context(), scheduler, job, r.URL.Query(), anew)
		return job, v, err
	}))
	mux.HandleFunc("GET /assets/{file}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("file")
		if path.Ext(name) == ".html" {
			http.NotFound(w, r)
			return
		}
		http.ServeFileFS(w, r, assets, "assets/"+name)
	})
	return mux
}

var errNoScheduler = errors.New("no such scheduler is shown here")

// answer writes a page, or what went wrong as one.
func (p *Page) answer(view string, look func(r *http.Request, anew bool) (title string, data any, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		wholePage := r.Header.Get(part) == ""
		title, data, err := "Locked", any(nil), error(nil)
		status, shown := http.StatusOK, view
		switch locked := p.MayLook != nil && !p.MayLook(r); {
		case locked && wholePage: // a browser sends the token with what its script asks for
			shown = "locked"
		case locked:
			status, shown, data = http.StatusUnauthorized, "problem", "the token is missing or wrong"
		default:
			if title, data, err = look(r, r.Header.Get("Cache-Control") == "no-cache"); err != nil {
				status, shown, data = statusOf(err), "problem", err.Error()
			}
		}
		s := shell{
			Title: title, Where: p.Where, By: p.By, Now: p.Now().UTC(), EveryMillis: p.Every.Milliseconds(), Version: version, View: shown, Data: data,
		}
		name := "main"
		if wholePage {
			name = "page"
		}
		var b bytes.Buffer
		if err := templates.ExecuteTemplate(&b, name, s); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(b.Bytes()) // a client that went away
	}
}

func statusOf(err error) int {
	var unknown *ops.UnknownJobError
	switch {
	case errors.As(err, &unknown), errors.Is(err, errNoScheduler):
		return http.StatusNotFound
	case errors.Is(err, context.Canceled):
		return http.StatusRequestTimeout
	}
	return http.StatusBadGateway
}
