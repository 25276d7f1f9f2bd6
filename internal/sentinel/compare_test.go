package sentinel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cronfence/cronfence/internal/machine"
	"github.com/cronfence/cronfence/internal/sentinel"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// many are so many jobs that one sweep does not compare them all.
func many(n int) (specs []schema.Spec) {
	for i := range n {
		specs = append(specs, testworld.Spec(fmt.Sprintf("job%04d", i), "cron(0 6 1 * ? *)"))
	}
	return specs
}

// cold makes the sentinel a new process.
func (r *rig) cold() {
	h := *r.h
	r.h = &sentinel.Handler{
		Scheduler: h.Scheduler, Store: h.Store, Machines: h.Machines, Schedules: h.Schedules, Now: h.Now, NewToken: h.NewToken, Out: h.Out,
	}
}

func TestSweepAsksForAtMostSoManySchedulesAndTheNextProcessGoesOn(t *testing.T) {
	d := deploy(many(1100)...)
	r := newRig(t, d)
	for sweep, want := range []int{500, 500, 100 + 400} { // then from the first again: the process knows none of them
		d.fetched = nil
		r.cold()
		r.sweep(fmt.Sprintf("02:%02d:30", sweep))
		if len(d.fetched) != want {
			t.Fatalf("sweep %d asked for %d schedules, want %d", sweep, len(d.fetched), want)
		}
	}
	page, err := r.Store.Guards(t.Context(), "", 2000)
	if err != nil || len(page.Guards) != 1100 {
		t.Errorf("%d guards, %v: want one of every job", len(page.Guards), err)
	}
}

func TestWarmSentinelAsksForNoScheduleTwice(t *testing.T) {
	d := deploy(many(1100)...)
	r := newRig(t, d)
	for sweep := range 5 {
		r.sweep(fmt.Sprintf("02:%02d:30", sweep))
	}
	if len(d.fetched) != 1100 {
		t.Errorf("asked for %d schedules, want each of 1100 once", len(d.fetched))
	}
	if row, err := r.Store.Row(t.Context(), "#sentinel", "compared"); err != nil || row == nil || row.Why != "" {
		t.Errorf("resume point %+v, %v: want none, all are compared", row, err)
	}
}

// changing is a group of which one schedule was changed since.
type changing struct {
	*deployed
	job string
	at  time.Time
}

func (c *changing) List(ctx context.Context) ([]sentinel.Schedule, error) {
	list, err := c.deployed.List(ctx)
	for i := range list {
		if list[i].Job == c.job {
			list[i].Modified = c.at
		}
	}
	return list, err
}

func TestChangedScheduleComesBeforeThoseThatAreNotKnownYet(t *testing.T) {
	c := &changing{deployed: deploy(many(1100)...)}
	r := newRig(t, c.deployed)
	r.h.Schedules = c
	r.sweep("02:00:30")
	c.job, c.at = "job0007", r.At("02:01:00")
	c.specs[schema.ScheduleName(testworld.Scheduler, c.job)] = testworld.Minutely(c.job)
	r.sweep("02:01:30")
	if g := r.Guard(c.job); g.Spec.Schedule != testworld.Minutely(c.job).Schedule {
		t.Errorf("guard's schedule %s: want the deployed one", g.Spec.Schedule)
	}
}

// refusing is a group of which the schedules of some jobs cannot be read.
type refusing struct {
	*deployed
	prefix string
}

func (g refusing) Spec(ctx context.Context, name string) (schema.Spec, error) {
	spec, err := g.deployed.Spec(ctx, name)
	if strings.HasPrefix(name, g.prefix) {
		err = errors.New("ThrottlingException")
	}
	return spec, err
}

func TestSweepStopsAskingAfterTenFailuresAndTheNextGoesOnBehindThem(t *testing.T) {
	specs := []schema.Spec{testworld.Minutely("z")}
	for i := range 15 {
		specs = append(specs, testworld.Minutely(fmt.Sprintf("broken%02d", i)))
	}
	d := deploy(specs...)
	r := newRig(t, d)
	r.h.Schedules = refusing{d, "broken"}
	r.At("02:00:30")
	if _, err := r.h.Handle(t.Context(), nil); err == nil || len(d.fetched) != 10 {
		t.Fatalf("asked for %d schedules, %v: want an error after 10", len(d.fetched), err)
	}
	r.At("02:01:30")
	r.cold()
	_, _ = r.h.Handle(t.Context(), nil)
	if z := schema.ScheduleName(testworld.Scheduler, "z"); !slices.Contains(d.fetched[10:], z) || r.Guard("z").SpecHash == "" {
		t.Errorf("asked for %v: want %s among them", d.fetched[10:], z)
	}
}

// hanging is a group that cannot be listed in any time.
type hanging struct{ deployed }

func (*hanging) List(ctx context.Context) ([]sentinel.Schedule, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestListThatTakesForEverLeavesTheSweepItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOver(t, guard.NewMemory(), deploy())
		r.h.Schedules = &hanging{}
		r.At("02:00:00")
		r.Runs.End(r.Tick(testworld.Minutely("cleanup"), "02:00").Run, machine.Succeeded, "")
		r.At("02:05:00")
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), schema.SentinelTimeout)
		defer cancel()
		reply, err := r.h.Handle(ctx, nil)
		if took := time.Since(began); err == nil || !reply.(sentinel.Reply).Complete || took > schema.SentinelTimeout/2 {
			t.Errorf("%+v, %v after %v: want a whole sweep, and the list's error", reply, err, took)
		}
	})
}
