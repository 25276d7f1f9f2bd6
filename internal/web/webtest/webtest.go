// Package webtest opens pages in a real browser, headless, and reads them as a person would:
// by what is written on them and by the roles that a screen reader is told. It is for tests.
//
// A test in which the browser complained - a console message, an exception, a refused load -
// or asked for anything that is not on 127.0.0.1 has failed.
package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// patience is how long a page may take to become as a test wants it.
const patience = 20 * time.Second

// Tab is a browser with one page.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	trouble  []string
	expected []string // parts of messages that the test provokes
}

// Open starts a browser that ends with the test. Where there is none the test is skipped, but
// not in CI.
func Open(t testing.TB) *Tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("no chromium: the page is not tried in a browser; on Debian, apt-get install chromium")
	}
	if err != nil {
		t.Fatalf("find chromium: %v", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), chromedp.WindowSize(1280, 900), chromedp.Flag("hide-scrollbars", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which chromium refuses to root
	}
	allocated, endBrowser := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeTab := chromedp.NewContext(allocated)
	tab := &Tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Errorf("close the browser: %v", err)
		}
		closeTab()
		endBrowser()
		tab.mu.Lock()
		defer tab.mu.Unlock()
		for _, text := range tab.trouble {
			t.Errorf("the browser says: %s", text)
		}
	})
	tab.watch()
	tab.View(1280, 900, "light")
	return tab
}

// watch notes what must not be.
func (b *Tab) watch() {
	console, requests := chromedp.Console(b.ctx), chromedp.Events(b.ctx, network.RequestWillBeSent)
	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		b.t.Fatalf("start chromium: %v", err)
	}
	go func() {
		for m, err := range console {
			if err != nil {
				return
			}
			b.note(m.String())
		}
	}()
	go func() {
		for r, err := range requests {
			if err != nil {
				return
			}
			if !strings.HasPrefix(r.Request.URL, "http://127.0.0.1:") && r.Request.URL != "about:blank" {
				b.note("a request leaves 127.0.0.1: " + r.Request.URL)
			}
		}
	}()
}

func (b *Tab) note(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, part := range b.expected {
		if strings.Contains(text, part) {
			return
		}
	}
	b.trouble = append(b.trouble, text)
}

// Expect says that the browser will complain with this text, because the test provokes it.
func (b *Tab) Expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, part)
}

func (b *Tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%s: %v; the page:\n%s", what, err, b.tryText())
	}
}

// View sets the size of the screen, and whether the person likes it "light" or "dark". A
// narrow one is a phone's.
func (b *Tab) View(width, height int64, scheme string) {
	b.t.Helper()
	var options []chromedp.EmulateViewportOption
	if width < 600 {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	b.do("emulate", chromedp.EmulateViewport(width, height, options...))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	if err != nil {
		b.t.Fatalf("emulate %s: %v", scheme, err)
	}
}

// Go opens a page.
func (b *Tab) Go(url string) {
	b.t.Helper()
	b.do("open "+url, chromedp.Navigate(url))
}

// Eval evaluates JavaScript. It may run on a page that forbids it to others.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

// Until waits for an expression to be true.
func (b *Tab) Until(what, expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(25 * time.Millisecond) {
		if Eval[bool](b, "Boolean("+expression+")") {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("no %s in %v; the page:\n%s", what, patience, b.tryText())
		}
	}
}

// See waits for a text to be visible within what a CSS selector selects.
func (b *Tab) See(selector, text string) {
	b.t.Helper()
	b.Until(fmt.Sprintf("%q in %s", text, selector),
		fmt.Sprintf(`[...document.querySelectorAll(%s)].some((e) => e.checkVisibility() && (e.innerText ?? e.textContent).includes(%s))`, quoted(selector), quoted(text)))
}

// Text is what is written within what a CSS selector selects.
func (b *Tab) Text(selector string) string {
	b.t.Helper()
	return Eval[string](b, fmt.Sprintf(`document.querySelector(%s)?.innerText ?? ""`, quoted(selector)))
}

func (b *Tab) tryText() string {
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body?.innerText ?? ""`))
	if err != nil {
		return err.Error()
	}
	return text
}

// Press clicks the button or link with this name.
func (b *Tab) Press(name string) {
	b.t.Helper()
	b.do("press "+name, chromedp.Click(fmt.Sprintf(`//*[self::button or self::a][normalize-space()=%s]`, quoted(name)), chromedp.NodeVisible))
}

// Click clicks what a CSS selector selects.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.do("click "+selector, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// Type sends keys to where the focus is; the keys of package kb stand for themselves.
func (b *Tab) Type(keys string) {
	b.t.Helper()
	b.do("type", chromedp.KeyEvent(keys))
}

// Shot is a picture of what the screen shows, as PNG.
func (b *Tab) Shot() []byte {
	b.t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatalf("take a picture: %v", err)
	}
	return png
}

// Thing is something on the page as a screen reader is told of it.
type Thing struct{ Role, Name string }

// Things lists all of them, in the order of the page.
func (b *Tab) Things() []Thing {
	b.t.Helper()
	tree, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		b.t.Fatalf("read the accessibility tree: %v", err)
	}
	var all []Thing
	for _, n := range tree.Nodes {
		if !n.Ignored {
			all = append(all, Thing{valueOf(n.Role), valueOf(n.Name)})
		}
	}
	return all
}

func valueOf(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var s string
	if json.Unmarshal(v.Value, &s) != nil {
		return string(v.Value)
	}
	return s
}

// quoted is a string for JavaScript, and for XPath as long as it has no quotation mark.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can be written
	}
	return string(b)
}
