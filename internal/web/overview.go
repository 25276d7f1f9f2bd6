package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
)

// perPage is how many jobs are shown at once: as many as a person can compare.
const perPage = 25

// atOnce is how many jobs' histories are read at the same time.
const atOnce = 8

// filter selects jobs.
type filter struct {
	Text, State string
	Page        int // from 1
}

func filterOf(q url.Values) filter {
	page, err := strconv.Atoi(q.Get("page"))
	if err != nil || page < 1 {
		page = 1
	}
	return filter{Text: strings.TrimSpace(q.Get("q")), State: q.Get("state"), Page: page}
}

// states are what jobs can be filtered by.
var states = []struct {
	Name, Text string
	in         func(ops.Job) bool
}{
	{"", "all", func(ops.Job) bool { return true }},
	{"running", "running", func(j ops.Job) bool { return j.Holder != nil || j.Live > 0 }},
	{"waiting", "waiting", func(j ops.Job) bool { return j.Waiting != nil }},
	{"paused", "paused", func(j ops.Job) bool { return j.Paused != nil }},
	{"stuck", "stuck", stuck},
}

// stuck tells whether something stands in a job's way that is no run at its work.
func stuck(j ops.Job) bool {
	return j.State == ops.Blocked || j.Holder != nil && (j.Holder.LeaseOver || j.Holder.Mark != nil)
}

// choice is a link to the same page with something else chosen.
type choice struct {
	Text, Href string
	Count      int
	Chosen     bool
}

// overview is all jobs beside each other.
type overview struct {
	Filter      filter
	Window      window
	Labels      []label
	NowX        string
	Spans       []choice
	States      []choice
	Rows        []row
	All, Found  int
	From        int    // how many were left out before the first row
	Prev, Next  string // pages; empty: there is none
	Schedulers  bool   // there is more than one: jobs are shown with theirs
	NothingSaid string // why there is no row
}

// First is the number of the first job that is shown, counted as people do.
func (o overview) First() int { return o.From + 1 }

// row is a job among others.
type row struct {
	ops.Job
	Href   string
	State  string
	Tone   string
	Says   string // who holds the guard, with which fence
	Strip  strip
	Counts []counted
}

func (p *Page) overview(ctx context.Context, q url.Values, anew bool) (overview, error) {
	now := p.Now()
	f, w := filterOf(q), windowAt(spanNamed(cmp.Or(q.Get("window"), "1h"), 0), now)
	o := overview{Filter: f, Window: w, Labels: w.labels(), NowX: w.x(now), Schedulers: len(p.Operators) > 1}
	all, err := p.jobs(ctx, anew)
	if err != nil {
		return o, err
	}
	found := o.choose(all)
	o.From = min((f.Page-1)*perPage, max(0, (len(found)-1)/perPage*perPage))
	shown := found[o.From:min(len(found), o.From+perPage)]
	if o.From > 0 {
		o.Prev = o.link("page", strconv.Itoa(o.From/perPage))
	}
	if o.From+len(shown) < len(found) {
		o.Next = o.link("page", strconv.Itoa(o.From/perPage+2))
	}
	for _, s := range spans {
		o.Spans = append(o.Spans, choice{Text: s.Name, Href: o.link("window", s.Name), Chosen: s == w.span})
	}
	o.Rows, err = p.rows(ctx, shown, w, anew)
	return o, err
}

// choose counts the jobs and returns those that the filter lets through.
func (o *overview) choose(all []ops.Job) (found []ops.Job) {
	o.All = len(all)
	text := strings.ToLower(o.Filter.Text)
	counts := make([]int, len(states))
	for _, j := range all {
		if !strings.Contains(strings.ToLower(j.Scheduler+"/"+j.Job), text) {
			continue
		}
		for i, s := range states {
			if !s.in(j) {
				continue
			}
			counts[i]++
			if s.Name == o.Filter.State {
				found = append(found, j)
			}
		}
	}
	for i, s := range states {
		o.States = append(o.States, choice{Text: s.Text, Count: counts[i], Href: o.link("state", s.Name), Chosen: s.Name == o.Filter.State})
	}
	o.Found = len(found)
	if o.Found == 0 {
		o.NothingSaid = "No job matches."
	}
	if o.All == 0 {
		o.NothingSaid = "No job is known yet: a job is known once it was deployed and swept or has ticked."
	}
	return found
}

// link is the same page with one thing changed; a page number holds for one filter only.
func (o *overview) link(key, value string) string {
	v := url.Values{}
	for k, is := range map[string]string{"q": o.Filter.Text, "state": o.Filter.State, "window": o.Window.Name} {
		if is != "" {
			v.Set(k, is)
		}
	}
	if v.Set(key, value); value == "" {
		v.Del(key)
	}
	return "/?" + v.Encode()
}

// jobs are those of all schedulers, by scheduler and name.
func (p *Page) jobs(ctx context.Context, anew bool) ([]ops.Job, error) {
	var all []ops.Job
	for _, name := range slices.Sorted(maps.Keys(p.Operators)) {
		jobs, err := p.lists.get(name, anew, func() ([]ops.Job, error) {
			var jobs []ops.Job
			for j, err := range p.Operators[name].Jobs(ctx) {
				if err != nil {
					return nil, fmt.Errorf("list the jobs of %s: %w", name, err)
				}
				jobs = append(jobs, j)
			}
			return jobs, nil
		})
		if err != nil {
			return nil, err
		}
		all = append(all, jobs...)
	}
	return all, nil
}

// record is what happened to a job in a window.
func (p *Page) record(ctx context.Context, j ops.Job, w window, anew bool) (record, error) {
	return p.records.get(j.Scheduler+"/"+j.Job+"/"+w.Name, anew, func() (record, error) {
		return read(ctx, p.Operators[j.Scheduler], j, w)
	})
}

// rows reads the histories of the jobs that are shown, some at a time.
func (p *Page) rows(ctx context.Context, jobs []ops.Job, w window, anew bool) ([]row, error) {
	rows, errs := make([]row, len(jobs)), make([]error, len(jobs))
	var busy sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for i, j := range jobs {
		free <- struct{}{}
		busy.Go(func() {
			defer func() { <-free }()
			r, err := p.record(ctx, j, w, anew)
			rows[i], errs[i] = rowOf(j, r, w), err
		})
	}
	busy.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func rowOf(j ops.Job, r record, w window) row {
	return row{
		Job: j, Href: jobHref(j), State: j.StateText(), Tone: toneOf(j), Says: saysOf(j, w),
		Strip: stripOf(j, r, w), Counts: r.count(w),
	}
}

func jobHref(j ops.Job) string {
	return "/jobs/" + url.PathEscape(j.Scheduler) + "/" + url.PathEscape(j.Job)
}

// toneOf is the colour of a job's state.
func toneOf(j ops.Job) string {
	switch {
	case stuck(j):
		return "bad"
	case j.Paused != nil:
		return "late"
	case j.State == ops.Held || j.State == ops.Live:
		return "open"
	case j.State == ops.Draining:
		return "wait"
	}
	return "calm"
}

func leaseSays(h ops.Holder, w window) string {
	if h.LeaseUntil.Before(w.Now) {
		return "over " + w.ago(h.LeaseUntil)
	}
	return "ends " + w.ago(h.LeaseUntil)
}

// saysOf is what there is to say of a job's guard in a line.
func saysOf(j ops.Job, w window) string {
	switch h := j.Holder; {
	case h != nil:
		return fmt.Sprintf("%s · fence %d · lease %s", brief(time.Duration(h.HeldForSeconds*float64(time.Second))), h.Fence, leaseSays(*h, w))
	case j.Live > 0:
		return plural(int(j.Live), "run") + " at once"
	case j.State == ops.Draining:
		return "work of the last run may go on until " + w.clock(j.DrainUntil)
	case !j.NextTick.IsZero():
		return "next " + w.ago(j.NextTick)
	}
	return "no next tick"
}
