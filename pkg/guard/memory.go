package guard

import (
	"cmp"
	"context"
	"maps"
	"reflect"
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
	rows  map[string]*Row // by tick
	ticks []string        // the rows' ticks in order
	gaps  map[string]Gap  // by sort key
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{jobs: map[string]*memoryJob{}} }

func (m *Memory) job(name string) *memoryJob {
	j := m.jobs[name]
	if j == nil {
		j = &memoryJob{rows: map[string]*Row{}, gaps: map[string]Gap{}}
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
	var refused Refused
	for _, w := range c.Writes {
		j.check(w, &refused)
	}
	if refused.GuardRefused || len(refused.Rows) > 0 || len(refused.Gaps) > 0 {
		return &refused
	}
	for _, w := range c.Writes {
		if !w.Patch.Empty() {
			j.apply(c.Job, w)
		}
	}
	return nil
}

func (j *memoryJob) check(w Write, refused *Refused) {
	switch {
	case w.SK == schema.GuardSK:
		if !passes(w, j.guard != nil, func() bool { return allHold(guardFields, reflect.ValueOf(j.guard).Elem(), w.If) }) {
			refused.GuardRefused, refused.Guard = true, clone(j.guard)
		}
	case IsGap(w.SK):
		gap, there := j.gaps[w.SK]
		if !passes(w, there, func() bool { return gap.Holds(w.If) }) {
			refused.Gaps = append(refused.Gaps, w.SK)
		}
	default:
		tick := TickOf(w.SK)
		row := j.rows[tick]
		if passes(w, row != nil, func() bool { return allHold(rowFields, reflect.ValueOf(row).Elem(), w.If) }) {
			return
		}
		if refused.Rows == nil {
			refused.Rows = map[string]*Row{}
		}
		refused.Rows[tick] = clone(row)
	}
}

func passes(w Write, there bool, holds func() bool) bool {
	if !there {
		return w.Absent || w.OrAbsent
	}
	return !w.Absent && holds()
}

func (j *memoryJob) apply(job string, w Write) {
	switch {
	case w.SK == schema.GuardSK:
		if j.guard == nil {
			j.guard = &Guard{Job: job}
		}
		guardFields.apply(reflect.ValueOf(j.guard).Elem(), w.Patch)
	case IsGap(w.SK):
		gap := j.gaps[w.SK]
		gap.Job = job
		j.gaps[w.SK] = gap.Apply(w.Patch)
	default:
		tick := TickOf(w.SK)
		row := j.rows[tick]
		if row == nil {
			row = &Row{Job: job}
			j.rows[tick] = row
			at, _ := slices.BinarySearch(j.ticks, tick)
			j.ticks = slices.Insert(j.ticks, at, tick)
		}
		rowFields.apply(reflect.ValueOf(row).Elem(), w.Patch)
	}
}

// Delete removes a row of a job, as a person or TTL would: no transition does.
func (m *Memory) Delete(job, sk string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.job(job)
	switch {
	case sk == schema.GuardSK:
		j.guard = nil
	case IsGap(sk):
		delete(j.gaps, sk)
	default:
		tick := TickOf(sk)
		delete(j.rows, tick)
		if at, found := slices.BinarySearch(j.ticks, tick); found {
			j.ticks = slices.Delete(j.ticks, at, at+1)
		}
	}
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

// Guards implements Store.
func (m *Memory) Guards(_ context.Context, after string, limit int) (GuardPage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var page GuardPage
	for _, job := range slices.Sorted(maps.Keys(m.jobs)) {
		g := m.jobs[job].guard
		if g == nil || job <= after {
			continue
		}
		if limit > 0 && len(page.Guards) == limit {
			page.Next = page.Guards[limit-1].Job
			break
		}
		page.Guards = append(page.Guards, *g)
	}
	return page, nil
}

// Row implements Store.
func (m *Memory) Row(_ context.Context, job, tick string) (*Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if j := m.jobs[job]; j != nil {
		return clone(j.rows[tick]), nil
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
	for i := range j.selected(q) {
		tick := j.ticks[i]
		if q.Limit > 0 && looked == q.Limit {
			page.Next = tick
			break
		}
		looked++
		if row := j.rows[tick]; !q.OpenOnly || !row.Outcome.Final() {
			page.Rows = append(page.Rows, *row)
		}
	}
	return page, nil
}

// selected yields the places of the ticks that the query still has to look at, in its
// order. A page's Next is the first tick of the page after it.
func (j *memoryJob) selected(q RowQuery) func(yield func(int) bool) {
	from, to := q.From, q.To
	if q.After != "" && q.Newest {
		to = q.After
	} else if q.After != "" {
		from = q.After
	}
	lo, hi := 0, len(j.ticks)
	if from != "" {
		lo, _ = slices.BinarySearch(j.ticks, from)
	}
	if to != "" {
		i, found := slices.BinarySearch(j.ticks, to)
		if hi = i; found {
			hi++
		}
	}
	return func(yield func(int) bool) {
		for n := range max(0, hi-lo) {
			i := lo + n
			if q.Newest {
				i = hi - 1 - n
			}
			if !yield(i) {
				return
			}
		}
	}
}

// Gaps implements Store.
func (m *Memory) Gaps(_ context.Context, job, from, to string, limit int) ([]Gap, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var gaps []Gap
	if j := m.jobs[job]; j != nil {
		for sk, gap := range j.gaps {
			if sk <= schema.GapSK(to) && schema.TickID(gap.To.Time()) >= from {
				gaps = append(gaps, gap)
			}
		}
	}
	slices.SortFunc(gaps, func(a, b Gap) int { return cmp.Compare(a.To, b.To) })
	if limit > 0 && len(gaps) > limit {
		gaps = gaps[len(gaps)-limit:]
	}
	return gaps, nil
}

func clone[T any](record *T) *T {
	if record == nil {
		return nil
	}
	c := *record
	return &c
}
