package jobtest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencesql"
	"github.com/cronfence/cronfence/pkg/job/internal/fencetest"
	"github.com/cronfence/cronfence/pkg/job/jobtest"
)

// shop is a sample job's database: the job closes orders, books them and says that it did.
type shop struct {
	db     *sql.DB
	resets int
	point  func(context.Context) // around what lookThenBook writes
}

func newShop(t testing.TB) *shop {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	return &shop{db: db, point: func(context.Context) {}}
}

func (s *shop) reset(ctx context.Context) error {
	s.resets++
	for _, statement := range []string{
		"DROP TABLE IF EXISTS " + fencesql.Table, fencesql.Schema(fencesql.SQLite),
		"DROP TABLE IF EXISTS orders", "CREATE TABLE orders (id INT, status TEXT, closed_by TEXT, fence BIGINT NOT NULL DEFAULT 0)",
		"INSERT INTO orders (id, status, closed_by) VALUES (1, 'open', ''), (2, 'open', '')",
		"DROP TABLE IF EXISTS booked", "CREATE TABLE booked (amount INT)", "INSERT INTO booked VALUES (0)",
	} {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

func (s *shop) state(ctx context.Context) (any, error) {
	var state string
	err := s.db.QueryRowContext(ctx, "SELECT (SELECT group_concat(status || closed_by) FROM orders) || ' booked ' || (SELECT amount FROM booked)").Scan(&state)
	return state, err
}

func (s *shop) fenced(ctx context.Context, run job.Run, query string, args ...any) error {
	return fencesql.Tx(ctx, s.db, fencesql.SQLite, run, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
}

func (s *shop) plain(ctx context.Context, query string, args ...any) error {
	_, err := s.db.ExecContext(ctx, query, args...)
	return err
}

const (
	closeOrder = "UPDATE orders SET status = 'closed ', closed_by = ? WHERE id = ?"
	book       = "UPDATE booked SET amount = amount + 10"
)

func (s *shop) allFenced(ctx context.Context, run job.Run) error {
	for id := range 2 {
		if err := s.fenced(ctx, run, closeOrder, run.Tick, id+1); err != nil {
			return err
		}
	}
	return s.fenced(ctx, run, book)
}

// planted books past the fence.
func (s *shop) planted(ctx context.Context, run job.Run) error {
	for id := range 2 {
		if err := s.fenced(ctx, run, closeOrder, run.Tick, id+1); err != nil {
			return err
		}
	}
	return s.plain(ctx, book)
}

func (s *shop) plantedFirst(ctx context.Context, run job.Run) error {
	return errors.Join(s.plain(ctx, book), s.fenced(ctx, run, closeOrder, run.Tick, 1))
}

func (s *shop) noneFenced(ctx context.Context, run job.Run) error {
	return errors.Join(s.plain(ctx, closeOrder, run.Tick, 1), s.plain(ctx, closeOrder, run.Tick, 2))
}

// checked is a transaction of the author's own.
func (s *shop) checked(ctx context.Context, run job.Run) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	if err := fencesql.Check(ctx, tx, fencesql.SQLite, run); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, closeOrder, run.Tick, 1); err != nil {
		return err
	}
	return tx.Commit()
}

// ownRow is one statement that checks the fence in its row.
func (s *shop) ownRow(ctx context.Context, db fencesql.Execer, run job.Run) error {
	return fencesql.Exec(ctx, db, run, "UPDATE orders SET status = 'closed ', closed_by = $1, fence = $2 WHERE id = 1 AND fence <= $2", run.Tick, run.Fence)
}

// lookThenBook checks a fence by itself, and then writes without one.
func (s *shop) lookThenBook(ctx context.Context, run job.Run) error {
	var seen int64
	if err := s.db.QueryRowContext(ctx, "SELECT fence FROM orders WHERE id = 1").Scan(&seen); err != nil {
		return err
	}
	if seen > run.Fence {
		return &job.FencedError{Fence: run.Fence, Seen: seen}
	}
	s.point(ctx)
	defer s.point(ctx)
	return s.plain(ctx, "UPDATE orders SET status = 'closed ', closed_by = $1, fence = $2 WHERE id = 1", run.Tick, run.Fence)
}

// between is late only when the run is held between its two plain writes.
func (s *shop) between(ctx context.Context, _ job.Run) error {
	var seen int
	if err := s.db.QueryRowContext(ctx, "SELECT amount FROM booked").Scan(&seen); err != nil {
		return err
	}
	job.Point(ctx)
	if seen >= 10 {
		return nil // somebody else did it
	}
	return s.plain(ctx, book)
}

func TestTheDrillPassesAJobWhoseWritesAreAllFenced(t *testing.T) {
	s := newShop(t)
	tried := jobtest.Drill(t, jobtest.Job{Work: s.allFenced, Reset: s.reset, State: s.state})
	if tried != 57 || s.resets != 59 { // 6 points: 7 + 1 + 49, after two rehearsals
		t.Errorf("%d interleavings, %d resets", tried, s.resets)
	}
}

func TestTheDrillFindsAPlantedWrite(t *testing.T) {
	for name, work := range map[string]func(s *shop) job.Work{
		"after fenced ones":       func(s *shop) job.Work { return s.planted },
		"before a fenced one":     func(s *shop) job.Work { return s.plantedFirst },
		"nothing fenced":          func(s *shop) job.Work { return s.noneFenced },
		"between a look and a do": func(s *shop) job.Work { return s.between },
	} {
		s := newShop(t)
		said := fencetest.Drill(t, jobtest.Job{Work: work(s), Reset: s.reset, State: s.state})
		if !strings.Contains(said, "a late write landed") {
			t.Errorf("%s: the drill says %q", name, said)
		}
	}
}

func TestTheDrillSeesPastEachWayToFenceInSQL(t *testing.T) {
	for name, work := range map[string]func(s *shop) job.Work{
		"Tx": func(s *shop) job.Work { return s.allFenced },
		"Exec": func(s *shop) job.Work {
			return func(ctx context.Context, run job.Run) error { return s.ownRow(ctx, s.db, run) }
		},
		"Exec in a transaction": func(s *shop) job.Work {
			return func(ctx context.Context, run job.Run) error {
				defer job.Point(ctx)
				tx, err := s.db.BeginTx(ctx, nil)
				if err != nil {
					return err
				}
				return errors.Join(s.ownRow(ctx, tx, run), tx.Commit())
			}
		},
		"Check": func(s *shop) job.Work {
			return func(ctx context.Context, run job.Run) error {
				defer job.Point(ctx)
				return s.checked(ctx, run)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			plain := func(ctx context.Context, _ job.Run) error { return s.plain(ctx, book) }
			fencetest.DrillSees(t, jobtest.Job{Work: work(s), Reset: s.reset, State: s.state}, plain)
		})
	}
}

// As its message tells the author to do.
func TestTheDrillFindsAWriteAfterAnOwnCheckOncePointsAreAroundIt(t *testing.T) {
	s := newShop(t)
	s.point = job.Point
	said := fencetest.Drill(t, jobtest.Job{Work: s.lookThenBook, Reset: s.reset, State: s.state})
	if !strings.Contains(said, "a late write landed") {
		t.Errorf("the drill says %q", said)
	}
}

func TestTheDrillsFencesAreAsLargeAsRealOnes(t *testing.T) {
	s := newShop(t)
	jobtest.Drill(t, jobtest.Job{Reset: s.reset, State: s.state, Work: func(ctx context.Context, run job.Run) error {
		if run.Fence < 1<<31 {
			t.Fatalf("fence %d fits 32 bits", run.Fence)
		}
		return s.allFenced(ctx, run)
	}})
}

func TestTheDrillSaysWhatItCannotJudge(t *testing.T) {
	s := newShop(t)
	calls := 0
	for name, c := range map[string]struct {
		job  jobtest.Job
		says string
	}{
		"nothing set": {jobtest.Job{}, "must be set"},
		"work fails":  {jobtest.Job{Work: func(context.Context, job.Run) error { return errors.New("no disk") }, Reset: s.reset, State: s.state}, "no disk"},
		"fences stay": {jobtest.Job{Work: s.allFenced, Reset: func(ctx context.Context) error {
			if s.resets > 3 {
				return nil
			}
			return s.reset(ctx)
		}, State: s.state}, "does Reset put the fences back?"},
		"state differs": {jobtest.Job{Work: s.allFenced, Reset: s.reset, State: func(context.Context) (any, error) { calls++; return calls, nil }}, "two equal runs leave different states"},
		"reset fails":   {jobtest.Job{Work: s.allFenced, Reset: func(context.Context) error { return errors.New("no") }, State: s.state}, "reset: no"},
		"no state":      {jobtest.Job{Work: s.allFenced, Reset: s.reset, State: func(context.Context) (any, error) { return nil, errors.New("no") }}, "read state: no"},
		"no point":      {jobtest.Job{Work: s.noneFenced, Reset: s.reset, State: s.state}, "call job.Point(ctx) before and after each"},
		"own check":     {jobtest.Job{Work: s.lookThenBook, Reset: s.reset, State: s.state}, "call job.Point(ctx) before and after each"},
		"no point after a transaction": {jobtest.Job{Work: func(ctx context.Context, run job.Run) error {
			return errors.Join(s.checked(ctx, run), s.plain(ctx, book))
		}, Reset: s.reset, State: s.state}, "no point follows a write fenced with fencesql.Check"},
		"nor between two": {jobtest.Job{Work: func(ctx context.Context, run job.Run) error {
			defer job.Point(ctx)
			return errors.Join(s.checked(ctx, run), s.plain(ctx, book), s.checked(ctx, run))
		}, Reset: s.reset, State: s.state}, "no point follows a write fenced with fencesql.Check"},
		"FailNow": {jobtest.Job{Work: func(context.Context, job.Run) error { runtime.Goexit(); return nil }, Reset: s.reset, State: s.state}, "left its goroutine"},
		"too many": {jobtest.Job{Work: func(ctx context.Context, _ job.Run) error {
			for range 65 {
				job.Point(ctx)
			}
			return nil
		}, Reset: s.reset, State: s.state}, "65 points"},
	} {
		s.resets = 0
		if said := fencetest.Drill(t, c.job); !strings.Contains(said, c.says) {
			t.Errorf("%s: the drill says %q, want %q", name, said, c.says)
		}
	}
}

func TestAFailureOfTheNewerRunIsOne(t *testing.T) {
	s := newShop(t)
	said := fencetest.Drill(t, jobtest.Job{Reset: s.reset, State: s.state, Work: func(ctx context.Context, run job.Run) error {
		if run.Fence == 8 {
			return errors.New("another ran before")
		}
		return s.allFenced(ctx, run)
	}, Run: job.Run{Fence: 7}})
	if !strings.Contains(said, "the newer run failed") {
		t.Errorf("the drill says %q", said)
	}
}

// Items of DynamoDB are pointers, whose addresses tell nothing.
func TestTheDrillShowsStatesThatArePointers(t *testing.T) {
	s := newShop(t)
	type item struct{ Value any }
	said := fencetest.Drill(t, jobtest.Job{Work: s.noneFenced, Reset: s.reset, State: func(ctx context.Context) (any, error) {
		state, err := s.state(ctx)
		return []*item{{state}}, err
	}})
	if strings.Contains(said, ": [0x") || !strings.Contains(said, `before: [{"Value":`) {
		t.Errorf("the drill says %q", said)
	}
}
