package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/internal/web/webtest"
)

// tour is the README's: a person with a browser before `cronfence dev`.
type tour struct {
	*webtest.Tab
	t    *testing.T
	page string
}

func newTour(t *testing.T, speed string) *tour {
	t.Helper()
	b := webtest.Open(t)
	t.Setenv("USER", "alice")
	page := startDevFor(t, "watch it at ", "--speed", speed)
	b.View(1060, 680, "light")
	return &tour{b, t, page}
}

// open opens the page of a job, with the token.
func (r *tour) open(job string) {
	r.t.Helper()
	address, token, _ := strings.Cut(r.page, "/#")
	r.Go(address + "/jobs/example/" + job + "?window=15m#" + token)
	r.See("h1", job)
}

// keep puts a picture of what is seen into docs/tour, with -update. It is never compared: the
// times on it are those of the day.
func (r *tour) keep(name string) {
	r.t.Helper()
	if !*update {
		return
	}
	webtest.Eval[bool](r.Tab, "(scrollTo(0, 0), true)")
	shot, err := png.Decode(bytes.NewReader(r.Shot()))
	if err != nil {
		r.t.Fatal(err)
	}
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, paletted(shot)); err != nil {
		r.t.Fatal(err)
	}
	if small.Len() > 100_000 {
		r.t.Errorf("the picture %s has %d bytes, more than a README should load", name, small.Len())
	}
	if err := os.WriteFile(filepath.Join("..", "..", "docs", "tour", name+".png"), small.Bytes(), 0o644); err != nil {
		r.t.Error(err)
	}
}

// paletted is a picture in 256 colours: of those that are nearly alike the most frequent one.
func paletted(from image.Image) image.Image {
	type kind struct{ r, g, b uint32 }
	kindOf := func(c color.Color) kind {
		r, g, b, _ := c.RGBA()
		return kind{r >> 11, g >> 11, b >> 11}
	}
	b := from.Bounds()
	count, best, all := map[color.Color]int{}, map[kind]color.Color{}, map[kind]int{}
	for i := range b.Dx() * b.Dy() {
		c := from.At(i%b.Dx(), i/b.Dx())
		k := kindOf(c)
		count[c]++
		all[k]++
		if best[k] == nil || count[c] > count[best[k]] {
			best[k] = c
		}
	}
	var palette color.Palette
	at := map[kind]uint8{}
	for i, k := range slices.SortedFunc(maps.Keys(all), func(a, b kind) int { return all[b] - all[a] }) {
		if i < 256 {
			palette = append(palette, best[k])
		}
		at[k] = uint8(palette.Index(best[k]))
	}
	to := image.NewPaletted(b, palette)
	for i := range b.Dx() * b.Dy() {
		x, y := i%b.Dx(), i/b.Dx()
		to.SetColorIndex(x, y, at[kindOf(from.At(x, y))])
	}
	return to
}

// why opens the newest tick with an outcome and a reason, and waits for a sentence on it.
func (r *tour) why(outcome, reason, sentence string) {
	r.t.Helper()
	r.Until("tick that is "+outcome, `(() => {
		const row = [...document.querySelectorAll("tbody tr")].find((tr) => tr.cells[1]?.innerText.includes("`+outcome+`") && tr.innerText.includes("`+reason+`"));
		row?.querySelector("a").click();
		return row;
	})()`)
	r.See("#why", sentence)
}

// What goes on in the local cloud is real, so this is told by what is seen, in its order, and
// never by when.
func TestTourOfARunThatOverlapsCrashesAndFreezes(t *testing.T) {
	r := newTour(t, "60")
	r.Go(r.page)
	r.See("#job-example-cleanup", "held")
	r.open("cleanup")
	if *update { // there is more to see then
		r.Until("third run", `document.querySelectorAll(".mark .bar").length > 2`)
	}
	r.why("Skipped", "held by", "held the guard since")
	r.See("#why", "A skip is neither a success nor a failure")
	r.See("h1", "held")
	r.keep("1-held-back")

	r.Press("kill cleanup")
	r.See(".asked", "is killed")
	r.See(".outcomes", "Failed")
	r.why("Failed", "", "Runtime.ExitError")
	r.See("h1", "draining")
	r.See("h1", "held") // the next tick after the drain runs
	r.keep("2-crash")

	r.Press("freeze cleanup for 10m")
	r.See(".asked", "stands still")
	r.See(".outcomes", "LeaseLost")
	r.why("LeaseLost", "", "The lease ran out")
	r.keep("3-taken-over")
}

func TestTourOfALateWriteAndAPause(t *testing.T) {
	r := newTour(t, "20")
	r.open("sync")
	r.Press("abort sync")
	r.See("#message", "waits for its occasion")
	r.Press("Run now")
	r.See(".outcomes", "Aborted")
	r.why("Aborted", "", "ended with Cronfence.LeaseLost")
	r.keep("4-late-write")

	r.open("cleanup")
	r.Press("Pause…")
	r.See("dialog", "Pause cleanup")
	r.Click("#ask-reason")
	r.Type("rebuilding the index")
	r.Press("Pause")
	r.See("h1", "paused")
	r.why("Skipped", "rebuilding", "rebuilding the index")
	r.Press("Run now")
	r.See("#message.refused", "is paused by")
	r.View(1060, 680, "dark")
	r.keep("5-paused")
	r.Press("Resume")
	r.See("#message", "cleanup is resumed")
}
