package web_test

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/ops/devapi"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/internal/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a page over a world whose clock stands still until it is moved.
type desk struct {
	*testworld.World
	t      *testing.T
	page   *web.Page
	server *devapi.Server
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{World: testworld.New(t, nil), t: t}
	direct := &ops.Direct{Name: testworld.Scheduler, Engine: d.Engine()}
	direct.Engine.Observe, direct.Engine.NewToken = nil, rand.Text // the world's are for one goroutine
	d.page = &web.Page{
		Operators: map[string]ops.Operator{direct.Name: direct}, Where: "a test", Now: d.Now, By: "alice@laptop", Every: 100 * time.Millisecond,
	}
	d.serve("127.0.0.1:0")
	t.Cleanup(d.close)
	return d
}

// serve begins to answer, at an address that may have had another server before.
func (d *desk) serve(address string) {
	d.t.Helper()
	s, err := devapi.Listen(d.t.Context(), address)
	if err != nil {
		d.t.Fatal(err)
	}
	d.server = s // what serves may ask it
	s.Serve(d.page.Operators, nil, d.page.Handler())
}

func (d *desk) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := d.server.Close(ctx); err != nil {
		d.t.Error(err)
	}
}

// get returns an answer's status and text.
func (d *desk) get(path string, headers ...string) (int, string) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.server.URL()+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// shows fails the test unless the page at a path has all of the texts.
func (d *desk) shows(path string, texts ...string) string {
	d.t.Helper()
	status, html := d.get(path)
	if status != http.StatusOK {
		d.t.Errorf("%s: status %d", path, status)
	}
	for _, text := range texts {
		if !strings.Contains(html, text) {
			d.t.Errorf("%s: no %q in\n%s", path, text, html)
		}
	}
	return html
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
