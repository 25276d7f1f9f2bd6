package sim

import (
	"strings"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Transition names an effect by what it does to the job, for the table of what was hit.
type Transition uint8

// The transitions. A commit is known by what it writes, never by who wrote it.
const (
	Create      Transition = iota // a missing guard is made, blocked
	Block                         // a new guard found rows: blocked for longer
	Unblock                       // a new guard becomes ready
	Claim                         // a tick acquires the free guard
	ClaimBeside                   // a tick of policy Allow starts
	SkipTick                      // Skipped
	ExpireTick                    // Expired
	Enqueue                       // Queued
	Ask                           // Queued, and the holder is asked to stop
	Coalesce                      // Coalesced
	Mark                          // the holder is marked for a take-over or a replacement
	Release                       // the holder is marked by a person
	Renew                         // a beat
	Settle                        // a run ends and the guard comes free
	SettleAlone                   // a run ends that holds no guard
	HandOver                      // the guard goes to the waiting tick
	FromBacklog                   // the guard goes to a tick of the backlog
	Drop                          // the waiting tick ends without a run
	Retry                         // a lost run gets another attempt
	Account                       // lastTick moves over what is on record
	Miss                          // a gap is written
	Pause                         // a person pauses the job
	Note                          // anything else on the guard
	Read                          // a consistent read
	Start                         // StartExecution
	Describe                      // DescribeExecution
	Stop                          // StopExecution
	transitionCount
)

var transitionNames = [transitionCount]string{
	"create", "block", "unblock", "claim", "claim beside", "skip", "expire", "queue", "ask to stop", "coalesce", "mark",
	"release", "renew", "settle", "settle alone", "hand over", "backlog", "drop waiting", "retry", "account", "miss",
	"pause", "note", "read", "start", "describe", "stop",
}

func (t Transition) String() string { return transitionNames[t] }

// transitionOf reads off a commit what it does.
func transitionOf(c guard.Commit) Transition {
	s := summaryOf(c)
	if s.fresh {
		return s.ofTick()
	}
	if s.run != nil {
		return s.ofRun()
	}
	switch {
	case s.creates:
		return Create
	case s.gap:
		return Miss
	case s.sets("ready"):
		return Unblock
	case s.sets("readyAt"):
		return Block
	case s.ended && !s.onGuard:
		return SettleAlone
	case s.ended && s.removes("waiting") && !s.removes("leaseUntil"):
		return Drop
	case s.ended:
		return Settle
	case s.mark != nil && s.mark.Why == guard.MarkRelease:
		return Release
	case s.mark != nil:
		return Mark
	case s.sets("leaseUntil"):
		return Renew
	case s.sets("paused") || s.removes("paused"):
		return Pause
	case s.sets("lastTick"):
		return Account
	}
	return Note
}

// ofTick is a commit that makes a row.
func (s commitSummary) ofTick() Transition {
	switch s.outcome {
	case guard.Running:
		switch {
		case s.run == nil:
			return ClaimBeside
		case s.sets("backlog") || s.removes("backlog"):
			return FromBacklog
		}
		return Claim
	case guard.Queued:
		if s.sets("stop") {
			return Ask
		}
		return Enqueue
	case guard.Coalesced:
		return Coalesce
	case guard.Expired:
		return ExpireTick
	default:
		return SkipTick
	}
}

// ofRun is a commit that gives the guard to a run whose row is there already.
func (s commitSummary) ofRun() Transition {
	if s.run.Attempt > 1 {
		return Retry
	}
	return HandOver
}

// commitSummary is what a commit's patches say.
type commitSummary struct {
	patch   guard.Patch // of the guard
	onGuard bool
	creates bool          // the guard
	run     *guard.RunRef // that the guard is given to
	mark    *guard.Mark
	fresh   bool          // a row is made
	outcome guard.Outcome // of that row
	ended   bool          // a row that was open becomes final
	gap     bool
}

func (s commitSummary) sets(field string) bool {
	return s.patch.Set.Get(field) != nil
}

func (s commitSummary) removes(field string) bool {
	for _, name := range s.patch.Remove {
		if name == field {
			return true
		}
	}
	return false
}

func summaryOf(c guard.Commit) (s commitSummary) {
	for _, w := range c.Writes {
		switch {
		case w.SK == schema.GuardSK:
			s.onGuard, s.creates, s.patch = true, w.Absent, w.Patch
			s.run, _ = w.Patch.Set.Get("run").(*guard.RunRef)
			s.mark, _ = w.Patch.Set.Get("mark").(*guard.Mark)
		case guard.IsGap(w.SK):
			s.gap = true
		default:
			outcome, _ := w.Patch.Set.Get("outcome").(guard.Outcome)
			if w.Absent {
				s.fresh, s.outcome = true, outcome
			}
			s.ended = s.ended || !w.Absent && outcome.Final()
		}
	}
	return s
}

// rowWrites yields the writes of ledger rows.
func rowWrites(c guard.Commit) (writes []guard.Write) {
	for _, w := range c.Writes {
		if w.SK != schema.GuardSK && !guard.IsGap(w.SK) {
			writes = append(writes, w)
		}
	}
	return writes
}

// gapsOf are the gaps that a commit writes.
func gapsOf(c guard.Commit) (gaps []gap) {
	for _, w := range c.Writes {
		if guard.IsGap(w.SK) {
			from, _ := w.Patch.Set.Get("from").(Millis)
			to, _ := w.Patch.Set.Get("to").(Millis)
			gaps = append(gaps, gap{from, to})
		}
	}
	return gaps
}

func describe(t Transition, c guard.Commit) string {
	text := []string{"commit " + t.String()}
	for _, w := range rowWrites(c) {
		outcome, ok := w.Patch.Set.Get("outcome").(guard.Outcome)
		if ok {
			text = append(text, short(guard.TickOf(w.SK))+" "+string(outcome))
		}
	}
	for _, g := range gapsOf(c) {
		text = append(text, "gap "+stamp(g.from)+" to "+stamp(g.to))
	}
	return strings.Join(text, ", ")
}

// short is a tick's id without its date and seconds.
func short(tick string) string {
	kind, at := guard.KindOf(tick)
	if clock := at.Time().Format("15:04"); kind == guard.Scheduled {
		return clock
	}
	return string(kind) + "-" + at.Time().Format("15:04:05")
}
