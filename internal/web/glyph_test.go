package web_test

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/web/webtest"
	"github.com/cronfence/cronfence/pkg/guard"
)

// runner is an operator of a job that ran at every tick. A page that is left may still ask.
type runner struct {
	*many
	ran atomic.Pointer[runs]
}

type runs struct {
	ticks int
	every time.Duration
}

func (r *runner) History(_ context.Context, q ops.HistoryQuery) iter.Seq2[ops.Entry, error] {
	return func(yield func(ops.Entry, error) bool) {
		ran := r.ran.Load()
		for i := 1; i <= ran.ticks; i++ {
			at := r.now.Add(-time.Duration(i) * ran.every)
			tick := at.Format(time.RFC3339)
			e := ops.Entry{
				Job: q.Job, Tick: tick, At: at, Kind: guard.Scheduled, Outcome: guard.Succeeded, Final: true, Count: 1,
				Run: "run-" + tick, ClaimedAt: at, StartedAt: at, EndedAt: at.Add(ran.every / 2),
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// astray is JavaScript that lists the ticks whose shape is not drawn where their run begins, or
// in the middle of what is clicked for it.
const astray = `(() => {
  const bad = [];
  for (const mark of document.querySelectorAll(".timeline .mark")) {
    const box = mark.querySelector("use").getBoundingClientRect(), middle = box.x + box.width / 2;
    const bar = mark.querySelector(".bar")?.getBoundingClientRect().x ?? middle;
    const hit = mark.querySelector(".hit rect").getBoundingClientRect(), aimed = hit.x + hit.width / 2;
    if (!(Math.abs(middle - bar) <= 1 && Math.abs(middle - aimed) <= 1 && Math.abs(box.y + box.height / 2 - hit.y - hit.height / 2) <= 1))
      bad.push(mark.id + ": shape at " + middle + ", run from " + bar + ", click at " + aimed);
  }
  return bad;
})()`

func TestEveryShapeStandsWhereItsRunBegins(t *testing.T) {
	d, m := crowd(t, 1)
	r := &runner{many: m}
	d.close()
	d.page.Operators = map[string]ops.Operator{"test": r}
	d.serve("127.0.0.1:0")
	b := webtest.Open(t)
	classes := map[string]bool{}
	for _, window := range []struct {
		name   string
		length time.Duration
		ticks  int
	}{
		{"15m", 15 * time.Minute, 15},
		{"1h", time.Hour, 60},
		{"6h", 6 * time.Hour, 100},
		{"24h", 24 * time.Hour, 300},
		{"7d", 7 * 24 * time.Hour, 80},
		{"30d", 30 * 24 * time.Hour, 30},
	} {
		r.ran.Store(&runs{window.ticks, window.length / time.Duration(window.ticks+1) / time.Second * time.Second})
		for _, width := range []int64{1280, 400} {
			b.View(width, 900, "light")
			b.Go(d.server.URL() + "/jobs/test/job-000?window=" + window.name)
			if drawn := webtest.Eval[int](b, `document.querySelectorAll(".timeline .mark .bar").length`); drawn != window.ticks {
				t.Errorf("%s: %d runs are drawn, want %d", window.name, drawn, window.ticks)
			}
			classes[webtest.Eval[string](b, `document.querySelector(".timeline").className.baseVal`)] = true
			if bad := webtest.Eval[[]string](b, astray); len(bad) > 0 {
				t.Errorf("%s at %d px: %d shapes are astray, such as %v", window.name, width, len(bad), bad[0])
			}
		}
	}
	for _, density := range []string{"loose", "close", "dense", "crowded"} {
		if !classes["timeline "+density] {
			t.Errorf("no timeline was %s: %v", density, classes)
		}
	}
}
