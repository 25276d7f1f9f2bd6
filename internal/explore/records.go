package explore

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// record is an interned guard: equal guards are one pointer.
type record struct {
	guard.Guard
	id uint64
}

// row is an interned ledger row.
type row struct {
	guard.Row
	id uint64
}

// value returns a copy that a call may keep.
func (r *record) value() *guard.Guard {
	if r == nil {
		return nil
	}
	g := r.Guard
	return &g
}

func (r *row) value() *guard.Row {
	if r == nil {
		return nil
	}
	v := r.Row
	return &v
}

// records are all rows of the job. They never change: a commit makes others.
type records struct {
	guard *record
	rows  []*row // by tick
	gaps  []guard.Gap
	id    uint64
}

func (r *records) row(tick string) *row {
	for _, x := range r.rows {
		if x.Tick == tick {
			return x
		}
	}
	return nil
}

// committed is what a commit made of some records: others, or the same and a refusal.
type committed struct {
	after  *records
	answer answer
}

// commit is what guard.Memory does, on values. keepToken leaves the writer's token in the
// rows, for a request that is going to be repeated and must know its own write.
func (x *explorer) commit(before *records, c *guard.Commit, keepToken bool) committed {
	if r := x.refusal(before, c); r != nil {
		return committed{before, answer{err: r}}
	}
	g, rows, gaps := before.guard.value(), slices.Clone(before.rows), slices.Clone(before.gaps)
	for _, w := range c.Writes {
		switch {
		case w.Patch.Empty():
		case w.SK == schema.GuardSK:
			if g == nil {
				g = &guard.Guard{Job: c.Job}
			}
			*g = g.Apply(w.Patch)
		case guard.IsGap(w.SK):
			gaps = applyGap(gaps, c.Job, w)
		default:
			rows = x.applyRow(rows, c.Job, w, keepToken)
		}
	}
	return committed{x.internRecords(x.internGuard(g), rows, gaps), answer{}}
}

func (x *explorer) applyRow(rows []*row, job string, w guard.Write, keepToken bool) []*row {
	tick := guard.TickOf(w.SK)
	i, there := slices.BinarySearchFunc(rows, tick, func(r *row, t string) int { return strings.Compare(r.Tick, t) })
	r := guard.Row{Job: job}
	if there {
		r = rows[i].Row
	}
	r = r.Apply(w.Patch)
	if !keepToken {
		r.Token = ""
	}
	if there {
		rows[i] = x.internRow(r)
		return rows
	}
	return slices.Insert(rows, i, x.internRow(r))
}

// gapIndex finds a gap by its key, which is its first tick; -1 is none.
func gapIndex(gaps []guard.Gap, sk string) int {
	return slices.IndexFunc(gaps, func(g guard.Gap) bool { return schema.GapSK(schema.TickID(g.From.Time())) == sk })
}

func applyGap(gaps []guard.Gap, job string, w guard.Write) []guard.Gap {
	if i := gapIndex(gaps, w.SK); i >= 0 {
		gaps[i] = gaps[i].Apply(w.Patch)
		return gaps
	}
	return append(gaps, guard.Gap{Job: job}.Apply(w.Patch))
}

// refusal returns what refuses the commit, interned, or nil.
func (x *explorer) refusal(at *records, c *guard.Commit) error {
	var r guard.Refused
	for _, w := range c.Writes {
		switch {
		case w.SK == schema.GuardSK:
			g := at.guard
			if !passes(w, g != nil, func() bool { return g.Holds(w.If) }) {
				r.GuardRefused, r.Guard = true, g.value()
			}
		case guard.IsGap(w.SK):
			i := gapIndex(at.gaps, w.SK)
			if !passes(w, i >= 0, func() bool { return at.gaps[i].Holds(w.If) }) {
				r.Gaps = append(r.Gaps, w.SK)
			}
		default:
			tick := guard.TickOf(w.SK)
			row := at.row(tick)
			if !passes(w, row != nil, func() bool { return row.Holds(w.If) }) {
				if r.Rows == nil {
					r.Rows = map[string]*guard.Row{}
				}
				r.Rows[tick] = row.value()
			}
		}
	}
	if !r.GuardRefused && len(r.Rows) == 0 && len(r.Gaps) == 0 {
		return nil
	}
	return x.refusals.intern(string(encode(r)), func(uint64) *guard.Refused { return &r })
}

func passes(w guard.Write, there bool, holds func() bool) bool {
	if !there {
		return w.Absent || w.OrAbsent
	}
	return !w.Absent && holds()
}

// query answers as guard.Memory does, in one page: no call of the model has more rows than
// fit into one.
func (x *explorer) query(at *records, q guard.RowQuery) *page {
	var p guard.RowPage
	looked := 0
	for _, r := range at.rows {
		if q.From != "" && r.Tick < q.From || q.To != "" && r.Tick > q.To || q.After != "" && r.Tick < q.After {
			continue
		}
		if q.Limit > 0 && looked == q.Limit {
			p.Next = r.Tick
			break
		}
		looked++
		if !q.OpenOnly || !r.Outcome.Final() {
			p.Rows = append(p.Rows, r.Row)
		}
	}
	return x.pages.intern(string(encode(p)), func(id uint64) *page { return &page{p, id} })
}

// encode writes a record for comparison: the JSON names every field, those of the future too.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // records are plain values
	}
	return b
}
