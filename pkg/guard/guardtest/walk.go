package guardtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cronfence/cronfence/pkg/guard"
	"github.com/cronfence/cronfence/pkg/guard/schema"
	"github.com/cronfence/cronfence/pkg/policy"
)

// Walked counts what random walks did, by name: steps that committed, outcomes, refusals.
type Walked map[string]int

// Walk makes a random sequence of the protocol's transitions of one job, decided on a memory
// store, and commits each to it and to s: every answer and at the end every row must be the
// same. The job is named after the seed, which is all it takes to walk the same way again.
func Walk(s guard.Store, seed uint64) (Walked, error) {
	w := &walker{
		rng: rand.New(rand.NewPCG(seed, 0)), ctx: context.Background(), mem: guard.NewMemory(), store: s,
		job: fmt.Sprintf("walk%d", seed), now: t0, done: Walked{},
	}
	w.spec = w.anySpec()
	err := w.walk(12 + w.rng.IntN(12))
	if err == nil {
		err = w.compare()
	}
	if err != nil {
		err = fmt.Errorf("walk %d, %v:\n%s\n%w", seed, w.spec.Overlap, strings.Join(w.trace, "\n"), err)
	}
	return w.done, err
}

type walker struct {
	rng   *rand.Rand
	ctx   context.Context
	mem   *guard.Memory
	store guard.Store
	job   string
	spec  schema.Spec
	now   guard.Millis

	token int
	runs  []guard.Row     // that were started at some time
	kept  []*guard.Commit // decided and not sent yet: others may be faster
	trace []string
	done  Walked
}

func (w *walker) anySpec() schema.Spec {
	s := Spec(w.job)
	s.Overlap = policy.Overlap(w.rng.IntN(4))
	s.Beats = s.Overlap != policy.Allow && w.maybe(60)
	s.KeepFirst = s.Overlap == policy.QueueOne && w.maybe(40)
	s.Fenced = s.Overlap != policy.Allow && w.maybe(30)
	s.Retries, s.RetrySeconds = w.rng.IntN(3), 600
	s.CatchUp, s.CatchUpMax = policy.CatchUp(w.rng.IntN(3)), 3
	s.StartDeadlineSeconds, s.GraceSeconds = 120, 30
	if w.maybe(40) {
		s.DrainSeconds = 45
	}
	return s
}

func (w *walker) maybe(percent int) bool { return w.rng.IntN(100) < percent }

func pick[T any](w *walker, from ...T) T { return from[w.rng.IntN(len(from))] }

func (w *walker) newToken() string {
	w.token++
	return fmt.Sprintf("%s-%d", w.job, w.token)
}

func (w *walker) walk(steps int) error {
	if err := w.do("make", w.deliver()); err != nil {
		return err
	}
	if w.maybe(60) {
		if err := w.do("establish", w.establish()); err != nil {
			return err
		}
	}
	for range steps {
		name, dec := w.step()
		if dec.Commit == nil {
			w.note("%s: nothing to do (verdict %d)", name, dec.Verdict)
		} else if w.maybe(8) {
			w.kept = append(w.kept, dec.Commit)
			w.note("%s: kept for later", name)
		} else if err := w.do(name, dec); err != nil {
			return err
		}
		w.now = w.now.Add(pick(w, 0, time.Millisecond, 5*time.Second, 10*time.Second, 20*time.Second, 20*time.Second, 40*time.Second, time.Minute, 2*time.Minute, 5*time.Minute))
	}
	return nil
}

// establish makes the guard that of a job which has ticked for long: ready, all on record. A
// new one takes a window to come there, and most steps of a walk would be blocked.
func (w *walker) establish() guard.Decision {
	dec := guard.Unblocked(*w.guard(), nil, w.newToken(), w.now)
	patch := &dec.Commit.Writes[0].Patch
	patch.Set = patch.Set.With("lastTick", minutes{}.Prev(w.now))
	w.now = w.now.Add(20 * time.Second) // past the new guard's version
	return dec
}

func (w *walker) note(format string, args ...any) {
	w.trace = append(w.trace, w.now.String()+" "+fmt.Sprintf(format, args...))
}

// do commits to both stores and compares their answers.
func (w *walker) do(name string, dec guard.Decision) error {
	err := w.mem.Commit(w.ctx, *dec.Commit)
	want, got := new(guard.Refused), new(guard.Refused)
	refused := errors.As(err, &want)
	if err != nil && !refused {
		return err
	}
	err = w.send(*dec.Commit)
	if err != nil && !errors.As(err, &got) {
		return fmt.Errorf("%s: %w", name, err)
	}
	w.note("%s: %s, refused %v", name, summary(*dec.Commit), refused)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || refused != (err != nil) {
		return fmt.Errorf("%s: refused %v by memory, %v by the store (-memory +store):\n%s", name, refused, err != nil, diff)
	}
	if refused {
		w.done["refused"]++
		return nil
	}
	w.learn(name, dec)
	return nil
}

// send repeats what a busy store did not decide.
func (w *walker) send(c guard.Commit) (err error) {
	for range 20 {
		if err = w.store.Commit(w.ctx, c); !errors.Is(err, guard.ErrBusy) {
			return err
		}
	}
	return err
}

func (w *walker) learn(name string, dec guard.Decision) {
	w.done[name]++
	w.done[string(dec.Row.Outcome)]++
	for _, row := range dec.Ended {
		w.done[string(row.Outcome)]++
	}
	for range dec.Gaps {
		w.done[string(guard.Missed)]++
	}
	if dec.Row.Outcome == guard.Running {
		w.runs = append(w.runs, dec.Row)
	}
	if dec.Next != nil {
		w.done["next"]++
		w.runs = append(w.runs, *dec.Next)
	}
	if dec.Lost != nil {
		w.done["retry"]++
	}
}

func summary(c guard.Commit) string {
	var keys []string
	for _, write := range c.Writes {
		keys = append(keys, write.SK)
	}
	return strings.Join(keys, " ")
}

// compare reads every row of the job from both stores.
func (w *walker) compare() error {
	type records struct {
		Guard *guard.Guard
		Rows  []guard.Row
		Gaps  []guard.Gap
	}
	read := func(s guard.Store) (r records, err error) {
		if r.Guard, err = s.Guard(w.ctx, w.job); err != nil {
			return r, err
		}
		page, err := s.Rows(w.ctx, guard.RowQuery{Job: w.job})
		if err != nil || page.Next != "" {
			return r, fmt.Errorf("rows, next page %q: %w", page.Next, err)
		}
		r.Rows = page.Rows
		r.Gaps, err = s.Gaps(w.ctx, w.job, "0", "9", 0)
		return r, err
	}
	want, err := read(w.mem)
	if err != nil {
		return err
	}
	got, err := read(w.store)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("records (-memory +store):\n%s", diff)
	}
	return nil
}
