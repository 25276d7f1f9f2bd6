package policy

import (
	"fmt"
	"testing"
)

func TestWhatComesBeforeThePolicyHoldsForEveryPolicy(t *testing.T) {
	all := Situation{Late: true, Blocked: true, Paused: true, Held: true, Older: true, Waiting: NewerWaits}
	for _, o := range []Overlap{Skip, QueueOne, Replace, Allow} {
		s, r := all, Rule{Overlap: o}
		for _, want := range []Action{Expire, SkipBlocked, SkipPaused} {
			if got := r.Decide(s); got != want {
				t.Errorf("%v, %+v: %v, want %v", o, s, got, want)
			}
			s.Late = false // the first in the way once, the next one after
			s.Blocked = s.Blocked && want == Expire
		}
		if got := r.Decide(Situation{}); o != Allow && got != Start || o == Allow && got != StartBeside {
			t.Errorf("%v, nothing in the way: %v", o, got)
		}
	}
}

func TestTickThatFindsTheGuardHeldDoesAsThePolicySays(t *testing.T) {
	for _, c := range []struct {
		rule    Rule
		older   bool
		waiting Waiter
		want    Action
	}{
		{Rule{Overlap: Skip}, false, Nobody, SkipHeld},
		{Rule{Overlap: Skip}, true, NewerWaits, SkipHeld},
		{Rule{Overlap: Allow}, true, OlderWaits, StartBeside},
		{Rule{Overlap: QueueOne}, false, Nobody, Wait},
		{Rule{Overlap: QueueOne}, false, OlderWaits, Wait},
		{Rule{Overlap: QueueOne}, false, NewerWaits, Coalesce},
		{Rule{Overlap: QueueOne}, true, Nobody, Coalesce},
		{Rule{Overlap: QueueOne, KeepFirst: true}, false, Nobody, Wait},
		{Rule{Overlap: QueueOne, KeepFirst: true}, false, OlderWaits, Coalesce},
		{Rule{Overlap: Replace}, false, Nobody, Wait},
		{Rule{Overlap: Replace, KeepFirst: true}, false, OlderWaits, Wait}, // it is QueueOne's option
		{Rule{Overlap: Replace}, false, NewerWaits, Coalesce},
		{Rule{Overlap: Replace}, true, OlderWaits, Coalesce},
	} {
		if got := c.rule.Decide(Situation{Held: true, Older: c.older, Waiting: c.waiting}); got != c.want {
			t.Errorf("%+v, older %v, waiting %v: %v, want %v", c.rule, c.older, c.waiting, got, c.want)
		}
	}
}

func TestCatchUpTakesTheNewestUpToANumber(t *testing.T) {
	for _, c := range []struct {
		policy               CatchUp
		count, maximum, want int
	}{
		{CatchUpNone, 5, 10, 0},
		{CatchUpLatest, 5, 10, 1},
		{CatchUpLatest, 0, 10, 0},
		{CatchUpAll, 5, 10, 5},
		{CatchUpAll, 50, 10, 10},
		{CatchUp(9), 5, 10, 0},
	} {
		if got := c.policy.Missed(c.count, c.maximum); got != c.want {
			t.Errorf("%v of %d, at most %d: %d, want %d", c.policy, c.count, c.maximum, got, c.want)
		}
	}
}

func TestNamesAreReadAsTheyAreWritten(t *testing.T) {
	for _, o := range []Overlap{Skip, QueueOne, Replace, Allow} {
		var got Overlap
		if text, err := o.MarshalText(); err != nil || string(text) != o.String() || got.UnmarshalText(text) != nil || got != o {
			t.Errorf("%d is written %q, %v and read %d", int(o), text, err, int(got))
		}
	}
	for _, c := range []CatchUp{CatchUpNone, CatchUpLatest, CatchUpAll} {
		var got CatchUp
		if text, err := c.MarshalText(); err != nil || string(text) != c.String() || got.UnmarshalText(text) != nil || got != c {
			t.Errorf("%d is written %q, %v and read %d", int(c), text, err, int(got))
		}
	}
}

func TestUnknownValuesAreNamedAndRefused(t *testing.T) {
	for _, v := range []int{-1, 4} {
		if got, want := Overlap(v).String(), fmt.Sprintf("Overlap(%d)", v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		_, err := Overlap(v).MarshalText()
		if want := fmt.Sprintf("overlap %d: must be one of skip, queue-one, replace, allow", v); err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	for _, v := range []int{-1, 3} {
		if got, want := CatchUp(v).String(), fmt.Sprintf("CatchUp(%d)", v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		_, err := CatchUp(v).MarshalText()
		if want := fmt.Sprintf("catchUp %d: must be one of none, latest, all", v); err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if o, err := ParseOverlap("Forbid"); err == nil || o != 0 || err.Error() != `overlap "Forbid": must be one of skip, queue-one, replace, allow` {
		t.Errorf("%v, %v", o, err)
	}
	if c, err := ParseCatchUp(""); err == nil || c != 0 || err.Error() != `catchUp "": must be one of none, latest, all` {
		t.Errorf("%v, %v", c, err)
	}
}
