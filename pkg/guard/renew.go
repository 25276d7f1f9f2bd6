package guard

import (
	"time"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Beat is a run's request to renew its lease.
type Beat struct {
	Job   string
	Tick  string
	Run   string
	Fence int64
	Lease time.Duration
}

// Renewal is the answer to a beat.
type Renewal int

// The answers. All but Renewed and Ending end the run.
const (
	Renewed     Renewal = iota
	Ending              // the run has been settled: its states are about to end by themselves
	LostLease           // the guard is another's, gone or marked
	HadMaxTime          // the run had its maximum run time
	AskedToStop         // a newer tick replaces the run
)

// BlindBeat returns the one write that renews the lease. It is conditional on the run, the
// fence and the absence of a mark alone: a late beat is as good as any other as long as
// nobody took the guard meanwhile. It never makes a guard and never acquires one.
func BlindBeat(b Beat, now Millis) Commit {
	until := now.Add(b.Lease)
	return Commit{Job: b.Job, Writes: []Write{{
		SK: schema.GuardSK,
		If: append(runNeeds(b.Run, b.Fence),
			Cond{"mark", Missing, nil},
			Cond{"maxRunUntil", Greater, now},
			Cond{"leaseUntil", Less, until},
			Cond{"stopDeadline", MissingOrGreater, now},
		),
		Patch: Patch{Set: Fields{{"leaseUntil", until}}, Add: map[string]int64{"version": 1}},
	}}}
}

// JudgeBeat says what a refused beat means, from the guard and the row as they are.
// until is what the beat wanted to set; row may be nil.
func JudgeBeat(b Beat, g *Guard, row *Row, until, now Millis) Renewal {
	if g.heldBy(b.Run, b.Fence) && g.Mark == nil {
		if g.MaxRunUntil <= now {
			return HadMaxTime
		}
		if g.Stop != nil && g.StopDeadline <= now {
			return AskedToStop
		}
		if g.LeaseUntil >= until { // the beat's own write, repeated, or a faster clock's
			return Renewed
		}
	}
	if row != nil && row.Fence == b.Fence && (row.Outcome == Succeeded || row.Outcome == Failed) {
		return Ending
	}
	return LostLease
}

// heldBy tells whether the guard is there and this run's.
func (g *Guard) heldBy(run string, fence int64) bool {
	return g != nil && g.Run != nil && g.Run.ID == run && g.Fence == fence
}
