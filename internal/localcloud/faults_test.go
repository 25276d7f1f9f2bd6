package localcloud

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cronfence/cronfence/internal/localcloud/example"
	"github.com/cronfence/cronfence/internal/localcloud/fault"
	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// halfPastTen is a second before a tick of the example's frequent jobs.
var halfPastTen = time.Date(2026, 9, 7, 10, 29, 59, 0, time.UTC)

// played is what the example app came to in virtual time.
type played struct {
	report   *Report
	outcomes string      // of the cleanup's ticks from 10:30 on, a letter each: see letters
	rows     []guard.Row // of the cleanup
	faults   []fault.Entry
	letters  []DeadLetter
	log      string
}

// letters stand for outcomes. A tick without a row is a dot.
var letters = map[guard.Outcome]string{
	guard.Succeeded: "S", guard.Failed: "F", guard.TimedOut: "T", guard.Aborted: "A", guard.LeaseLost: "L",
	guard.Abandoned: "X", guard.Skipped: "-", guard.Expired: "E", guard.Missed: "M",
}

// play runs the example app with faults in virtual time. meanwhile is called once the local
// cloud runs.
func play(t *testing.T, length time.Duration, meanwhile func(*Cloud), faults ...string) (p played) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer // the journal writes a line at a time
		c, err := New(Config{Assembly: example.Assembly, Start: halfPastTen, Speed: 1, For: length, Log: &log, Out: &log, listen: newNetwork(t).listen})
		if err != nil {
			t.Fatal(err)
		}
		schedulers, err := c.Schedulers()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range schedulers { // as `cronfence dev` does
			for _, spec := range s.Specs {
				if err := s.Engine.Introduce(t.Context(), spec); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, text := range faults {
			f, err := fault.Parse(text)
			if err == nil {
				_, err = c.Faults().Add(f)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if meanwhile != nil {
			go meanwhile(c)
		}
		if p.report, err = c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		j := c.jobNamed("cleanup")
		if p.rows, err = c.rows(j); err != nil {
			t.Fatal(err)
		}
		ticks, _ := j.seen()
		p.outcomes = outcomes(ticks, p.rows)
		p.faults, p.letters, p.log = c.Faults().Entries(), c.DeadLetters(), log.String()
	})
	return p
}

func outcomes(ticks []string, rows []guard.Row) string {
	byTick := map[string]string{}
	for _, row := range rows {
		byTick[row.Tick] = letters[row.Outcome]
	}
	var all strings.Builder
	for _, tick := range ticks {
		if byTick[tick] == "" {
			byTick[tick] = "."
		}
		all.WriteString(byTick[tick])
	}
	return all.String()
}

// boundOf is how long it may take from the claim of a run that ends badly, struck within its first
// minute, to the start of the next one: I6, and a tick to start on. A fault that goes on for a
// time is over before that begins.
func boundOf(faults []fault.Entry) time.Duration {
	const (
		lease, drain, interval = 2 * time.Minute, 5 * time.Minute, time.Minute // the cleanup's
		strike                 = time.Minute
	)
	most := strike + lease + schema.SkewMargin + schema.Sweep + drain + interval
	for _, e := range faults {
		most += time.Duration(e.Fault.For)
	}
	return most
}

// checkInvariants holds what must be true whatever struck.
func checkInvariants(t *testing.T, p played) {
	t.Helper()
	if len(p.report.Problems) > 0 {
		t.Errorf("problems %q", p.report.Problems)
	}
	for _, j := range p.report.Jobs {
		if j.MaxConcurrent > 1 || j.Running > 0 {
			t.Errorf("%+v", j)
		}
	}
	for i, e := range p.faults {
		if e.Count == 0 || p.report.Faults[i] != (FaultReport{Fault: e.Text, Count: e.Count}) || !strings.Contains(p.log, e.Text+": ") {
			t.Errorf("fault %+v, reported as %+v: it must have struck, and be on record", e, p.report.Faults[i])
		}
	}
	runs := slices.DeleteFunc(slices.Clone(p.rows), func(r guard.Row) bool { return r.Run == "" })
	slices.SortFunc(runs, func(x, y guard.Row) int { return cmp.Compare(x.Fence, y.Fence) })
	for i, r := range runs[1:] {
		before := runs[i]
		if r.Fence == before.Fence || r.ClaimedAt < before.ClaimedAt {
			t.Errorf("fence %d of %s does not rise over %d of %s", r.Fence, r.Run, before.Fence, before.Run)
		}
		if took := r.ClaimedAt.Time().Sub(before.ClaimedAt.Time()); took > boundOf(p.faults) {
			t.Errorf("%s came %v after %s: at most %v", r.Run, took, before.Run, boundOf(p.faults))
		}
	}
}

// With every fault each tick has one outcome, no two runs work at a time, and the job is free again
// in time. What the fault did shows in the outcomes: without one every third tick runs.
func TestFaultsStrikeAndTheInvariantsHold(t *testing.T) {
	const undisturbed = "S--S--S--S--S--"
	for _, c := range []struct {
		name   string
		faults []string
		want   string // outcomes
		log    string // and this besides
	}{
		{"nothing", nil, undisturbed, ""},
		{"a process dies at once: its Lambda may work on for 5 min", []string{"kill cleanup"}, "F-----S--S--S--", "Runtime.ExitError"},
		{"a process dies at work", []string{"kill cleanup at 41s"}, "F-----S--S--S--", "Failed     in 40s"},
		{"two processes die", []string{"kill cleanup times 2"}, "F-----F-----S--", "is killed (2 of 2)"},
		{"an execution is stopped", []string{"abort cleanup at 41s"}, "A-----S--S--S--", "is stopped from outside"},
		{"an execution is stopped as it begins", []string{"abort cleanup"}, "A-----S--S--S--", ""},
		{"a run stands still and is taken over", []string{"freeze cleanup"}, "L--------S--S--", "the lease ran out; stopped for sentinel"},
		{"a run stands still after a beat", []string{"freeze cleanup at 40s"}, "L--------S--S--", "the lease ran out"},
		{"a run thaws within its lease", []string{"freeze cleanup for 100s"}, undisturbed, "its time is over"},
		{"a tick comes twice while its run may still be started", []string{"twice cleanup by 50s"}, undisturbed, "10:30:50  cleanup  2026-09-07T10:30:00Z  started"},
		{"every tick comes twice", []string{"twice by 2m for 15m"}, undisturbed, "10:44:00Z is delivered twice"},
		{"a tick comes behind the next one", []string{"late cleanup by 61s"}, "-S--S--S--S--S-", "10:31:01  cleanup  2026-09-07T10:30:00Z  Skipped"},
		{"a tick comes behind its start deadline", []string{"late cleanup by 16m"}, "ES--S--S--S--S-", ""},
		{"a dispatcher dies and Lambda tries again", []string{"crash cleanup"}, "S---S--S--S--S-", "10:31:00  cleanup  2026-09-07T10:30:00Z  started"},
		{"the dispatcher dies twice and the sentinel starts the run", []string{"crash cleanup times 2"}, "S---S--S--S--S-", "(2 of 2)"},
		{"nobody can start the run in time", []string{"crash cleanup for 30s", "throttle for 1m at 10s"}, "X--S--S--S--S--", "claimed but never started"},
		{"an abort nobody hears of", []string{"drop cleanup for 2m", "abort cleanup at 41s"}, "A-----S--S--S--", ":59  cleanup  2026-09-07T10:30:00Z  Aborted"}, // by a sweep
		{"a dispatcher is refused", []string{"late cleanup by 20s", "throttle cleanup for 30s"}, "-S--S--S--S--S-", "store is busy; again in 1m0s"},
		{"beats are refused", []string{"throttle cleanup times 2 at 5m10s"}, undisturbed, "(2 of 2)"},
		{"a dispatcher is ahead within the margin", []string{"skew dispatcher by 9s"}, undisturbed, "clocks differ by 9s, within the skew margin"},
		{"a heartbeat is behind within the margin", []string{"skew heartbeat by -9s"}, undisturbed, "clocks differ by 9s, within the skew margin"},
		{"the sentinel frees a frozen run 9 s early", []string{"skew sentinel by 9s", "freeze cleanup"}, "L--------S--S--", "within the skew margin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, 15*time.Minute, nil, c.faults...)
			checkInvariants(t, p)
			if p.outcomes != c.want || !strings.Contains(p.log, c.log) {
				t.Errorf("got %s, want %s and %q in\n%s", p.outcomes, c.want, c.log, p.log)
			}
		})
	}
}

// What no delivery can bring any more is found missing.
func TestTicksThatComeTooLateOrNeverAreMissed(t *testing.T) {
	for _, c := range []struct {
		fault           string
		missed, letters int
	}{
		{"late cleanup by 22m at 5m", 1, 0},
		{"throttle for 10m at 5m", 7, 18}, // ticks; the settler's and the sentinel's events are dead letters too
	} {
		p := play(t, 40*time.Minute, nil, c.fault)
		if j := p.report.Jobs[0]; len(p.report.Problems) > 0 || j.MaxConcurrent > 1 || j.Missed != c.missed || len(p.letters) != c.letters {
			t.Errorf("%s: problems %q, dead letters %d, %+v\n%s", c.fault, p.report.Problems, len(p.letters), j, p.log)
		}
	}
}

// Beyond the margin a run that lives is taken for dead. It is said, and shown.
func TestAClockBeyondTheMarginIsSaidToBe(t *testing.T) {
	p := play(t, 15*time.Minute, nil, "skew sentinel by 5m at 10s")
	if p.outcomes != "L------L------L" || !strings.Contains(p.log, "clocks differ by 5m0s, BEYOND the skew margin of 10s: nothing is promised") {
		t.Errorf("got %s\n%s", p.outcomes, p.log)
	}
}

func TestTheLedgerShowsTheHandlersClock(t *testing.T) {
	for text, want := range map[string]string{"skew by 8s": "10:30:08", "skew dispatcher by -40s": "10:29:20"} {
		p := play(t, time.Minute, nil, text)
		if got := p.rows[0].ClaimedAt.Time().UTC().Format(time.TimeOnly); got != want {
			t.Errorf("%s: claimed at %s, want %s", text, got, want)
		}
	}
}

// A frozen run that thaws too late finds itself replaced, and the next one is not frozen.
func TestAFrozenRunThaws(t *testing.T) {
	for after, want := range map[time.Duration]string{90 * time.Second: "S--S--S--S--S--", 5 * time.Minute: "L--------S--S--"} {
		p := play(t, 15*time.Minute, func(c *Cloud) {
			time.Sleep(after)
			_, _ = c.Faults().End(1) // it is over already where the run is
		}, "freeze cleanup")
		checkInvariants(t, p)
		if p.outcomes != want {
			t.Errorf("thawed after %v: got %s, want %s\n%s", after, p.outcomes, want, p.log)
		}
	}
}

// Faults that never find an occasion are not counted.
func TestAFaultWithoutOccasionDoesNotCount(t *testing.T) {
	p := play(t, 2*time.Minute, nil, "kill report", "late cleanup by 5s at 1h")
	for _, f := range p.report.Faults {
		if f.Count != 0 {
			t.Errorf("got %+v", f)
		}
	}
}
