package explore

import (
	"encoding/binary"

	"github.com/cronfence/cronfence/internal/machine"

	"github.com/cronfence/cronfence/pkg/guard"
)

// interned keeps one value of each content. A value's id is a hash of nothing but the order
// in which values came to be known, spread over 64 bits.
type interned[T any] struct {
	byContent map[string]*T
	ids       *uint64
}

func newInterned[T any](ids *uint64) interned[T] {
	return interned[T]{map[string]*T{}, ids}
}

func (in *interned[T]) intern(content string, make func(id uint64) *T) *T {
	if v, ok := in.byContent[content]; ok {
		return v
	}
	*in.ids++
	v := make(mix(*in.ids))
	in.byContent[content] = v
	return v
}

// mix spreads a number over 64 bits (splitmix64).
func mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// internGuard interns what transitions read of a guard. Dropped are notes for people; a test
// shows that no transition reads them.
func (x *explorer) internGuard(g *guard.Guard) *record {
	if g == nil {
		return nil
	}
	p := *g
	if p.Spec != nil && *p.Spec == *x.spec {
		p.Spec = nil // the one there is
	}
	if !x.cfg.full {
		p.TTL, p.LastSuccessAt, p.Last = 0, 0, nil
		if p.Mark != nil {
			p.Mark = &guard.Mark{Why: p.Mark.Why}
		}
		if p.Stop != nil {
			p.Stop = &guard.StopRequest{}
		}
		if p.Waiting != nil {
			w := *p.Waiting
			w.Since = 0
			p.Waiting = &w
		}
	}
	return x.guards.intern(string(encode(p)), func(id uint64) *record {
		if p.Spec == nil {
			p.Spec = x.spec
		}
		return &record{p, id}
	})
}

// internRow interns what transitions read of a row; see internGuard.
func (x *explorer) internRow(r guard.Row) *row {
	if !x.cfg.full {
		r.Why, r.ClaimedAt, r.StartedAt, r.EndedAt = "", 0, 0, 0
		r.RunTime, r.Ratio, r.Delay, r.Holder = 0, 0, 0, nil
		r.Error, r.Cause, r.TTL = "", "", 0
		if r.Outcome.Final() {
			r.NotBefore, r.RetryUntil, r.StartBy, r.MaxRunUntil = 0, 0, 0, 0
		}
	}
	return x.rows.intern(string(encode(r)), func(id uint64) *row { return &row{r, id} })
}

func (x *explorer) internRecords(g *record, rows []*row, gaps []guard.Gap) *records {
	key := make([]byte, 0, 64)
	if g != nil {
		key = binary.LittleEndian.AppendUint64(key, g.id)
	}
	for _, r := range rows {
		key = binary.LittleEndian.AppendUint64(key, r.id)
	}
	for _, gap := range gaps {
		key = binary.LittleEndian.AppendUint64(key, uint64(gap.From))
		key = binary.LittleEndian.AppendUint64(key, uint64(gap.To))
	}
	key = append(key, byte(len(rows)), byte(len(gaps)))
	return x.recs.intern(string(key), func(id uint64) *records { return &records{g, rows, gaps, id} })
}

func (x *explorer) internSight(s machine.Execution) *sighting {
	if v, ok := x.sights[s]; ok {
		return v
	}
	x.lastID++
	v := &sighting{s, mix(x.lastID)}
	x.sights[s] = v
	return v
}

func (x *explorer) internAnswer(a answer) *heard {
	if v, ok := x.answers[a]; ok {
		return v
	}
	x.lastID++
	v := &heard{a, mix(x.lastID)}
	x.answers[a] = v
	return v
}
