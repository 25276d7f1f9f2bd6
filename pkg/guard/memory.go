package guard

import (
	"context"
	"slices"
	"sync"

	"github.com/cronfence/cronfence/pkg/guard/schema"
)

// Memory is a Store in memory: for `cronfence dev`, simulations and tests. Its
// transactions are serial.
type Memory struct {
	mu   sync.Mutex
	jobs map[string]*memoryJob
}

type memoryJob struct {
	guard *Guard
	rows  map[string]Row // by tick
	ticks []string       // the rows' ticks in order
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{jobs: map[string]*memoryJob{}} }

func (m *Memory) job(name string) *memoryJob {
	j := m.jobs[name]
	if j == nil {
		j = &memoryJob{rows: map[string]Row{}}
		m.jobs[name] = j
	}
	return j
}

// Commit implements Store.
func (m *Memory) Commit(ctx context.Context, c Commit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.job(c.Job)
	refused := Refused{Rows: map[string]*Row{}}
	for _, w := range c.Writes {
		j.check(w, &refused)
	}
	if refused.GuardRefused || len(refused.Rows) > 0 {
		return &refused
	}
	for _, w := range c.Writes {
		j.apply(c.Job, w)
	}
	return nil
}

func (j *memoryJob) check(w Write, refused *Refused) {
	if w.SK == schema.GuardSK {
		if !passes(w, j.guard != nil, func() bool { return j.guard.Holds(w.If) }) {
			refused.GuardRefused, refused.Guard = true, clone(j.guard)
		}
		return
	}
	tick := TickOf(w.SK)
	row, there := j.rows[tick]
	if !passes(w, there, func() bool { return row.Holds(w.If) }) {
		refused.Rows[tick] = nil
		if there {
			refused.Rows[tick] = &row
		}
	}
}

func passes(w Write, there bool, holds func() bool) bool {
	if !there {
		return w.Absent || w.OrAbsent
	}
	return !w.Absent && holds()
}

func (j *memoryJob) apply(job string, w Write) {
	if w.Patch.Empty() {
		return
	}
	if w.SK == schema.GuardSK {
		g := Guard{Job: job}
		if j.guard != nil {
			g = *j.guard
		}
		g = g.Apply(w.Patch)
		j.guard = &g
		return
	}
	tick := TickOf(w.SK)
	row, there := j.rows[tick]
	if !there {
		row.Job = job
		at, _ := slices.BinarySearch(j.ticks, tick)
		j.ticks = slices.Insert(j.ticks, at, tick)
	}
	j.rows[tick] = row.Apply(w.Patch)
}

// Guard implements Store.
func (m *Memory) Guard(_ context.Context, job string) (*Guard, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if j := m.jobs[job]; j != nil {
		return clone(j.guard), nil
	}
	return nil, nil
}

// Row implements Store.
func (m *Memory) Row(_ context.Context, job, tick string) (*Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if j := m.jobs[job]; j != nil {
		if row, there := j.rows[tick]; there {
			return &row, nil
		}
	}
	return nil, nil
}

// Rows implements Store.
func (m *Memory) Rows(_ context.Context, q RowQuery) (RowPage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.jobs[q.Job]
	if j == nil {
		return RowPage{}, nil
	}
	var page RowPage
	looked := 0
	for _, tick := range j.between(q) {
		if q.Limit > 0 && looked == q.Limit {
			page.Next = tick
			break
		}
		looked++
		if row := j.rows[tick]; !q.OpenOnly || !row.Outcome.Final() {
			page.Rows = append(page.Rows, row)
		}
	}
	return page, nil
}

// between returns the ticks the query still has to look at, in its order. A page's Next
// is the first tick of the page after it.
func (j *memoryJob) between(q RowQuery) []string {
	lo, hi := 0, len(j.ticks)
	if q.From != "" {
		lo, _ = slices.BinarySearch(j.ticks, q.From)
	}
	if q.To != "" {
		i, found := slices.BinarySearch(j.ticks, q.To)
		if hi = i; found {
			hi++
		}
	}
	ticks := slices.Clone(j.ticks[lo:max(lo, hi)])
	if q.Newest {
		slices.Reverse(ticks)
	}
	if q.After != "" {
		ticks = ticks[max(0, slices.Index(ticks, q.After)):]
	}
	return ticks
}

func clone(g *Guard) *Guard {
	if g == nil {
		return nil
	}
	c := *g
	return &c
}
