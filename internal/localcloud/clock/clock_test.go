package clock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var noon = time.Date(2026, 9, 7, 12, 0, 0, 0, time.UTC)

func TestAnHourAtSpeed60TakesAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(noon, 60)
		began := time.Now()
		if err := c.SleepUntil(t.Context(), noon.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(began).Round(time.Millisecond); got != time.Minute {
			t.Errorf("slept %v of real time, want 1m", got)
		}
		if got := c.Now(); got.Before(noon.Add(time.Hour)) {
			t.Errorf("the clock shows %v after sleeping until %v", got, noon.Add(time.Hour))
		}
	})
}

func TestSleepEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(noon, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
		if err := c.Sleep(ctx, 0); err == nil {
			t.Error("a sleep of nothing on an ended context reports no error")
		}
	})
}

func TestAfterFuncStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(noon, 2)
		var at time.Time
		c.AfterFunc(time.Minute, func() { at = c.Now() })
		stop := c.AfterFunc(time.Second, func() { t.Error("called although stopped") })
		stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := at.Sub(noon); got != time.Minute {
			t.Errorf("called after %v of local time, want 1m", got)
		}
	})
}
