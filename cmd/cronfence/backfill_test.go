package main

import (
	"testing"

	"github.com/cronfence/cronfence/internal/ops"
)

// A backfill of the wrong range is ended on the record, and the right one follows.
func TestABackfillCanBeEndedForAReason(t *testing.T) {
	w := newTown(t)
	w.lived()
	dev := " --dev " + w.url
	const first = " --from 2026-09-01T00:00:00Z --to 2026-09-04T00:00:00Z"
	expect(t, "backfill report --cancel --reason hasty"+dev, 3, "", "nothing to end")
	expect(t, "backfill report"+first+dev, 0, "it goes on by itself", "")
	expect(t, "backfill report"+first+dev, 3, "", "`cronfence backfill report --cancel --reason WHY --dev "+w.url+"` ends it")
	expect(t, "backfill report --cancel"+dev, 2, "", "--reason is not set")
	expect(t, "backfill report --cancel --reason hasty"+first+dev, 2, "", "goes with --reason, --by and --dry-run only")
	expect(t, "backfill report --cancel --reason hasty --dry-run"+dev, 0, "dry run, nothing is changed: the backfill of report is ended", "")
	s := document[ops.Status](t, "backfill report --cancel --reason hasty --by alice --json"+dev, 0)
	if s.Backlog != nil || s.BacklogEnd == nil || s.BacklogEnd.Why != "hasty" || s.BacklogEnd.By != "alice" || s.BacklogEnd.Left != 3 || s.Holder == nil {
		t.Errorf("status %+v, end %+v: want the rest ended and the run left alone", s, s.BacklogEnd)
	}
	expect(t, "status report"+dev, 0, "backfill by alice at", "")
	expect(t, "backfill report"+first+dev, 0, "it goes on by itself", "")
}

func TestABackfillIsBounded(t *testing.T) {
	w := newTown(t)
	w.lived()
	dev := " --dev " + w.url
	const many, far, future = " --from 2026-09-06T00:00:00Z --to 2026-09-07T00:00:00Z", " --from 0001-01-01T00:00:00Z --to 2026-09-07T00:00:00Z", " --from 2026-09-06T00:00:00Z --to 2036-09-07T00:00:00Z"
	expect(t, "backfill cleanup"+many+dev, 2, "", "has 1441 ticks: more than 1000 need --yes")
	expect(t, "backfill cleanup --yes --dry-run"+many+dev, 0, "1441 ticks", "")
	expect(t, "backfill cleanup --yes"+far+dev, 2, "", "must be at most 10000")
	expect(t, "backfill cleanup --yes"+future+dev, 2, "", "must be in the past")
	if f := document[failure](t, "backfill cleanup --json"+future+dev, 2); f.Kind != "invalid" {
		t.Errorf("%+v", f)
	}
	if g := w.Guard("cleanup"); g.Backlog != nil {
		t.Errorf("backlog %+v", g.Backlog)
	}
}

// What a text tells to do can be copied: it asks the same scheduler.
func TestHintsAskTheSameScheduler(t *testing.T) {
	w := newTown(t)
	w.lived()
	dev := " --dev " + w.url
	expect(t, "run cleanup"+dev, 3, "", "--overlap queue-one")
	expect(t, "pause cleanup --reason rebuild"+dev, 0, "cleanup is paused", "")
	expect(t, "run report --overlap allow"+dev, 3, "", "see `cronfence status report"+dev+"`")
	expect(t, "why cleanup manual-2026-09-07T01:00:00.000Z"+dev, 0, "`cronfence history cleanup"+dev+"`", "")
	expect(t, "status"+dev, 2, "", "see `cronfence status --help`")
}
