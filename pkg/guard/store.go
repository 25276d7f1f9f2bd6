package guard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Store keeps guards and ledger rows. Every reading is consistent. Nothing but Commit
// writes.
type Store interface {
	// Commit applies all writes at once or none. It returns a *Refused when a condition
	// did not hold, and an error that wraps ErrBusy when the store could not be made to
	// decide (throttling, transactions in each other's way): that says nothing of any
	// condition, and the caller may try again.
	Commit(ctx context.Context, c Commit) error
	// Guard returns the job's guard, or nil when there is none.
	Guard(ctx context.Context, job string) (*Guard, error)
	// Row returns the ledger row of a tick, or nil when there is none.
	Row(ctx context.Context, job, tick string) (*Row, error)
	// Rows returns a page of the job's ledger rows in the order of their ticks' ids.
	Rows(ctx context.Context, q RowQuery) (RowPage, error)
	// Gaps returns the job's gaps that have a tick between two ids of planned ticks, both
	// included: the newest of them up to a limit, 0 for all, oldest first.
	Gaps(ctx context.Context, job, from, to string, limit int) ([]Gap, error)
	// Guards returns a page of all guards, in the order of their jobs, at most limit of them.
	// A guard made moments ago may be missing; those returned are as they are.
	Guards(ctx context.Context, after string, limit int) (GuardPage, error)
}

// GuardPage is part of the list of all guards. Next is empty on the last page.
type GuardPage struct {
	Guards []Guard
	// Unreadable has an error, which names the job, for each guard that is no record this
	// version can read: one that somebody broke by hand must not hide the others.
	Unreadable []error
	Next       string // pass as after
}

// RowQuery selects ledger rows of a job. The zero values select all of them.
type RowQuery struct {
	Job      string
	From, To string // ids of ticks, both included; empty is no bound
	OpenOnly bool   // rows without a final outcome only
	Newest   bool   // newest first
	Limit    int    // rows looked at in this page; 0 is the store's own choice
	After    string // RowPage.Next of the page before
}

// RowPage is part of a query's answer. Next is empty on the last page; a page may be
// empty and have a next one.
type RowPage struct {
	Rows []Row
	Next string
}

// Commit is a set of writes to the rows of one job, at most one a row.
type Commit struct {
	Job string
	// Token identifies the decision. A store that repeats a request repeats the token.
	Token  string
	Writes []Write
}

// Write changes one row if its condition holds. Without a patch it only checks.
type Write struct {
	SK string // schema.GuardSK, schema.TickSK(id) or schema.GapSK(from)
	// Absent requires that the row is not there; If is empty then.
	Absent bool
	// OrAbsent lets the write pass when the row is not there: somebody may have deleted it.
	OrAbsent bool
	If       []Cond
	Patch    Patch
}

// Op compares a field with a value.
type Op int

// The comparisons. A field that is not set compares as missing: only Missing,
// MissingOrLess and MissingOrGreater accept it.
const (
	Missing Op = iota
	Is
	Less
	AtLeast
	Greater
	MissingOrLess
	MissingOrGreater
)

// Cond is a comparison of one field, named as in JSON; "run.id" looks into the map.
type Cond struct {
	Field string
	Op    Op
	Value any // nil for Missing
}

// Patch says what a write changes. Maps are set and removed whole.
type Patch struct {
	Set    Fields
	Remove []string
	Add    map[string]int64
}

// Field is a field of a record, named as in JSON, with a value as the record has it.
type Field struct {
	Name  string
	Value any
}

// Fields are fields of one record, each at most once, in any order.
type Fields []Field

// Get returns the value of a field, or nil.
func (f Fields) Get(name string) any {
	if i := f.index(name); i >= 0 {
		return f[i].Value
	}
	return nil
}

// With returns the fields with one of them set.
func (f Fields) With(name string, value any) Fields {
	if i := f.index(name); i >= 0 {
		f = slices.Clone(f)
		f[i].Value = value
		return f
	}
	return append(f[:len(f):len(f)], Field{name, value})
}

// Without returns the fields but one.
func (f Fields) Without(name string) Fields {
	if i := f.index(name); i >= 0 {
		return slices.Delete(slices.Clone(f), i, i+1)
	}
	return f
}

func (f Fields) index(name string) int {
	return slices.IndexFunc(f, func(field Field) bool { return field.Name == name })
}

// Empty tells whether the patch changes nothing.
func (p Patch) Empty() bool { return len(p.Set) == 0 && len(p.Remove) == 0 && len(p.Add) == 0 }

// Refused says that a condition did not hold, and shows the rows it did not hold for as
// they were. Rows whose own condition held are not shown.
type Refused struct {
	GuardRefused bool
	Guard        *Guard          // nil when there is none
	Rows         map[string]*Row // by tick; nil when there is none
	Gaps         []string        // sort keys of gaps
}

// Error names what was refused.
func (r *Refused) Error() string {
	var what []string
	if r.GuardRefused {
		what = append(what, "guard")
	}
	for tick := range r.Rows {
		what = append(what, "tick "+tick)
	}
	what = append(what, r.Gaps...)
	return fmt.Sprintf("condition refused: %s", strings.Join(what, ", "))
}

// ErrBusy says that the store was throttled or in conflict and decided nothing.
var ErrBusy = errors.New("store is busy")

// IsGap tells whether a sort key is that of a gap.
func IsGap(sk string) bool { return strings.HasPrefix(sk, schema.GapSK("")) }

// TickOf returns the tick whose row has this sort key.
func TickOf(sk string) string { return strings.TrimPrefix(sk, schema.TickSK("")) }
