package guardtest

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/anishathalye/porcupine"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// records are one job's, as they are after a prefix of a history. They are never changed.
type records struct {
	guard *guard.Guard
	rows  map[string]guard.Row
}

// model says what one commit or reading after the other answers.
func model(g *guard.Guard) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return records{guard: g} },
		Step: func(state, input, output any) (bool, any) {
			r, in, out := state.(records), input.(call), output.(answer)
			switch {
			case in.commit != nil:
				refused, next := r.commit(*in.commit)
				return same(refused, out.refused), next
			case in.tick != "":
				row, there := r.rows[in.tick]
				return there == (out.row != nil) && (!there || reflect.DeepEqual(row, *out.row)), r
			default:
				return reflect.DeepEqual(r.guard, out.guard), r
			}
		},
		Equal: func(a, b any) bool { return reflect.DeepEqual(a, b) },
		DescribeOperation: func(input, output any) string {
			return fmt.Sprintf("%+v -> %+v", input, output)
		},
	}
}

// commit returns why it is refused, or the records after it.
func (r records) commit(c guard.Commit) (*guard.Refused, records) {
	refused := &guard.Refused{Rows: map[string]*guard.Row{}}
	next := records{guard: r.guard, rows: maps.Clone(r.rows)}
	if next.rows == nil {
		next.rows = map[string]guard.Row{}
	}
	ok := true
	for _, w := range c.Writes {
		if w.SK == schema.GuardSK {
			if r.guard == nil || !r.guard.Holds(w.If) {
				ok, refused.GuardRefused, refused.Guard = false, true, r.guard
				continue
			}
			g := r.guard.Apply(w.Patch)
			next.guard = &g
			continue
		}
		tick := guard.TickOf(w.SK)
		row, there := r.rows[tick]
		if there && (w.Absent || !row.Holds(w.If)) || !there && !w.Absent && !w.OrAbsent {
			ok, refused.Rows[tick] = false, nil
			if there {
				refused.Rows[tick] = &row
			}
			continue
		}
		if row.Job = c.Job; !w.Patch.Empty() {
			next.rows[tick] = row.Apply(w.Patch)
		}
	}
	if !ok {
		return refused, r
	}
	return nil, next
}

func same(want, got *guard.Refused) bool {
	if want == nil || got == nil {
		return want == got
	}
	if want.GuardRefused != got.GuardRefused || len(want.Rows) != len(got.Rows) || len(got.Gaps) > 0 {
		return false
	}
	return reflect.DeepEqual(want.Guard, got.Guard) && (len(want.Rows) == 0 || reflect.DeepEqual(want.Rows, got.Rows))
}
