package guard

import (
	"testing"

	"github.com/cronfence/cronfence/pkg/policy"
)

// What the sentinel takes as the instant from which on a success is expected.
func TestPauseThatEndsIsNoted(t *testing.T) {
	b := newBench(t, jobOf(policy.Skip))
	b.do(PauseJob(b.guard(), Pause{Why: "upgrade"}, "p"))
	d, err := ResumeJob(b.guard(), "r", t0+4)
	if err != nil {
		t.Fatal(err)
	}
	if b.do(d); b.guard().ResumedAt != t0+4 {
		t.Errorf("resumed at %v: want %v", b.guard().ResumedAt, t0+4)
	}
	b.do(PauseJob(b.guard(), Pause{Until: t0 + 30_000}, "p"))
	b.at(60)
	b.started(1)
	if g := b.guard(); g.Paused != nil || g.ResumedAt != t0+30_000 {
		t.Errorf("paused %v, resumed at %v: want the pause gone, and its end noted", g.Paused, g.ResumedAt)
	}
}

func TestSuccessBesideOthersIsTheJobsToo(t *testing.T) {
	b := newBench(t, jobOf(policy.Allow))
	first, second := b.started(0), b.at(60).started(1)
	b.at(90).settle(b.endOf(second, Succeeded))
	last := b.guard().LastSuccessAt
	if last != b.now {
		t.Errorf("last success at %v: want %v", last, b.now)
	}
	b.at(120).settle(b.endOf(first, Failed))
	if got := b.guard().LastSuccessAt; got != last {
		t.Errorf("last success at %v after a failure: want %v still", got, last)
	}
}
