package ops

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/cronfence/cronfence/pkg/guard"
)

// story tells a ledger row in sentences.
type story struct {
	row    guard.Row
	holder *guard.Row // what became of the run that stood in the way, if that is known
	guard  guard.Guard
	now    guard.Millis
}

func (s story) tell() []string {
	switch r := s.row; r.Outcome {
	case guard.Running:
		return s.running()
	case guard.Queued:
		return s.queued()
	case guard.Skipped:
		return s.skipped()
	case guard.Coalesced:
		return append([]string{s.opening("was coalesced at %s: %s.", s.closedAt(), r.Why)}, s.inTheWay()...)
	case guard.Expired:
		return s.expired()
	case guard.Abandoned:
		return s.abandoned()
	default:
		return s.ended()
	}
}

// opening begins the first sentence with the tick's name.
func (s story) opening(format string, args ...any) string {
	what := map[guard.Kind]string{
		guard.Scheduled: "Tick", guard.Manual: "Manual run", guard.Backfill: "Backfill tick", guard.CatchUp: "Catch-up tick",
	}[s.row.Kind]
	return fmt.Sprintf("%s %s of %s ", what, s.row.Tick, s.row.Job) + fmt.Sprintf(format, args...)
}

// claim says which run took the guard, when and how late.
func (s story) claim() string {
	r := s.row
	took := "took the guard"
	if r.Shared {
		took = "was let in beside others"
	}
	text := fmt.Sprintf("run %s %s at %s", r.Run, took, r.ClaimedAt)
	if r.Kind == guard.Scheduled && r.Delay >= 1000 {
		text += fmt.Sprintf(", %s after its planned instant", Span(r.ClaimedAt.Sub(r.At)))
	}
	if r.Attempt > 1 {
		text += fmt.Sprintf("; this is attempt %d", r.Attempt)
	}
	return text
}

func (s story) running() []string {
	r, g := s.row, s.guard
	say := append([]string{s.opening("is running: %s.", s.claim())}, s.asked()...)
	if r.NotBefore > s.now {
		say = append(say, fmt.Sprintf("It starts at %s: work of the attempt before may be going on until then.", r.NotBefore))
	}
	switch {
	case r.Shared:
		return append(say, fmt.Sprintf("It holds no guard, and must end by %s.", r.MaxRunUntil))
	case g.Run == nil || g.Run.ID != r.Run || g.Fence != r.Fence:
		return append(say, "It no longer holds the guard: its end is about to be recorded.")
	}
	lease := "runs"
	if g.LeaseUntil < s.now {
		lease = "ran"
	}
	say = append(say, fmt.Sprintf("Its lease %s until %s, and it must end by %s.", lease, g.LeaseUntil, g.MaxRunUntil))
	if g.Stop != nil {
		say = append(say, fmt.Sprintf("It was asked at %s to end by itself until %s, for tick %s.", g.Stop.At, g.StopDeadline, g.Stop.ByTick))
	}
	if m := g.Mark; m != nil {
		say = append(say, fmt.Sprintf("It is being stopped since %s: %s by %s.", m.At, m.Why, m.By))
	}
	return say
}

func (s story) queued() []string {
	r, g := s.row, s.guard
	say := append([]string{s.opening("waits for the guard since %s.", r.ClaimedAt)}, s.inTheWay()...)
	if w := g.Waiting; w != nil && w.Tick == r.Tick {
		if w.Why == "replace" {
			say = append(say, "The run that holds the guard is to be replaced: it is asked to stop.")
		}
		say = append(say, fmt.Sprintf("It starts when the guard comes free, until %s at the latest.", w.Deadline))
	}
	return say
}

func (s story) skipped() []string {
	r := s.row
	say := func(why string) []string {
		text := append([]string{s.opening("was skipped at %s: %s.", r.ClaimedAt, why)}, s.asked()...)
		return append(text, "A skip is neither a success nor a failure: nothing was started.")
	}
	switch pauseWhy, isPause := strings.CutPrefix(r.Why, guard.WhyPaused+": "); {
	case isPause:
		text := say("the job was paused: " + pauseWhy)
		if p := s.guard.Paused; p != nil && p.At <= r.ClaimedAt && strings.HasSuffix(r.Why, p.Why) {
			text = say("the job was " + pauseText(*p))
		}
		return text
	case r.Why == guard.WhyBlocked:
		return say("the guard had been made anew, and a run of the lost one could still be going on")
	case r.Holder == nil:
		return say(r.Why)
	}
	way := s.inTheWay()
	text := say(lowerFirst(strings.TrimSuffix(way[0], ".")))
	return append(append(text[:1:1], way[1:]...), text[1:]...)
}

// inTheWay says what held the guard, for how long and until when, and what became of it.
func (s story) inTheWay() []string {
	h := s.row.Holder
	if h == nil {
		return nil
	}
	since := s.row.ClaimedAt - guard.Millis(h.HeldFor)
	held := Span(guard.Millis(h.HeldFor).Sub(0))
	if h.Draining {
		return []string{fmt.Sprintf("Work of run %s of tick %s, which had ended at %s, %s before, could be going on until %s.", h.Run, h.Tick, since, held, h.Until)}
	}
	say := []string{fmt.Sprintf("Run %s of tick %s held the guard since %s, for %s, with a lease until %s.", h.Run, h.Tick, since, held, h.Until)}
	switch r := s.holder; {
	case r == nil || r.Run != h.Run:
	case !r.Outcome.Final():
		say = append(say, "That run still goes on.")
	default:
		text := fmt.Sprintf("That run ended as %s at %s", r.Outcome, r.EndedAt)
		if r.RunTime > 0 {
			text += ", after " + Span(r.RunTimeDuration())
		}
		say = append(say, text+".")
	}
	return say
}

func (s story) expired() []string {
	r := s.row
	if r.Why == guard.WhyLate {
		return []string{s.opening("expired: it was delivered at %s, %s after its planned instant and past its start deadline.", r.ClaimedAt, Span(r.ClaimedAt.Sub(r.At)))}
	}
	return append(append([]string{s.opening("expired at %s: it %s.", s.closedAt(), r.Why)}, s.asked()...), s.inTheWay()...)
}

func (s story) abandoned() []string {
	r := s.row
	why := cmp.Or(r.Why, "no execution of its run was found")
	say := []string{s.opening("was abandoned at %s: %s.", s.closedAt(), why)}
	if r.Run == "" {
		return say
	}
	say = append(say, capital(s.claim())+".")
	if r.StartBy != 0 {
		say = append(say, fmt.Sprintf("It had to be started by %s.", r.StartBy))
	}
	return say
}

// ended tells a run from its claim to its end.
func (s story) ended() []string {
	r := s.row
	say := append([]string{s.opening("ended as %s: %s.", r.Outcome, s.claim())}, s.asked()...)
	if r.Why == guard.WhyHandedOver {
		say = append(say, "It had waited for the guard.")
	}
	switch {
	case r.StartedAt == 0:
		say = append(say, fmt.Sprintf("It ended at %s; no start is on record.", r.EndedAt))
	case r.Interval > 0:
		say = append(say, fmt.Sprintf("It ran from %s to %s, %s: %.2f of its interval of %s.", r.StartedAt, r.EndedAt,
			Span(r.RunTimeDuration()), r.Ratio, Span(secondsOf(r.Interval))))
	default:
		say = append(say, fmt.Sprintf("It ran from %s to %s, %s.", r.StartedAt, r.EndedAt, Span(r.RunTimeDuration())))
	}
	if r.Outcome == guard.TimedOut && r.MaxRunUntil != 0 {
		say = append(say, fmt.Sprintf("Its maximum run time was over at %s.", r.MaxRunUntil))
	}
	if r.Why != "" && r.Why != guard.WhyHandedOver && r.Outcome != guard.Succeeded && r.Kind == guard.Scheduled {
		say = append(say, capital(r.Why)+".")
	}
	if r.Error != "" {
		text := "Its error was " + r.Error
		if r.Cause != "" {
			text += ": " + r.Cause
		}
		say = append(say, text)
	}
	return say
}

// asked says who asked for a run that is not of the schedule.
func (s story) asked() []string {
	if s.row.By == "" {
		return nil
	}
	return []string{capital(s.row.By) + "."}
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// closedAt is when a tick that never ran came to its outcome.
func (s story) closedAt() guard.Millis {
	if s.row.EndedAt != 0 {
		return s.row.EndedAt
	}
	return s.row.ClaimedAt
}

func secondsOf(n int64) time.Duration { return time.Duration(n) * time.Second }
