package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/internal/web/webtest"
	"github.com/cronfence/cronfence/pkg/policy"
)

// morning is a job that ran, failed, runs now and was found running by a tick.
func morning(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:58")
	d.At("01:59:00")
	run := d.Tick(spec, "01:59")
	d.At("01:59:50")
	must(d.Fail(run, "OutOfDisk", "/data is full"))
	d.At("02:00:00")
	d.Tick(spec, "02:00")
	d.At("02:01:00")
	d.Tick(spec, "02:01")
	d.At("02:01:20")
	return d
}

// token is the part of the address that the page acts with.
func token(d *desk) string {
	_, part, _ := strings.Cut(d.server.PageURL(), "#")
	return part
}

const cleanup = "/jobs/test/cleanup?window=15m"

// readable is JavaScript that lists the texts whose contrast with what is behind them is less
// than 4.5, or 3 for large ones.
const readable = `(() => {
  const rgb = (c) => (c.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => { const f = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const bad = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.nodeValue.trim());
    if (!own || !e.checkVisibility() || e.closest(":disabled, .hide, .skip, title, script, noscript")) continue;
    const style = getComputedStyle(e);
    let ground = e;
    while (ground && (rgb(getComputedStyle(ground).backgroundColor)[3] === 0)) ground = ground.parentElement;
    const a = light(rgb(e.closest("svg") ? style.fill : style.color)), b = light(rgb(getComputedStyle(ground || document.body).backgroundColor));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) bad.push(e.textContent.trim().slice(0, 40) + " " + contrast.toFixed(2));
  }
  return bad;
})()`

func TestAPersonReadsTheJobAndWhyATickDidWhatItDid(t *testing.T) {
	d := morning(t)
	b := webtest.Open(t)
	b.Go(d.server.PageURL())
	b.See("#job-test-cleanup", "held")
	b.See("#job-test-cleanup", "1m20s · fence ")
	b.Press("cleanup")
	b.See("h1", "cleanup")
	if hash := webtest.Eval[string](b, "location.href"); strings.Contains(hash, "token") {
		t.Errorf("the token stays in the address: %s", hash)
	}
	for _, text := range []string{"Holder", "cleanup-20260907T020000Z-1", "Fence", "Lease until", "02:02:00 in 40s", "Next tick", "02:02:00"} {
		b.See(".facts", text)
	}
	things := b.Things()
	for _, want := range []webtest.Thing{
		{Role: "heading", Name: "cleanup held"},
		{Role: "button", Name: "Run now"},
		{Role: "button", Name: "Pause…"},
		{Role: "button", Name: "Release…"},
		{Role: "link", Name: "01:59:00 Failed 50s: OutOfDisk"},
		{Role: "link", Name: "02:00:00 Running 1m20s"},
		{Role: "link", Name: "02:01:00 Skipped: held by cleanup-20260907T020000Z-1 for 1m"},
		{Role: "link", Name: "02:02:00 planned"},
		{Role: "columnheader", Name: "Outcome"},
		{Role: "heading", Name: "Run time against the interval of 1m"},
	} {
		if !slices.Contains(things, want) {
			t.Errorf("no %s called %q among\n%v", want.Role, want.Name, things)
		}
	}
	for _, thing := range things {
		if slices.Contains([]string{"link", "button", "textbox", "searchbox", "heading", "combobox", "image"}, thing.Role) && thing.Name == "" {
			t.Errorf("a %s without a name", thing.Role)
		}
	}
	b.Click(`[id="t-2026-09-07T02:01:00Z"] use`)
	b.See("#why", "Tick 2026-09-07T02:01:00Z of cleanup was skipped at 2026-09-07T02:01:00Z: run cleanup-20260907T020000Z-1 of tick 2026-09-07T02:00:00Z held the guard")
	b.Press("Close")
	b.See("#why", "Choose a tick")
	for _, scheme := range []string{"light", "dark"} {
		b.View(1280, 900, scheme)
		if bad := webtest.Eval[[]string](b, readable); len(bad) > 0 {
			t.Errorf("%s: hard to read: %v", scheme, bad)
		}
	}
}

func TestEverythingIsDoneWithTheKeyboardAlone(t *testing.T) {
	d := morning(t)
	b := webtest.Open(t)
	b.Go(d.server.URL() + cleanup + "#" + token(d))
	b.See("h1", "cleanup")
	focus := func(id string) {
		t.Helper()
		for range 40 {
			if webtest.Eval[string](b, "document.activeElement.id") == id {
				if !webtest.Eval[bool](b, `document.activeElement.matches(":focus-visible")`) {
					t.Errorf("the focus is not to be seen on %s", id)
				}
				return
			}
			b.Type(kb.Tab)
		}
		t.Fatalf("the tab key does not come to %s", id)
	}
	focus("t-2026-09-07T02:01:00Z") // the newest tick
	b.Type(kb.ArrowLeft + kb.ArrowLeft)
	b.Type(kb.Enter)
	b.See("#why", "ended as Failed")
	b.See("#why", "Its error was OutOfDisk: /data is full")
	b.Until("focus on the tick", `document.activeElement.id === "t-2026-09-07T01:59:00Z"`)
	d.At("02:01:30") // the page looks again, and the focus stays
	b.See("#now", "02:01:30")
	b.Until("focus on the tick", `document.activeElement.id === "t-2026-09-07T01:59:00Z"`)

	b.Go(d.server.URL() + cleanup)
	focus("pause")
	b.Type(kb.Enter)
	b.See("dialog", "Pause cleanup")
	b.Type("rebuild" + kb.Enter)
	b.See("#message", "cleanup is paused.")
	b.See(".facts", "rebuild by alice@laptop")
	focus("resume")
	b.Type(" ")
	b.See("#message", "cleanup is resumed")
	b.Until("a pause button to press", `!document.getElementById("pause").disabled`)
}

// With a backlog it is not so that nothing starts before the next tick, and the page says so.
func TestResumingSaysThatABackfillGoesOn(t *testing.T) {
	d := newDesk(t)
	d.Established(testworld.Minutely("cleanup"), "01:59")
	d.At("02:00:10")
	op := d.page.Operators[testworld.Scheduler]
	must(op.Pause(t.Context(), ops.PauseRequest{Job: "cleanup", By: "alice", Reason: "rebuild"}))
	from := testworld.Midnight
	must(op.Backfill(t.Context(), ops.BackfillRequest{Job: "cleanup", From: from, To: from.Add(10 * time.Minute)}))
	b := webtest.Open(t)
	b.Go(d.server.URL() + cleanup + "#" + token(d))
	b.See(".facts", "backfill, at most 11 more")
	b.Press("Resume")
	b.See("#message", "cleanup is resumed; its backfill goes on.")
	d.Sweep("cleanup")
	b.See(".facts", "backfill-2026-09-07T00:00:00Z")
}

// The person reads and types for as long as it takes; the guard may go on meanwhile.
func TestReleaseButtonStopsNoOtherRunThanItNamed(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	d.Established(spec, "01:59")
	d.At("02:00:00")
	shown := d.Tick(spec, "02:00")
	b := webtest.Open(t)
	b.Go(d.server.URL() + cleanup + "#" + token(d))
	b.See("h1", "held")
	b.Press("Release…")
	b.Expect("409") // it is refused
	b.See("dialog", "Run "+shown.Run+" is stopped")
	if _, err := d.Succeed(shown); err != nil {
		t.Fatal(err)
	}
	d.At("02:01:00")
	next := d.Tick(spec, "02:01")
	b.Type("hangs")
	b.Press("Stop the run and release")
	b.See("#message", "run "+next.Run+" does, and is left alone")
	if now := d.Guard("cleanup"); now.Run == nil || now.Mark != nil {
		t.Errorf("guard %+v: want the next run left alone", now)
	}
}

// The buttons go through the guard and on the record.
func TestButtonsRunReplacePauseAndRelease(t *testing.T) {
	d := newDesk(t)
	spec := testworld.Minutely("cleanup")
	spec.Overlap, spec.GraceSeconds = policy.Replace, 30
	d.Established(spec, "01:59")
	d.At("02:00:10")
	b := webtest.Open(t)
	b.Go(d.server.URL() + cleanup + "#" + token(d))
	b.See("h1", "free")
	b.Press("Run now")
	b.See("#message", "started")
	b.See("h1", "held")
	d.At("02:01:00") // a newer tick replaces the manual run: it is asked to stop, and the tick waits
	d.Tick(spec, "02:01")
	b.See("h1", "held, one waits")
	b.See(".facts", "Asked to end by")
	b.See(".timeline .wait-text", "waits for 0s")
	d.At("02:02:11") // its grace time, a beat in which it should have learnt of it and the margin are over
	d.Sweep("cleanup")
	b.See(".outcomes", "Replaced")
	b.See(".facts", "cleanup-20260907T020100Z-1")
	b.See("table", "asked for by alice@laptop")

	b.Press("Release…")
	b.See("dialog", "Release the guard of cleanup")
	b.Press("Stop the run and release") // the reason is missing
	if open := webtest.Eval[bool](b, `document.getElementById("ask").open`); !open {
		t.Error("a release without a reason is taken")
	}
	b.Type(`hangs <b>"now"</b>`)
	b.Press("Stop the run and release")
	b.See("#message", "cleanup-20260907T020100Z-1 has ended")
	b.See(".outcomes", "Aborted")
	b.Press("02:01:00")
	b.See("#why", `hangs <b>"now"</b>`)
	if now := d.Guard("cleanup"); now.Run != nil {
		t.Errorf("guard %+v", now)
	}

	b.Press("Pause…")
	b.Press("Cancel")
	if p := d.Guard("cleanup").Paused; p != nil {
		t.Errorf("cancelled, and paused: %+v", p)
	}
	b.Press("Pause…")
	b.Click("#ask-reason")
	b.Type("rebuild")
	webtest.Eval[string](b, `document.getElementById("ask-length").value = "60"`)
	b.Press("Pause")
	b.See("h1", "paused")
	if p := d.Guard("cleanup").Paused; p == nil || p.By != "alice@laptop" || p.Why != "rebuild" || p.Until != p.At+3600_000 {
		t.Errorf("pause %+v", p)
	}
	b.Press("Run now")
	b.See("#message.refused", "job cleanup is paused by alice@laptop")
	d.At("02:03:00")
	d.Tick(spec, "02:03")
	b.See("table", "paused: rebuild")
}

// Whoever knows the address alone looks and does not act.
func TestWithoutTheTokenThePageIsToLookAt(t *testing.T) {
	d := morning(t)
	before := d.Guard("cleanup")
	b := webtest.Open(t)
	b.Go(d.server.URL() + cleanup)
	b.See("#readonly", "You can look and not act")
	b.Press("Run now")
	b.See("#message", "The buttons need the token")
	b.Go(d.server.URL() + cleanup + "#token=wrong")
	b.Until("no notice", `document.getElementById("readonly").hidden`)
	b.Expect("401")
	b.Press("Run now")
	b.See("#message.failed", "the token is missing or wrong")
	b.See("#readonly", "You can look and not act")
	if after := d.Guard("cleanup"); after.Version != before.Version {
		t.Errorf("guard %+v, before %+v", after, before)
	}
}

// Where looking needs the token, nothing is shown without it, and everything with it.
func TestALockedPageOpensWithTheToken(t *testing.T) {
	d := morning(t)
	address := strings.TrimPrefix(d.server.URL(), "http://")
	d.close()
	d.page.MayLook = func(r *http.Request) bool { return d.server.HasToken(r) }
	d.serve(address)
	b := webtest.Open(t)
	b.Go(d.server.URL())
	b.See("#locked", "at the address that was printed")
	if text := b.Text("body"); strings.Contains(text, "cleanup") {
		t.Errorf("it shows\n%s", text)
	}
	b.Go(d.server.PageURL())
	b.See("#job-test-cleanup", "held")
	b.Press("cleanup")
	b.See("h1", "cleanup")
	b.Press("Run now")
	b.See("#message.refused", "job cleanup was not run")
}

// The page says that its server is gone, goes on when it is back, and grows with nothing.
func TestThePageIsLiveAndSurvivesItsServer(t *testing.T) {
	d := morning(t)
	b := webtest.Open(t)
	b.Go(d.server.URL() + cleanup)
	b.See("#connection", "live")
	size := func() int { return webtest.Eval[int](b, `document.querySelectorAll("*").length`) }
	look := func(clock string) {
		t.Helper()
		d.At(clock)
		b.See("#now", clock)
	}
	look("03:00:00") // everything has left the window
	empty := size()
	for m := range 20 {
		look(fmt.Sprintf("03:%02d:00", m))
	}
	if now := size(); now > empty+8 { // the marks of the axis come and go
		t.Errorf("%d elements, and %d after 20 looks", empty, now)
	}
	b.Expect("ERR_CONNECTION")
	address := strings.TrimPrefix(d.server.URL(), "http://")
	d.close()
	b.See("#connection.lost", "no answer; trying again")
	d.At("03:30:00")
	d.serve(address)
	b.See("#now", "03:30:00")
	b.See("#connection", "live")
}

func TestOnAPhoneNothingIsCutOff(t *testing.T) {
	d := morning(t)
	b := webtest.Open(t)
	b.View(360, 740, "light")
	for _, path := range []string{"/", cleanup + "&why=2026-09-07T02:01:00Z"} {
		b.Go(d.server.URL() + path)
		b.See("#connection", "live")
		if wide := webtest.Eval[int](b, "document.documentElement.scrollWidth"); wide > 360 {
			t.Errorf("%s: %d pixels wide", path, wide)
		}
		small := webtest.Eval[[]string](b, `[...document.querySelectorAll("button, .choices a, input")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 40).map((e) => e.outerHTML)`)
		if len(small) > 0 {
			t.Errorf("%s: too small for a finger: %v", path, small)
		}
	}
	b.See("td.text", "held by cleanup-20260907T020000Z-1 for 1m")
}

func TestAJobIsFoundAmongHundredsAsItsNameIsTyped(t *testing.T) {
	d, m := crowd(t, 300)
	m.jobs[250].Job = "billing"
	b := webtest.Open(t)
	b.Go(d.server.URL())
	b.See(".pages", "300 of 300 jobs")
	b.Click("#q")
	b.Type("bill")
	b.See(".pages", "1 of 300 jobs")
	b.See("#job-test-billing", "billing")
	if typed := webtest.Eval[string](b, `document.activeElement.value`); typed != "bill" {
		t.Errorf("the focus left what was typed: %q", typed)
	}
	b.Until("the address shows the same when it is loaded again", `location.search.includes("q=bill")`)
}
