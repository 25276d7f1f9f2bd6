package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Violation is a path to what must not be.
type Violation struct {
	What  string
	Steps []string
}

// Error prints the path, a step a line.
func (v *Violation) Error() string {
	return v.What + "\n  " + strings.Join(v.Steps, "\n  ")
}

// violation walks the path again and writes it down.
func (x *explorer) violation(choices []int, tail []successor, what string) *Violation {
	tail = slices.Clone(tail)
	s, v := x.first, &Violation{What: what}
	for _, c := range choices {
		next := x.successors(&s)[c]
		v.Steps = append(v.Steps, x.line(&s, next))
		s = next.state
	}
	for _, next := range tail {
		v.Steps = append(v.Steps, x.line(&s, next))
		s = next.state
	}
	return v
}

// line writes one step down: when, who, what, and what it came to.
func (x *explorer) line(before *state, s successor) string {
	at := fmt.Sprintf("%6.0fs ", float64(s.state.clock-origin)/1000)
	if f := s.move.fault; f != NoFault {
		at += "FAULT " + f.String() + ": "
	}
	switch m := s.move; m.verb {
	case doEffect:
		return at + m.node.call.String() + ": " + m.node.next.String() + x.change(before, &s.state)
	case doHear:
		return at + m.node.call.String() + " hears of: " + m.node.next.String() + x.change(before, &s.state)
	case doSucceed:
		return at + shortRun(m.run.run) + " succeeds" + surviving(m)
	case doTimeOut:
		return at + shortRun(m.run.run) + " times out" + surviving(m)
	case doAdvance:
		return at + "---"
	default:
		switch {
		case m.run != nil:
			return at + shortRun(m.run.run) + surviving(m)
		case m.tick != "":
			return at + shortTick(m.tick)
		}
		return strings.TrimSuffix(at, ": ")
	}
}

func surviving(m move) string {
	if m.survives {
		return ", with an invocation under way"
	}
	return ""
}

// change says what a step made of the records.
func (x *explorer) change(before, after *state) string {
	b, a := before.recs, after.recs
	if b == a {
		return ""
	}
	var what []string
	for _, r := range a.rows {
		if old := b.row(r.Tick); old == nil || old.Outcome != r.Outcome || old.Run != r.Run {
			what = append(what, fmt.Sprintf("%s %s", shortTick(r.Tick), r.Outcome))
		}
	}
	if a.guard != nil && a.guard != b.guard {
		what = append(what, describeGuard(a.guard))
	}
	return " => " + strings.Join(what, ", ")
}

func describeGuard(g *record) string {
	since := func(t Millis) string { return fmt.Sprintf("%.0fs", float64(t-origin)/1000) }
	s := "guard free"
	switch {
	case !g.Ready:
		s = "guard blocked"
		if g.ReadyAt != 0 {
			s += " until " + since(g.ReadyAt)
		}
	case g.Run != nil:
		s = fmt.Sprintf("guard of %s, lease %s", shortRun(g.Run.ID), since(g.LeaseUntil))
	}
	if g.DrainUntil != 0 {
		s += ", draining until " + since(g.DrainUntil)
	}
	if g.Mark != nil {
		s += ", marked for " + string(g.Mark.Why)
	}
	if g.Waiting != nil {
		s += ", waiting " + shortTick(g.Waiting.Tick)
	}
	if g.Stop != nil {
		s += ", stop by " + since(g.StopDeadline)
	}
	return s
}

// describeCommit names the rows of a commit.
func describeCommit(c *guard.Commit) string {
	var what []string
	for _, w := range c.Writes {
		switch {
		case w.SK == schema.GuardSK:
			what = append(what, "guard")
		case guard.IsGap(w.SK):
			what = append(what, "gap")
		default:
			what = append(what, shortTick(guard.TickOf(w.SK)))
		}
	}
	return strings.Join(what, "+")
}

// shortTick is a tick's id without what is the same in all of them.
func shortTick(id string) string {
	_, at, ok := strings.Cut(id, "T")
	if !ok {
		return id
	}
	return strings.TrimSuffix(at, "Z")
}

func shortRun(run string) string { return strings.TrimPrefix(run, job+"-") }
