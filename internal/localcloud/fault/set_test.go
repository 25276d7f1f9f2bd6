package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// bubbleClock is the bubble's own time.
type bubbleClock struct{}

func (bubbleClock) Now() time.Time { return time.Now() }

func (bubbleClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}

// inSet runs test in virtual time with an empty set for one job, and returns what was told.
func inSet(t *testing.T, test func(t *testing.T, s *Set)) (told []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := NewSet(bubbleClock{}, func(job string) error {
			if job != "cleanup" {
				return errors.New("no such job")
			}
			return nil
		}, func(job, text string) { told = append(told, job+"|"+text) }, func(Fault) {})
		test(t, s)
		s.Close()
	})
	return told
}

func add(t *testing.T, s *Set, text string) Entry {
	t.Helper()
	f, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Add(f)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func states(s *Set) string {
	text := ""
	for _, e := range s.Entries() {
		text += fmt.Sprintf("%s/%d ", e.State, e.Count)
	}
	return text
}

func TestAFaultIsPlannedThenArmedThenOver(t *testing.T) {
	inSet(t, func(t *testing.T, s *Set) {
		add(t, s, "kill cleanup times 2 at 5m")
		add(t, s, "drop for 1m at 5m")
		for i, want := range []struct {
			after  time.Duration
			struck bool
			states string
		}{
			{4 * time.Minute, false, "planned/0 planned/0 "},
			{time.Minute + time.Second, true, "armed/1 armed/0 "},
			{0, true, "over/2 armed/0 "},
			{0, false, "over/2 armed/0 "},
			{time.Minute, false, "over/2 over/0 "},
		} {
			time.Sleep(want.after)
			if _, struck := s.Take(Kill, "cleanup", "x"); struck != want.struck || states(s) != want.states {
				t.Errorf("step %d: struck %v, %s; want %+v", i, struck, states(s), want)
			}
		}
	})
}

func TestAFaultStrikesOnlyWhatItNames(t *testing.T) {
	inSet(t, func(t *testing.T, s *Set) {
		add(t, s, "late cleanup by 5s")
		if _, struck := s.Take(Late, "other", "x"); struck {
			t.Error("it struck another job")
		}
		if _, struck := s.Take(Twice, "cleanup", "x"); struck {
			t.Error("it struck as another fault")
		}
		add(t, s, "twice")
		if by, struck := s.Take(Twice, "any", "x"); !struck || by != 30*time.Second {
			t.Errorf("of every job: %v, %v", by, struck)
		}
		if by, struck := s.Take(Late, "cleanup", "x"); !struck || by != 5*time.Second {
			t.Errorf("of the job: %v, %v", by, struck)
		}
		if _, err := s.Add(Fault{Kind: Kill, Job: "other"}); err == nil || len(s.Entries()) != 2 {
			t.Errorf("a job that is not there: %v", err)
		}
	})
}

func TestOneRunIsFrozenUntilItThaws(t *testing.T) {
	told := inSet(t, func(t *testing.T, s *Set) {
		add(t, s, "freeze cleanup")
		began, thawed := time.Now(), make(chan time.Duration)
		go func() {
			s.Hold(t.Context(), "cleanup", "run-1", "Beat")
			thawed <- time.Since(began)
		}()
		synctest.Wait()
		s.Hold(t.Context(), "cleanup", "run-2", "Beat") // at once
		time.Sleep(time.Minute)
		e, err := s.End(1)
		if held := <-thawed; err != nil || held != time.Minute || e.Run != "run-1" || e.State != Over || e.Count != 1 {
			t.Errorf("held for %v, %+v, %v", held, e, err)
		}
		s.Hold(t.Context(), "cleanup", "run-3", "Beat") // at once
		var unknown *UnknownError
		if _, err := s.End(1); !errors.As(err, &unknown) {
			t.Errorf("ended again: %v", err)
		}
	})
	if want := []string{`cleanup|freeze cleanup: run-1 stands still before "Beat"`, "cleanup|freeze cleanup: ended"}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}

func TestTheEndOfARunOrOfTheSetLetsGo(t *testing.T) {
	inSet(t, func(t *testing.T, s *Set) {
		add(t, s, "freeze cleanup")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s.Hold(ctx, "cleanup", "run-1", "Beat")
		if e := s.Entries()[0]; e.State != Over {
			t.Errorf("its run is over: %+v", e)
		}
		add(t, s, "freeze cleanup")
		go s.Hold(t.Context(), "cleanup", "run-2", "Beat") // the bubble ends with it
		synctest.Wait()
	})
}

func TestClocksAreOffTogetherAndSaidToBe(t *testing.T) {
	inSet(t, func(t *testing.T, s *Set) {
		add(t, s, "skew dispatcher by 6s")
		e := add(t, s, "skew by -7s for 1m")
		now := time.Now()
		if d, h := s.Now("dispatcher", now).Sub(now), s.Now("heartbeat", now).Sub(now); d != -time.Second || h != -7*time.Second {
			t.Errorf("dispatcher %v, heartbeat %v", d, h)
		}
		if e.Note != "clocks differ by 7s, within the skew margin of 10s" {
			t.Errorf("note %q", e.Note)
		}
		if e := add(t, s, "skew settler by 11s"); e.Note != "clocks differ by 11s, BEYOND the skew margin of 10s: nothing is promised" {
			t.Errorf("note %q", e.Note)
		}
		time.Sleep(time.Minute + time.Second)
		if d := s.Now("dispatcher", now).Sub(now); d != 6*time.Second {
			t.Errorf("the dispatcher is %v off", d)
		}
	})
}

func TestRefusalsInARowAreToldOnceAndCounted(t *testing.T) {
	told := inSet(t, func(t *testing.T, s *Set) {
		add(t, s, "throttle for 1m")
		for range 50 {
			s.Take(Throttle, "cleanup", "the table refuses a request")
		}
		time.Sleep(time.Minute + time.Second)
	})
	want := []string{"cleanup|throttle for 1m: the table refuses a request", "|throttle for 1m: its time is over; it took effect 50 times"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}
