package sentinel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/sentinel"
	"github.com/cronfence/cronfence/internal/testworld"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// mailbox keeps messages.
type mailbox struct {
	subjects, texts []string
	fail            error
	dies            bool
}

func (m *mailbox) Notify(_ context.Context, subject, text string) error {
	if m.dies {
		panic("the process dies here")
	}
	if m.fail == nil {
		m.subjects, m.texts = append(m.subjects, subject), append(m.texts, text)
	}
	return m.fail
}

// mailing is a rig with a week of a job behind it: Monday morning, 05:59.
func mailing(t *testing.T, store guard.Store) (*rig, *mailbox) {
	spec := testworld.Spec("hourly", "cron(0 * * * ? *)")
	r := newRigOver(t, store, deploy(spec))
	box := &mailbox{}
	r.h.Notices = box
	for range 7*24 + 6 {
		run := must(r.Deliver(spec, r.Clock.Format(schema.TickLayout)))
		r.Clock = r.Clock.Add(time.Minute)
		must(r.Succeed(run))
		r.Clock = r.Clock.Add(time.Hour - time.Minute)
	}
	r.Clock = r.Clock.Add(-time.Minute)
	return r, box
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// tick lets the next minute's sweep happen.
func (r *rig) tick() {
	r.t.Helper()
	if _, err := r.h.Handle(r.t.Context(), nil); err != nil {
		r.t.Fatal(err)
	}
	r.Clock = r.Clock.Add(time.Minute)
}

func TestWeeklyMessageIsSentOnceAWeek(t *testing.T) {
	r, box := mailing(t, guard.NewMemory())
	r.tick()
	if len(box.texts) != 0 {
		t.Fatal("sent before six hours after the week's end")
	}
	for range 5 {
		r.tick()
	}
	cold := *r.h // a function that starts anew knows nothing of it
	r.h = &sentinel.Handler{
		Scheduler: cold.Scheduler, Store: cold.Store, Machines: cold.Machines, Schedules: cold.Schedules,
		Now: cold.Now, NewToken: func() string { return "cold" + cold.NewToken() }, Notices: box, Out: cold.Out,
	}
	r.tick()
	if len(box.texts) != 1 {
		t.Fatalf("%d messages: want one", len(box.texts))
	}
	if want := "Cronfence test, week to 2026-09-14: 0 of 1 jobs need a look"; box.subjects[0] != want {
		t.Errorf("subject %q: want %q", box.subjects[0], want)
	}
	for _, want := range []string{"from Monday 2026-09-07 00:00 to Monday 2026-09-14 00:00 UTC", "hourly: longest run 1m (", "168 ticks: 168 succeeded", "cronfence report --week --scheduler test"} {
		if !strings.Contains(box.texts[0], want) {
			t.Errorf("message:\n%s\nwant %q in it", box.texts[0], want)
		}
	}
	r.Clock = r.Clock.Add(7 * 24 * time.Hour)
	r.tick()
	if len(box.texts) != 2 || !strings.Contains(box.subjects[1], "week to 2026-09-21: 1 of 1") { // nothing came since
		t.Errorf("subjects %q: want another a week later", box.subjects)
	}
}

func TestWeeklyMessageThatCannotBeSentIsSentLater(t *testing.T) {
	r, box := mailing(t, guard.NewMemory())
	r.Clock = r.Clock.Add(time.Minute)
	box.fail = errors.New("AccessDenied")
	for range 3 {
		r.tick() // no error of the sweep's: it would page
	}
	if r.Lines("weekly message not sent yet") != 1 {
		t.Error("want it logged, and tried again in five minutes only")
	}
	box.fail = nil
	for range 10 {
		r.tick()
	}
	if len(box.texts) != 1 {
		t.Errorf("%d messages: want one", len(box.texts))
	}
}

// A topic that refuses for a whole week is told of by the first message that gets through.
func TestMessageThatWasNeverSentIsNamedInTheNext(t *testing.T) {
	r, box := mailing(t, guard.NewMemory())
	const week = 7 * 24 * time.Hour
	box.fail = errors.New("KMSAccessDenied: " + strings.Repeat("x", 1000))
	for range 6 { // weeks: no more are named than fit
		r.Clock = r.Clock.Add(time.Minute)
		r.tick()
		r.Clock = r.Clock.Add(week - 2*time.Minute)
	}
	box.fail = nil
	r.Clock = r.Clock.Add(time.Minute)
	r.tick()
	if len(box.texts) != 1 || strings.Count(box.texts[0], "could not be sent: KMSAccessDenied: x") != 4 || len(box.texts[0]) > 3000 {
		t.Fatalf("messages %q: want one that names four before it, and why", box.texts)
	}
	if want := "The message of the week to 2026-10-19 could not be sent: "; !strings.Contains(box.texts[0], want) {
		t.Errorf("message %q: want %q in it", box.texts[0], want)
	}
	r.Clock = r.Clock.Add(week)
	r.tick()
	if len(box.texts) != 2 || strings.Contains(box.texts[1], "could not be sent") {
		t.Errorf("messages %q: want another without it", box.texts)
	}
}

func TestSenderThatDiesIsFollowedByAnother(t *testing.T) {
	r, box := mailing(t, guard.NewMemory())
	r.Clock = r.Clock.Add(time.Minute)
	box.dies = true
	func() {
		defer func() { _ = recover() }()
		r.tick()
	}()
	box.dies = false
	for range 10 {
		r.tick()
	}
	if len(box.texts) != 1 || !strings.Contains(box.texts[0], "168 succeeded") {
		t.Errorf("messages %q: want one, whole", box.texts)
	}
}

// racing lets another sweep go by inside a commit to the sentinel's own records.
type racing struct {
	guard.Store
	do func()
}

func (s *racing) Commit(ctx context.Context, c guard.Commit) error {
	if do := s.do; do != nil && c.Job == "#sentinel" && strings.Contains(c.Writes[0].SK, "weekly") {
		s.do = nil
		do()
	}
	return s.Store.Commit(ctx, c)
}

func TestOfTwoSweepsAtATimeOneSends(t *testing.T) {
	for at := range 3 { // inside the first, second or third commit
		store := &racing{Store: guard.NewMemory()}
		r, box := mailing(t, store)
		r.Clock = r.Clock.Add(time.Minute)
		other := func() {
			h := *r.h
			if _, err := h.Handle(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		nested := other
		for range at {
			inner := nested
			nested = func() { store.do = inner }
		}
		store.do = nested
		for range 10 {
			r.tick()
		}
		if len(box.texts) != 1 {
			t.Errorf("raced inside commit %d: %d messages, want one", at+1, len(box.texts))
		}
	}
}

func TestMessageOverManyJobsIsWrittenOverManySweeps(t *testing.T) {
	r, box := mailing(t, guard.NewMemory())
	r.Clock = r.Clock.Add(time.Minute)
	at := testworld.Midnight.Add(30 * time.Hour)
	for i := range 250 {
		spec := testworld.Spec(fmt.Sprintf("job%03d", i), "cron(0 6 8 * ? *)")
		now := r.Clock
		r.Clock = at
		run := must(r.Deliver(spec, at.Format(schema.TickLayout)))
		if i%2 == 0 {
			must(r.Fail(run, "Boom", ""))
		} else {
			must(r.Succeed(run))
		}
		r.Clock = now
	}
	r.h.Schedules = &deployed{fail: errors.New("not asked here")}
	slow, calls, sweeps := r.Now, 0, 0
	r.h.Now = func() time.Time { calls++; return slow().Add(time.Duration(calls) * 60 * time.Millisecond) }
	for ; len(box.texts) == 0 && sweeps < 100; sweeps++ {
		calls = 0
		_, _ = r.h.Handle(t.Context(), nil)
		r.Clock = r.Clock.Add(time.Minute)
	}
	if sweeps < 3 || len(box.texts) != 1 || !strings.Contains(box.subjects[0], "125 of 251 jobs") {
		t.Fatalf("%d sweeps, subjects %q: want one message about 251 jobs, in more than two", sweeps, box.subjects)
	}
	if n := strings.Count(box.texts[0], "NO SUCCESS"); n != 100 || !strings.Contains(box.texts[0], "Not shown, and no worse: 151 more.") {
		t.Errorf("%d jobs named: want the 100 that need a look most", n)
	}
	row, err := r.Store.Row(t.Context(), "#sentinel", "weekly")
	if err != nil || len(row.Why) > 100 {
		t.Errorf("record %v, %v: want nothing but that it is sent", row, err)
	}
}

// unreadable fails to read one job's history.
type unreadable struct {
	guard.Store
	job string
}

func (s *unreadable) Rows(ctx context.Context, q guard.RowQuery) (guard.RowPage, error) {
	if q.Job == s.job {
		return guard.RowPage{}, guard.ErrBusy
	}
	return s.Store.Rows(ctx, q)
}

func TestJobWhoseHistoryCannotBeReadHoldsUpNoMessage(t *testing.T) {
	store := &unreadable{Store: guard.NewMemory()}
	r, box := mailing(t, store)
	store.job = "hourly"
	for range 10 {
		_, _ = r.h.Handle(t.Context(), nil)
		r.Clock = r.Clock.Add(time.Minute)
	}
	if len(box.texts) != 1 || !strings.Contains(box.texts[0], "hourly: its history could not be read: ") {
		t.Errorf("messages %q: want one that says so", box.texts)
	}
}

func TestNewSchedulerSendsNoMessage(t *testing.T) {
	r := newRig(t, deploy(testworld.Spec("hourly", "cron(0 * * * ? *)")))
	box := &mailbox{}
	r.h.Notices = box
	r.sweep("12:00:00")
	r.sweep("12:01:00")
	if len(box.texts) != 0 {
		t.Errorf("messages %q: want none, nothing is on record", box.texts)
	}
}
