package localcloud

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/clock"
	"github.com/cronfence/cronfence/internal/localcloud/lambdaapi"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/schedule"
)

// calls is an invoker that keeps what it is called with, and fails as often as it is told.
type calls struct {
	unknown bool // there is no such function

	mu     sync.Mutex
	failed int
	err    error
	events []string
	at     []time.Time
}

func (c *calls) Invoke(_ context.Context, _ string, event []byte) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events, c.at = append(c.events, string(event)), append(c.at, time.Now())
	if len(c.events) <= c.failed {
		return nil, c.err
	}
	return []byte(`{}`), nil
}

func (c *calls) Knows(string) bool { return !c.unknown }

func newAsync(i invoker, c *clock.Clock) *async {
	return &async{lambda: i, clock: c, policies: map[string]retryPolicy{"f": {retries: 2, maxAge: time.Hour}}, journal: &journal{out: io.Discard, now: c.Now}}
}

// newTicker is as much of a local cloud as delivers ticks.
func newTicker(t *testing.T, fake *calls, local *clock.Clock) *Cloud {
	c := &Cloud{clock: local, async: newAsync(fake, local), ctx: t.Context()}
	c.journal = c.async.journal
	c.faults = c.newFaults()
	return c
}

// ticksOf delivers a schedule's ticks from start for a while in virtual time.
func ticksOf(t *testing.T, expression, zone string, start time.Time, length time.Duration, input string, options ...schedule.Option) ([]string, *job) {
	t.Helper()
	fake := &calls{}
	s, err := schedule.Parse(expression, append(options, schedule.In(zone))...)
	if err != nil {
		t.Fatal(err)
	}
	j := &job{schedule: s, dispatcher: "f", scheduleARN: "arn:s", input: input}
	synctest.Test(t, func(t *testing.T) {
		local := clock.New(start, 1)
		c := newTicker(t, fake, local)
		c.tick(t.Context(), j, start, start.Add(length))
		if err := c.work.wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return fake.events, j
}

func TestTicksFollowTheirZone(t *testing.T) {
	for _, tt := range []struct{ start, want string }{
		{"2026-01-15T00:00:00Z", "2026-01-15T12:00:00Z"},
		{"2026-07-15T00:00:00Z", "2026-07-15T11:00:00Z"},
	} {
		start, _ := time.Parse(time.RFC3339, tt.start)
		events, j := ticksOf(t, "cron(0 4 * * ? *)", "America/Los_Angeles", start, 24*time.Hour, "<aws.scheduler.scheduled-time>")
		if ticks, _ := j.seen(); !slices.Equal(events, []string{tt.want}) || !slices.Equal(ticks, events) {
			t.Errorf("from %s: delivered %v, fired %v, want %s", tt.start, events, ticks, tt.want)
		}
	}
}

func TestAttributesAreFilledInWhereTheyStand(t *testing.T) {
	input := `{"tick":"<aws.scheduler.scheduled-time>","delivery":{"executionId":"<aws.scheduler.execution-id>",
		"attempt":"<aws.scheduler.attempt-number>","scheduleArn":"<aws.scheduler.schedule-arn>"},"escaped":"\u003caws.scheduler.scheduled-time\u003e"}`
	events, _ := ticksOf(t, "rate(1 minute)", "UTC", time.Date(2026, 9, 7, 2, 0, 0, 0, time.UTC), 2*time.Minute, input)
	if len(events) != 2 {
		t.Fatalf("got %d deliveries, want 2", len(events))
	}
	ids := map[string]bool{}
	for i, event := range events {
		var ev schema.TickEvent
		if err := json.Unmarshal([]byte(event), &ev); err != nil {
			t.Fatal(err)
		}
		if want := []string{"2026-09-07T02:01:00Z", "2026-09-07T02:02:00Z"}[i]; ev.Tick != want || ev.Delivery.Attempt != "1" || ev.Delivery.ScheduleARN != "arn:s" {
			t.Errorf("got %+v, want tick %s", ev, want)
		}
		if !strings.Contains(event, `\u003caws.scheduler.scheduled-time\u003e`) {
			t.Error("an escaped attribute was filled in, as AWS does not")
		}
		ids[ev.Delivery.ExecutionID] = true
	}
	if len(ids) != 2 {
		t.Error("two deliveries have the same execution id")
	}
}

func TestTicksEndWithTheSchedule(t *testing.T) {
	start := time.Date(2026, 9, 7, 2, 0, 0, 0, time.UTC)
	events, _ := ticksOf(t, "rate(1 minute)", "UTC", start, time.Hour, "x",
		schedule.Starting(start.Add(10*time.Minute)), schedule.Ending(start.Add(12*time.Minute)))
	if len(events) != 3 {
		t.Errorf("got %d ticks, want those of minutes 10, 11 and 12", len(events))
	}
}

func TestAnEventIsTriedThreeTimes(t *testing.T) {
	for _, tt := range []struct {
		failed, calls, buried int
		err                   error
		took                  time.Duration
	}{
		{0, 1, 0, nil, 0},
		{2, 3, 0, errors.New("no"), 3 * time.Minute},
		{9, 3, 1, errors.New("no"), 3 * time.Minute},
		{9, 1, 1, lambdaapi.ErrNoFunction, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			fake := &calls{failed: tt.failed, err: tt.err}
			a := newAsync(fake, clock.New(time.Now(), 1))
			began := time.Now()
			a.invoke(t.Context(), "f", []byte(`{}`))
			if len(fake.events) != tt.calls || len(a.buried()) != tt.buried || time.Since(began) != tt.took {
				t.Errorf("failing %d times with %v: %d calls, %d dead letters, %v", tt.failed, tt.err, len(fake.events), len(a.buried()), time.Since(began))
			}
		})
	}
}

// deliveries runs a job's ticks of 20 minutes in virtual time.
func deliveries(t *testing.T, j *job, fake *calls) (ticks []time.Time, a *async) {
	t.Helper()
	start := time.Date(2026, 9, 7, 2, 0, 0, 0, time.UTC)
	j.schedule = schedule.MustParse("rate(1 minute)").Anchored(start)
	j.name, j.dispatcher, j.input = "job", "f", "<aws.scheduler.scheduled-time> <aws.scheduler.execution-id> <aws.scheduler.attempt-number>"
	synctest.Test(t, func(t *testing.T) {
		local := clock.New(start, 1)
		c := newTicker(t, fake, local)
		a = c.async
		began := time.Now()
		c.tick(t.Context(), j, start, start.Add(20*time.Minute))
		if err := c.work.wait(t.Context()); err != nil {
			t.Error(err)
		}
		for _, at := range fake.at {
			ticks = append(ticks, start.Add(at.Sub(began)))
		}
	})
	return ticks, a
}

func TestATickComesWithinItsWindow(t *testing.T) {
	fake := &calls{}
	ticks, _ := deliveries(t, &job{window: 15 * time.Minute}, fake)
	late := 0
	for i, at := range ticks {
		planned, err := time.Parse(time.RFC3339, strings.Fields(fake.events[i])[0])
		if err != nil {
			t.Fatal(err)
		}
		delay := at.Sub(planned)
		if delay < 0 || delay > 15*time.Minute {
			t.Errorf("the tick of %v came at %v", planned, at)
		}
		if delay > time.Minute {
			late++
		}
	}
	if len(ticks) != 20 || late < 10 {
		t.Errorf("%d ticks, %d of them more than a minute late", len(ticks), late)
	}
}

func TestAHandOverThatFailsEndsInTheSchedulesQueue(t *testing.T) {
	for _, tt := range []struct {
		policy retryPolicy
		last   time.Duration // after the tick
		queue  string
	}{
		{retryPolicy{retries: 3, maxAge: time.Hour, deadLetter: "arn:q"}, (1 + 2 + 4) * time.Second, "arn:q"},
		{retryPolicy{retries: 185, maxAge: 10 * time.Second}, (1 + 2 + 4) * time.Second, ""}, // the next would be 15 s old
		{retryPolicy{}, 0, ""},
	} {
		_, a := deliveries(t, &job{handOver: tt.policy}, &calls{unknown: true})
		letters := a.buried()
		if len(letters) != 20 {
			t.Fatalf("%d dead letters, want 20", len(letters))
		}
		first := letters[0]
		fields := strings.Fields(string(first.Event))
		tick, _ := time.Parse(time.RFC3339, fields[0])
		if got := first.At.Sub(tick).Truncate(time.Millisecond); got != tt.last || first.Queue != tt.queue || first.From != "schedule of job" {
			t.Errorf("%+v: given up after %v: %+v", tt.policy, got, first)
		}
	}
}

func TestAnEventIsNotTriedWhenItIsTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &calls{failed: 9, err: errors.New("no")}
		a := newAsync(fake, clock.New(time.Now(), 1))
		a.policies["f"] = retryPolicy{retries: 2, maxAge: 2 * time.Minute, deadLetter: "arn:q"}
		a.invoke(t.Context(), "f", []byte(`{}`))
		if letters := a.buried(); len(fake.events) != 2 || len(letters) != 1 || letters[0].Queue != "arn:q" || letters[0].Reason != "no" {
			t.Errorf("%d calls, %+v", len(fake.events), letters)
		}
	})
}
