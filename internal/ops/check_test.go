package ops_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cronfence/cronfence/internal/ops"
	"github.com/cronfence/cronfence/internal/testworld"
)

func TestWhatCannotBeMeantIsRefusedByTheOperator(t *testing.T) {
	w := newDesk(t)
	w.Established(testworld.Minutely("cleanup"), "01:59")
	op := w.op
	pause := func(by, reason string, length time.Duration) ops.Act {
		return ops.Act{Job: "cleanup", Pause: &ops.PauseRequest{Job: "cleanup", By: by, Reason: reason, For: length}}
	}
	for name, act := range map[string]ops.Act{
		"no reason":        pause("alice", " ", 0),
		"long reason":      pause("alice", strings.Repeat("ä", ops.MaxReason+1), 0),
		"escape":           pause("alice", "a\x1b[2J", 0),
		"new line":         pause("alice", "a\nTICK", 0),
		"bidi":             pause("alice", "a\u202eb", 0),
		"no UTF-8":         pause("alice", "a\xff", 0),
		"who with a bell":  pause("alice\a", "why", 0),
		"long name":        pause(strings.Repeat("a", ops.MaxBy+1), "why", 0),
		"for less than 0":  pause("alice", "why", -1),
		"for a nanosecond": pause("alice", "why", 1),
		"release":          {Job: "cleanup", Release: &ops.ReleaseRequest{Job: "cleanup", By: "alice"}},
		"run":              {Job: "cleanup", Run: &ops.RunRequest{Job: "cleanup", By: "alice", Reason: "a\nb"}},
	} {
		_, previewErr := op.Preview(t.Context(), act)
		var actErr error
		switch {
		case act.Pause != nil:
			_, actErr = op.Pause(t.Context(), *act.Pause)
		case act.Release != nil:
			_, actErr = op.Release(t.Context(), *act.Release)
		default:
			_, actErr = op.Run(t.Context(), *act.Run)
		}
		for _, err := range []error{previewErr, actErr} {
			var invalid *ops.InvalidError
			if !errors.As(err, &invalid) {
				t.Errorf("%s: %v, want it invalid", name, err)
			}
		}
	}
	if g := w.Guard("cleanup"); g.Paused != nil || g.Mark != nil || g.Run != nil {
		t.Errorf("something was done: %+v", g)
	}
	longest := pause(strings.Repeat("a", ops.MaxBy), strings.Repeat("ä", ops.MaxReason), time.Millisecond)
	if _, err := op.Pause(t.Context(), *longest.Pause); err != nil {
		t.Error(err)
	}
}
